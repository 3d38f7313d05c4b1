#include "random/run.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
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
      co_await begin(phase);
      co_await complete(phase);
      drop_communicators(phase);
    }
  }

 private:
  const CommunicatorSpec& spec_of(std::size_t i) const { return program_.communicators[i]; }

  /// Makes the communicators of a phase, in the order of all ranks, and starts its operations, in an order of
  /// this rank's own but for those of one communicator.
  Task<> begin(int phase) {
    std::vector<std::size_t> to_make;
    for (std::size_t i = comms_.size(); i-- > 1;) {
      if (spec_of(i).phase == phase) to_make.push_back(i);
    }
    std::map<int, std::vector<const OperationSpec*>> to_start;  // the next one of each communicator last
    std::vector<const OperationSpec*> blocking;
    for (std::size_t i = program_.operations.size(); i-- > 0;) {
      const OperationSpec& spec = program_.operations[i];
      if (spec.phase == phase) to_start[spec.comm].push_back(&spec);
    }
    for (;;) {
      std::vector<int> ready;
      for (const auto& [comm, specs] : to_start) {
        // An icreate is a collective of its parent: it comes before those of the phase.
        const auto hinders = [&, comm = comm](std::size_t i) {
          const CommunicatorSpec& made = spec_of(i);
          return static_cast<int>(i) == comm ||
                 (made.kind == CommunicatorSpec::Kind::icreate && made.parent == comm);
        };
        if (std::ranges::none_of(to_make, hinders) && !specs.empty()) ready.push_back(comm);
      }
      if (to_make.empty() && ready.empty()) break;
      if (!to_make.empty() && (ready.empty() || draw_.once_in(2))) {
        co_await make_next(to_make);
        continue;
      }
      const int comm = draw_.of(ready);
      const OperationSpec& spec = *to_start[comm].back();
      to_start[comm].pop_back();
      if (!comms_[static_cast<std::size_t>(comm)].is_member()) continue;
      if (can_block_ && spec.face == Face::blocking) {
        blocking.push_back(&spec);
      } else {
        start(spec);
        const bool is_parent =
            std::ranges::any_of(to_make, [&](std::size_t i) { return spec_of(i).parent == comm; });
        const bool is_needed =
            is_parent || !to_start[comm].empty() ||
            std::ranges::any_of(blocking, [&](const OperationSpec* one) { return one->comm == comm; });
        if (draw_.once_in(2)) try_to_complete(phase, !is_needed);
      }
    }
    // Persistent ones in any order.
    draw_.shuffle(persistent_);
    for (Running* running : std::exchange(persistent_, {})) running->run();
    std::ranges::sort(blocking, {}, &OperationSpec::id);
    for (const OperationSpec* spec : blocking) start(*spec);
  }

  /// Makes the last of them; several of create_group one after the other in an order of this rank's own.
  Task<> make_next(std::vector<std::size_t>& to_make) {
    using Made = CommunicatorSpec::Kind;
    std::vector<std::size_t> groups;
    while (!to_make.empty() && spec_of(to_make.back()).kind == Made::create_group &&
           std::ranges::find(groups, static_cast<std::size_t>(spec_of(to_make.back()).parent)) ==
               groups.end()) {
      groups.push_back(to_make.back());
      to_make.pop_back();
    }
    if (!groups.empty()) {
      co_await create_groups(groups);
      co_return;
    }
    const std::size_t i = to_make.back();
    const CommunicatorSpec& spec = spec_of(i);
    const Comm parent = comms_[static_cast<std::size_t>(spec.parent)];
    if (parent.is_member()) {
      for (int t = 0; t < spec.dropped_before; ++t) parent.range(t % parent.size(), parent.size() - 1);
      if (spec.kind == Made::range) {
        comms_[i] = parent.range(spec.ranks.front(), spec.ranks.back(), spec.stride);
      } else if (spec.kind == Made::subset) {
        comms_[i] = parent.subset(spec.ranks);
      } else {
        Request creation = parent.icreate(spec.ranks, comms_[i]);
        co_await creation;
      }
    }
    to_make.pop_back();
  }

  Task<> create_groups(std::vector<std::size_t>& which) {
    draw_.shuffle(which);
    std::vector<Request> creations;
    for (const std::size_t i : which) {
      const CommunicatorSpec& spec = spec_of(i);
      const Comm& parent = comms_[static_cast<std::size_t>(spec.parent)];
      if (std::ranges::find(spec.ranks, parent.rank()) == spec.ranks.end()) continue;
      creations.push_back(parent.icreate_group(spec.ranks, spec.tag, comms_[i]));
    }
    for (Request& creation : creations) co_await creation;
  }

  /// Ends the operation that was started last, if it is done already: its communicator may go at once.
  void try_to_complete(int phase, bool may_drop) {
    Running& running = *active_.back();
    if (running.is_persistent()) return;
    try {
      if (!running.request().test()) return;
    } catch (const Error& error) {
      // Simulated ranks cannot look whether it is done.
      if (std::string_view(error.what()).find("cannot block or test") == std::string_view::npos) throw;
      return;
    }
    check(running);
    const int comm = running.comm();
    active_.pop_back();
    if (may_drop && comm > 0 && spec_of(static_cast<std::size_t>(comm)).last_phase == phase) {
      comms_[static_cast<std::size_t>(comm)] = {};
    }
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
      if (!running->is_persistent()) continue;
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
