#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "collectives/alike.hpp"
#include "comm/comm_access.hpp"
#include "transport/kept_arguments.hpp"
#include "wisp/detail/channel_collectives.hpp"
#include "wisp/operation.hpp"

/// What an Operation holds, on communicators, neighborhoods and chains.

namespace wisp::detail {

class OperationBody : public PooledFrame {
 public:
  virtual ~OperationBody() = default;

  /// The task of one run. Its channel is made here.
  virtual Task<> begin() const = 0;
  /// Takes a channel that nobody else has, for all runs to come.
  virtual void prepare_to_repeat() = 0;
  virtual const ContextPtr& context() const = 0;

  /// The same of a run that may go on when the caller's datatypes and arrays are gone.
  Task<> begin_with_own_arguments() {
    keep_arguments();
    return kept_ ? holding(begin(), kept_) : begin();
  }
  void keep_arguments() {
    if (kept_) return;
    KeptArguments kept;
    own_arguments(kept);
    if (!kept.empty()) kept_ = std::make_shared<const KeptArguments>(std::move(kept));
  }

 private:
  virtual void own_arguments(KeptArguments& kept) = 0;

  std::shared_ptr<const KeptArguments> kept_;  ///< null: nothing needs it
};

/// The channel of a run, of a communicator as of a chain (chain/link.hpp).
template <class On>
struct ChannelsOf;
template <>
struct ChannelsOf<Comm> {
  using Type = Channel;
  static Channel make(const Comm& comm, const char* call, std::optional<int> own_tag) {
    return comm.channel(call, own_tag);
  }
  static Channel make_persistent(const Comm& comm, const char* call, std::optional<int> own_tag) {
    return CommAccess::persistent_channel(comm, call, own_tag);
  }
  static const ContextPtr& context(const Comm& comm) { return CommAccess::context(comm); }
};

/// On a Comm or a Chain; `run(channel)` gives the task of one run, `run.own_arguments(kept)` lets it have
/// datatypes and arrays of its own, `run.alike()` is what all ranks say alike, and after
/// `run.prepare_to_repeat()` one run follows the other everywhere.
template <class On, class Run>
class OperationOn final : public OperationBody {
  using Channels = ChannelsOf<On>;

 public:
  template <class... Parts>
  OperationOn(const On& on, const char* call, std::optional<int> own_tag, Parts&&... of_run)
      : on_(on), call_(call), own_tag_(own_tag), run_{std::forward<Parts>(of_run)...} {}
  [[gnu::hot]] ~OperationOn() override = default;

  [[gnu::hot]] Task<> begin() const override {
    const bool meets = std::is_same_v<On, Comm> && !own_tag_ && !fixed_ && context()->must_meet();
    if (meets || context()->world->checks_calls()) [[unlikely]]
      return begin_together(channel(), meets);
    return run_(channel());
  }
  void prepare_to_repeat() override {
    run_.prepare_to_repeat();
    fixed_ = Channels::make_persistent(on_, call_, own_tag_);
  }
  const ContextPtr& context() const override { return Channels::context(on_); }

 private:
  void own_arguments(KeptArguments& kept) override { run_.own_arguments(kept); }
  Task<> begin_together(typename Channels::Type channel, bool meets) const {
    Task<> run = run_(typename Channels::Type(channel));
    if constexpr (std::is_same_v<On, Comm>) {
      if (meets) run = after(barrier_on(channel), std::move(run));
    }
    if (!context()->world->checks_calls()) return run;
    return after(check_alike(std::move(channel), call_, run_.alike()), std::move(run));
  }
  auto channel() const { return fixed_ ? *fixed_ : Channels::make(on_, call_, own_tag_); }

  On on_;
  const char* call_;
  std::optional<int> own_tag_;
  Run run_;
  std::optional<typename Channels::Type> fixed_;
};

/// Of a Run that is made in its place, of its parts.
template <class Run, class On, class... Parts>
Operation operation_on(const On& on, const char* call, std::optional<int> own_tag, Parts&&... of_run) {
  return Operation(std::make_unique<OperationOn<On, Run>>(on, call, own_tag, std::forward<Parts>(of_run)...));
}

}  // namespace wisp::detail
