#include "random/program.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "wisp/collectives.hpp"
#include "wisp/stencil.hpp"

namespace wisp::test {
namespace {

constexpr const char* names[] = {"barrier",
                                 "bcast",
                                 "reduce",
                                 "allreduce",
                                 "scan",
                                 "exscan",
                                 "scan_and_bcast",
                                 "reduce_scatter_block",
                                 "reduce_scatter",
                                 "gather",
                                 "gatherv",
                                 "gatherm",
                                 "allgather",
                                 "allgatherv",
                                 "allgatherm",
                                 "scatter",
                                 "scatterv",
                                 "alltoall",
                                 "alltoallv",
                                 "alltoallw",
                                 "exchange",
                                 "neighbor_alltoall",
                                 "neighbor_alltoallv",
                                 "neighbor_alltoallw",
                                 "neighbor_allgather",
                                 "neighbor_allgatherv",
                                 "neighbor_allgatherw",
                                 "double_scan",
                                 "double_exscan",
                                 "segmented_scan",
                                 "messages",
                                 "sort",
                                 "split"};
static_assert(std::size(names) == static_cast<std::size_t>(Kind::count));

bool is_of_chains(Kind kind) {
  return kind == Kind::double_scan || kind == Kind::double_exscan || kind == Kind::segmented_scan;
}
bool may_be_of_chains(Kind kind) {
  switch (kind) {
    case Kind::barrier:
    case Kind::bcast:
    case Kind::reduce:
    case Kind::allreduce:
    case Kind::scan:
    case Kind::exscan:
    case Kind::gather:
    case Kind::scatter:
    case Kind::allgather:
      return true;
    default:
      return is_of_chains(kind);
  }
}
bool is_of_neighbors(Kind kind) {
  return kind >= Kind::neighbor_alltoall && kind <= Kind::neighbor_allgatherw;
}

/// What `algorithms_of` knows it as, or nothing.
std::vector<std::string_view> algorithms_of_kind(Kind kind) {
  switch (kind) {
    case Kind::exscan:
      return algorithms_of("scan");
    case Kind::reduce_scatter_block:
      return algorithms_of("reduce_scatter");
    case Kind::alltoallw:
      return algorithms_of("alltoallv");
    case Kind::gatherm:
    case Kind::allgatherm:
    case Kind::messages:
    case Kind::sort:
    case Kind::split:
      return {};
    default:
      return is_of_chains(kind) || is_of_neighbors(kind) ? std::vector<std::string_view>{}
                                                         : algorithms_of(name_of(kind));
  }
}

CommunicatorSpec random_communicator(Draw& draw, const std::vector<CommunicatorSpec>& made, int phase,
                                     int phases) {
  using Made = CommunicatorSpec::Kind;
  CommunicatorSpec spec;
  std::vector<int> parents;
  for (int i = 0; i < static_cast<int>(made.size()); ++i) {
    if (made[static_cast<std::size_t>(i)].last_phase >= phase) parents.push_back(i);
  }
  spec.parent = draw.once_in(2) ? 0 : draw.of(parents);
  const CommunicatorSpec& parent = made[static_cast<std::size_t>(spec.parent)];
  const int size = static_cast<int>(parent.members.size());
  spec.phase = phase;
  spec.last_phase = phase + draw.below(phases - phase);
  // Many programs need codes again that were given before.
  spec.dropped_before = draw.once_in(2) ? draw.below(40) : 0;
  const int kind = draw.below(6);
  spec.kind = kind < 3    ? Made::range
              : kind == 3 ? Made::subset
              : kind == 4 ? Made::create_group
                          : Made::icreate;
  if (spec.kind == Made::range || draw.once_in(4)) {
    const int a = draw.below(size);
    const int b = draw.below(size);
    const int stride = draw.once_in(2) ? 1 : 1 + draw.below(3);
    for (int rank = std::min(a, b); rank <= std::max(a, b); rank += stride) spec.ranks.push_back(rank);
    spec.stride = spec.ranks.size() == 1 && draw.once_in(2) ? 1 << (10 + draw.below(20)) : stride;
  } else {
    spec.ranks.resize(static_cast<std::size_t>(size));
    std::iota(spec.ranks.begin(), spec.ranks.end(), 0);
    draw.shuffle(spec.ranks);
    spec.ranks.resize(static_cast<std::size_t>(1 + draw.below(size)));
  }
  spec.tag = static_cast<int>(made.size());
  for (const int rank : spec.ranks) spec.members.push_back(parent.members[static_cast<std::size_t>(rank)]);
  return spec;
}

}  // namespace

const char* name_of(Kind kind) {
  return names[static_cast<std::size_t>(kind)];
}

Program program_of(std::uint64_t seed, int ranks) {
  Draw draw(seed * 64 + static_cast<std::uint64_t>(ranks));
  Program program;
  program.seed = seed;
  program.ranks = ranks;
  program.phases = 1 + draw.below(4);
  CommunicatorSpec root;
  root.members.resize(static_cast<std::size_t>(ranks));
  std::iota(root.members.begin(), root.members.end(), 0);
  root.last_phase = program.phases - 1;
  program.communicators.push_back(root);
  for (int phase = 0; phase < program.phases; ++phase) {
    const int made = draw.below(3);
    for (int i = 0; i < made; ++i) {
      program.communicators.push_back(
          random_communicator(draw, program.communicators, phase, program.phases));
    }
    const int started = 1 + draw.below(4);
    for (int i = 0; i < started; ++i) {
      OperationSpec spec;
      spec.id = static_cast<int>(program.operations.size());
      spec.kind = static_cast<Kind>(draw.below(static_cast<int>(Kind::count)));
      if (draw.once_in(6)) spec.kind = Kind::messages;
      do {
        // The latest ones more often.
        const int count = static_cast<int>(program.communicators.size());
        spec.comm = draw.once_in(2) ? draw.below(count) : count - 1 - draw.below(std::min(2, count));
      } while (program.communicators[static_cast<std::size_t>(spec.comm)].last_phase < phase);
      spec.phase = phase;
      spec.on_chain = is_of_chains(spec.kind) || (may_be_of_chains(spec.kind) && draw.once_in(3));
      spec.face = static_cast<Face>(draw.below(static_cast<int>(Face::count)));
      spec.has_own_tag = draw.once_in(4);
      spec.seed = draw.bits();
      // More than the tags of one context, where there are few; create_group has no more.
      using Made = CommunicatorSpec::Kind;
      const Made made_by = program.communicators[static_cast<std::size_t>(spec.comm)].kind;
      const bool may_drop = made_by != Made::create_group && made_by != Made::icreate;
      if (may_drop && spec.face == Face::persistent && draw.once_in(4))
        spec.dropped_before = 30 + draw.below(3);
      if (!spec.on_chain && draw.once_in(2)) {
        std::vector<std::string_view> algorithms = algorithms_of_kind(spec.kind);
        if (is_of_neighbors(spec.kind)) algorithms = schedule_names();
        if (!algorithms.empty()) spec.algorithm = draw.of(algorithms);
      }
      program.operations.push_back(spec);
    }
  }
  for (OperationSpec& spec : program.operations) {
    const auto is_other = [&](const OperationSpec& other) {
      return other.kind == Kind::messages && other.comm == spec.comm && other.id != spec.id;
    };
    spec.any_tag = spec.kind == Kind::messages && std::ranges::none_of(program.operations, is_other);
  }
  return program;
}

std::string describe(const Program& program) {
  constexpr const char* made[] = {"root", "range", "subset", "create_group", "icreate"};
  constexpr const char* faces[] = {"task", "nonblocking", "persistent", "blocking"};
  std::string text;
  for (std::size_t i = 1; i < program.communicators.size(); ++i) {
    const CommunicatorSpec& spec = program.communicators[i];
    text += "  communicator " + std::to_string(i) + ": " + made[static_cast<std::size_t>(spec.kind)] +
            " of " + std::to_string(spec.parent) + ", phases " + std::to_string(spec.phase) + ".." +
            std::to_string(spec.last_phase) + ", after " + std::to_string(spec.dropped_before) +
            " dropped ones, members";
    for (const int member : spec.members) text += " " + std::to_string(member);
    text += "\n";
  }
  for (const OperationSpec& spec : program.operations) {
    text +=
        "  operation " + std::to_string(spec.id) + ": " + name_of(spec.kind) + " on " +
        (spec.on_chain ? "the chain of " : "") + std::to_string(spec.comm) + ", phase " +
        std::to_string(spec.phase) + ", " + faces[static_cast<std::size_t>(spec.face)] +
        (spec.has_own_tag ? ", own tag" : "") +
        (spec.dropped_before > 0 ? ", after " + std::to_string(spec.dropped_before) + " dropped ones" : "") +
        (spec.algorithm.empty() ? "" : ", algorithm " + spec.algorithm) + "\n";
  }
  return text;
}

}  // namespace wisp::test
