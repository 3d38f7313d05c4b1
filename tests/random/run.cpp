#include "random/run.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <utility>

#include "random/operation.hpp"
#include "wisp/error.hpp"

namespace wisp::test {
namespace {

/// What one rank holds while it runs a program.
class Rank {
 public:
  Rank(const Program& program, Comm root, bool can_block, std::vector<std::string>& failures)
      : program_(program),
        can_block_(can_block),
        failures_(failures),
        draw_(Draw(program.seed).with(77).with(static_cast<std::uint64_t>(root.rank()))),
        comms_(program.communicators.size()) {
    comms_[0] = std::move(root);
  }

  Task<> run() {
    for (int phase = 0; phase < program_.phases; ++phase) {
      co_await make_communicators(phase);
      start_operations(phase);
      co_await complete(phase);
      drop_communicators(phase);
    }
  }

 private:
  const CommunicatorSpec& spec_of(std::size_t i) const { return program_.communicators[i]; }

  /// Numbered ones in the order of all ranks; those of create_group in any order of this rank's own.
  Task<> make_communicators(int phase) {
    using Made = CommunicatorSpec::Kind;
    std::vector<std::size_t> out_of_order;
    std::vector<Request> creations;
    for (std::size_t i = 1; i < comms_.size(); ++i) {
      const CommunicatorSpec& spec = spec_of(i);
      if (spec.phase != phase) continue;
      const Comm& parent = comms_[static_cast<std::size_t>(spec.parent)];
      if (!parent.is_member()) continue;
      for (int t = 0; t < spec.dropped_before; ++t) parent.range(t % parent.size(), parent.size() - 1);
      switch (spec.kind) {
        case Made::range:
          comms_[i] = parent.range(spec.ranks.front(), spec.ranks.back(), spec.stride);
          break;
        case Made::subset:
          comms_[i] = parent.subset(spec.ranks);
          break;
        case Made::icreate:
          creations.push_back(parent.icreate(spec.ranks, comms_[i]));
          break;
        default:
          out_of_order.push_back(i);
      }
      // A communicator that is made of one which is not complete yet would have to wait for it.
      if (spec.kind == Made::icreate || is_parent_in(i, phase)) {
        for (Request& creation : creations) co_await creation;
        creations.clear();
        co_await create_groups(out_of_order);
      }
    }
    for (Request& creation : creations) co_await creation;
    co_await create_groups(out_of_order);
  }

  bool is_parent_in(std::size_t parent, int phase) const {
    return std::ranges::any_of(program_.communicators, [&](const CommunicatorSpec& spec) {
      return spec.phase == phase && spec.parent == static_cast<int>(parent);
    });
  }

  Task<> create_groups(std::vector<std::size_t>& which) {
    draw_.shuffle(which);
    std::vector<Request> creations;
    for (const std::size_t i : std::exchange(which, {})) {
      const CommunicatorSpec& spec = spec_of(i);
      const Comm& parent = comms_[static_cast<std::size_t>(spec.parent)];
      if (std::ranges::find(spec.ranks, parent.rank()) == spec.ranks.end()) continue;
      creations.push_back(parent.icreate_group(spec.ranks, spec.tag, comms_[i]));
    }
    for (Request& creation : creations) co_await creation;
  }

  /// Those of one communicator in the order of all ranks, else in one of this rank's own; blocking ones last.
  void start_operations(int phase) {
    std::map<int, std::vector<const OperationSpec*>> of_comm;
    std::vector<int> order;
    std::vector<const OperationSpec*> blocking;
    for (const OperationSpec& spec : program_.operations) {
      if (spec.phase != phase || !comms_[static_cast<std::size_t>(spec.comm)].is_member()) continue;
      if (can_block_ && spec.face == Face::blocking) {
        blocking.push_back(&spec);
        continue;
      }
      of_comm[spec.comm].push_back(&spec);
      order.push_back(spec.comm);
    }
    draw_.shuffle(order);
    std::map<int, std::size_t> next;
    for (const int comm : order) start(*of_comm[comm][next[comm]++]);
    // Persistent ones in any order.
    draw_.shuffle(persistent_);
    for (Running* running : std::exchange(persistent_, {})) running->run();
    for (const OperationSpec* spec : blocking) start(*spec);
  }

  void start(const OperationSpec& spec) {
    auto running = std::make_unique<Running>(spec, comms_[static_cast<std::size_t>(spec.comm)], can_block_);
    running->start();
    if (running->is_persistent()) persistent_.push_back(running.get());
    active_.push_back(std::move(running));
  }

  /// In an order of this rank's own; some go on in the next phase.
  Task<> complete(int phase) {
    draw_.shuffle(active_);
    std::vector<std::unique_ptr<Running>> kept, again;
    for (std::unique_ptr<Running>& running : active_) {
      const bool is_last = phase + 1 == program_.phases;
      if (!is_last && !running->is_persistent() && draw_.once_in(4)) {
        kept.push_back(std::move(running));
        continue;
      }
      if (can_block_ && draw_.once_in(2)) {
        for (int looks = 0; looks < 3 && running->request().active(); ++looks) running->request().test();
      }
      co_await running->request();
      check(*running);
      if (!running->runs_twice()) continue;
      running->run();
      again.push_back(std::move(running));
    }
    for (const std::unique_ptr<Running>& running : again) {
      co_await running->request();
      check(*running);
    }
    active_ = std::move(kept);
  }

  void check(const Running& running) {
    const std::string wrong = running.difference();
    if (wrong.empty()) return;
    failures_.push_back("rank " + std::to_string(comms_[0].rank()) + ", operation " +
                        std::to_string(running.id()) + ": " + wrong);
  }

  void drop_communicators(int phase) {
    for (std::size_t i = 1; i < comms_.size(); ++i) {
      if (spec_of(i).last_phase == phase || (spec_of(i).last_phase < phase && draw_.once_in(2))) {
        if (draw_.once_in(2)) comms_[i] = {};
      }
    }
  }

  const Program& program_;
  bool can_block_;
  std::vector<std::string>& failures_;
  Draw draw_;
  std::vector<Comm> comms_;
  std::vector<std::unique_ptr<Running>> active_;
  std::vector<Running*> persistent_;  ///< made, and not started
};

}  // namespace

Task<> run_program(const Program& program, Comm root, bool can_block, std::vector<std::string>& failures) {
  Rank rank(program, std::move(root), can_block, failures);
  co_await rank.run();
}

Program shrunk(Program program, const std::function<bool(const Program&)>& fails) {
  for (bool is_smaller = true; is_smaller;) {
    is_smaller = false;
    for (std::size_t i = program.operations.size(); i-- > 0;) {
      Program less = program;
      less.operations.erase(less.operations.begin() + static_cast<std::ptrdiff_t>(i));
      if (!fails(less)) continue;
      program = std::move(less);
      is_smaller = true;
    }
    for (CommunicatorSpec& spec : program.communicators) {
      if (spec.dropped_before == 0) continue;
      const int dropped = std::exchange(spec.dropped_before, 0);
      if (fails(program)) {
        is_smaller = true;
      } else {
        spec.dropped_before = dropped;
      }
    }
  }
  return program;
}

}  // namespace wisp::test
