#include "random/operation.hpp"

#include <numeric>
#include <string_view>
#include <utility>

#include "wisp/error.hpp"

namespace wisp::test {

Running::Running(const OperationSpec& spec, const Comm& comm, bool can_block)
    : spec_(spec),
      comm_(comm),
      chain_(spec.on_chain ? Chain(comm) : Chain()),
      can_block_(can_block),
      draw_(Draw(spec.seed).with(1000 + static_cast<std::uint64_t>(comm.rank()))),
      rank_(comm.rank()),
      size_(comm.size()) {
  Draw draw(spec.seed);
  base_ = static_cast<Base>(draw.below(4));
  // Nothing, one, odd numbers, numbers that many datatypes divide, and now and then thousands.
  const std::vector<std::size_t> usual = {0, 1, 2, 5, 12, 12, 24, 36, 60, 119, 240};
  cells_ = draw.once_in(12) ? 1200 * static_cast<std::size_t>(1 + draw.below(5)) : draw.of(usual);
  root_ = draw.below(size_);
  prepare();
}

std::int64_t Running::value(int sender, int block, std::size_t cell) const {
  const auto salt = static_cast<std::uint64_t>(sender) * 1009 + static_cast<std::uint64_t>(block);
  return static_cast<std::int64_t>(Draw(spec_.seed).with(salt).with(cell).bits() % 100);
}

/// Sizes of v-forms: what `rank` has as block `block`.
std::size_t Running::cells_of(int rank, int block) const {
  Draw draw = Draw(spec_.seed).with(7).with(static_cast<std::uint64_t>(rank * 1009 + block));
  if (draw.once_in(3)) return 0;
  if (draw.once_in(8)) return cells_ * 3;
  return draw.once_in(2) ? cells_ : static_cast<std::size_t>(draw.below(30));
}

/// Cells one after the other.
Running::Side& Running::add_side(const Layout& layout, MPI_Datatype type, std::size_t cells) {
  Side& side = *sides_.emplace_back(std::make_unique<Side>());
  side.layout = layout;
  side.type = type;
  side.count = cells / layout.cells.size();
  std::vector<std::ptrdiff_t> offsets(cells);
  for (std::size_t i = 0; i < cells; ++i) offsets[i] = layout.offset(i);
  side.area = Area(base_, std::move(offsets));
  return side;
}

Running::Side& Running::add_regular(std::size_t blocks, std::size_t cells) {
  const Layout layout = layout_of(draw_.below(layout_kinds), base_, cells, true);
  Side& side = add_side(layout, types_.add(layout, base_).get(), blocks * cells);
  for (std::size_t i = 0; i < blocks; ++i) side.first_cell.push_back(i * cells);
  return side;
}

Running::Side& Running::add_blocks(const std::vector<std::size_t>& cells, Spread spread) {
  Side& side = *sides_.emplace_back(std::make_unique<Side>());
  const std::size_t divisor = std::accumulate(cells.begin(), cells.end(), std::size_t{0},
                                              [](auto a, auto b) { return std::gcd(a, b); });
  side.layout = layout_of(draw_.below(layout_kinds), base_, divisor, false);
  side.type = types_.add(side.layout, base_).get();
  const std::size_t blocks = cells.size();
  std::vector<Layout> layouts(blocks, side.layout);
  if (spread == Spread::by_types) {
    for (std::size_t i = 0; i < blocks; ++i) {
      layouts[i] = layout_of(draw_.below(layout_kinds), base_, cells[i], false);
      side.types.push_back(types_.add(layouts[i], base_).get());
    }
  }
  side.counts.resize(blocks);
  side.displacements.resize(blocks);
  side.first_cell.resize(blocks);
  std::vector<int> order(blocks);
  std::iota(order.begin(), order.end(), 0);
  if (spread != Spread::together) draw_.shuffle(order);
  std::vector<std::ptrdiff_t> starts(blocks);
  std::ptrdiff_t end = 0;  // in elements, or in bytes with datatypes of their own
  for (const int block : order) {
    const auto i = static_cast<std::size_t>(block);
    const std::size_t count = cells[i] / layouts[i].cells.size();
    const std::ptrdiff_t gap = spread == Spread::together ? 0 : draw_.below(3);
    if (spread == Spread::by_types) {
      const std::ptrdiff_t room = 4 * static_cast<std::ptrdiff_t>(size_of(base_));
      end += room + gap * static_cast<std::ptrdiff_t>(size_of(base_));
      starts[i] = end;
      end += static_cast<std::ptrdiff_t>(count) * layouts[i].extent + room;
      side.displacements[i] = static_cast<int>(starts[i]);
    } else {
      end += gap;
      starts[i] = end * side.layout.extent;
      side.displacements[i] = static_cast<int>(end);
      end += static_cast<std::ptrdiff_t>(count);
    }
    side.counts[i] = static_cast<int>(count);
  }
  std::vector<std::ptrdiff_t> offsets;
  for (std::size_t i = 0; i < blocks; ++i) {
    side.first_cell[i] = offsets.size();
    for (std::size_t c = 0; c < cells[i]; ++c) offsets.push_back(starts[i] + layouts[i].offset(c));
  }
  side.area = Area(base_, std::move(offsets));
  return side;
}

/// Block `block` of a side is what `sender` sends as its block `sent_block`.
void Running::fill(Side& side, std::size_t block, int sender, int sent_block, bool is_expected) {
  const std::size_t first = side.first_cell[block];
  const std::size_t end = block + 1 < side.first_cell.size() ? side.first_cell[block + 1] : side.area.size();
  for (std::size_t c = first; c < end; ++c) {
    const std::int64_t is = value(sender, sent_block, c - first);
    is_expected ? side.area.expect(c, is) : side.area.set(c, is);
  }
}

void Running::prepare() {
  switch (spec_.kind) {
    case Kind::bcast:
      return prepare_bcast();
    case Kind::gather:
    case Kind::gatherv:
    case Kind::allgather:
    case Kind::allgatherv:
      return prepare_gather();
    case Kind::scatter:
    case Kind::scatterv:
      return prepare_scatter();
    case Kind::alltoall:
    case Kind::alltoallv:
    case Kind::alltoallw:
      return prepare_alltoall();
    case Kind::exchange:
      return prepare_exchange();
    case Kind::gatherm:
    case Kind::allgatherm:
      return prepare_merge();
    case Kind::messages:
      return prepare_messages();
    case Kind::sort:
      return prepare_sort();
    case Kind::split:
      return prepare_split();
    case Kind::barrier:
      launch_ = [this](Face face, std::string_view algorithm) -> Request {
        const auto call = [&](const auto& on, const auto& options) -> Request {
          if (face == Face::task) return comm_.start(wisp::barrier(on, options));
          if (face == Face::persistent) return on.barrier_init(options);
          if (face == Face::blocking) return (on.barrier(options), Request());
          return on.ibarrier(options);
        };
        if (spec_.on_chain) return call(chain_, ChainOptions{});
        CollectiveOptions options;
        options.algorithm = algorithm;
        return call(comm_, options);
      };
      return;
    default:
      if (spec_.kind >= Kind::neighbor_alltoall && spec_.kind <= Kind::neighbor_allgatherw) {
        return prepare_neighbors();
      }
      return prepare_reduction();
  }
}

void Running::start() {
  Face face = spec_.face;
  if (face == Face::blocking && !can_block_) face = Face::task;
  const bool has_faces =
      spec_.kind != Kind::messages && spec_.kind != Kind::sort && spec_.kind != Kind::split;
  if (face == Face::persistent && !has_faces) face = Face::nonblocking;
  for (int i = 0; i < spec_.dropped_before && face == Face::persistent; ++i) {
    if (spec_.on_chain) {
      const Request dropped = chain_.barrier_init();
    } else {
      const Request dropped = comm_.barrier_init();
    }
  }
  try {
    request_ = launch_(face, spec_.algorithm);
  } catch (const Error& error) {
    // Not every algorithm does every number of ranks, or operators that do not commute.
    if (std::string_view(error.what()).find("does not work with") == std::string_view::npos) throw;
    request_ = launch_(face, {});
  }
  is_persistent_ = face == Face::persistent;
  if (face != Face::task && draw_.once_in(2)) types_.free();
}

std::string Running::difference() const {
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    const std::string wrong = sides_[i]->area.difference();
    if (!wrong.empty()) return "in buffer " + std::to_string(i) + " " + wrong;
  }
  for (const auto& check : checks_) {
    if (const std::string wrong = check(); !wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace wisp::test
