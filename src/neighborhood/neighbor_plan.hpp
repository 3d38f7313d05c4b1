#pragma once

#include <memory>
#include <optional>

#include "collectives/checks.hpp"
#include "collectives/operation_body.hpp"
#include "neighborhood/exchange.hpp"
#include "neighborhood/neighborhood_state.hpp"
#include "wisp/error.hpp"

/// From the arguments of a neighborhood collective to what its runs need: checked, chosen, compiled.

namespace wisp::detail {

/// With checking on: what ranks compare before they run.
struct OwnArguments {
  std::optional<Error> failure;  ///< what is wrong with them by themselves
  BlockPlaces send;
  BlockPlaces receive;
  NeighborPattern pattern = NeighborPattern::alltoall;
  int blocks = 0;                                           ///< that are sent
  std::shared_ptr<const Neighborhood::State::Lists> lists;  ///< null: a stencil

  std::int64_t sent_bytes(int block) const {
    return static_cast<std::int64_t>(send[sent_index(pattern, block)].bytes);
  }
};

/// What does not change from run to run of an operation.
struct NeighborRun {
  Exchange what;
  std::shared_ptr<const OwnArguments> compared;  ///< null: checking is off

  Task<> operator()(Channel channel) const;
  Alike alike() const { return {}; }
  void prepare_to_repeat() {}
  void own_arguments(KeptArguments& kept) {
    for (Buffer& block : what.send.blocks) kept.replace(block);
    for (Buffer& block : what.receive.blocks) kept.replace(block);
    // Messages of one block have its own type.
    if (what.types != nullptr && !kept.empty()) what.types = std::make_shared<const MessageTypes>(what);
  }
};

/// Blocks of one operation, and where they lie. The caller's arrays are not needed any more; datatypes that
/// are not contiguous are.
struct Located {
  BoundBlocks bound;
  BlockPlaces places;
};

Located locate_regular(const char* call, const char* name, const ConstBuffer& all, int blocks);
Located locate_irregular(const char* call, const char* name, const ConstBlocks& given, int blocks);

/// The neighborhood's state; throws if it is empty or its communicator is not to be used.
Neighborhood::State& usable_state(const Neighborhood& on, const char* call);
/// No neighbors: nothing is looked at, and buffers may be null.
Exchange exchange_of_nothing();
Exchange bind_exchange(Neighborhood::State& state, const char* call, NeighborPattern pattern, Located send,
                       Located receive, const NeighborOptions& options);

/// A collective whose blocks the two functions locate, given the call's name and the number of
/// neighbors. With checking on an error is kept, for all ranks to hear of it when they run.
template <class LocateSend, class LocateReceive>
Operation neighbor_operation(const Neighborhood& on, const char* call, NeighborPattern pattern,
                             const NeighborOptions& options, LocateSend locate_send,
                             LocateReceive locate_receive) {
  Neighborhood::State& state = usable_state(on, call);
  const EngineLock lock = detail::lock(CommAccess::context(state.comm), call);  // plans are kept
  const auto sources = static_cast<int>(state.sources.size());
  const auto targets = static_cast<int>(state.targets.size());
  const auto bind = [&](OwnArguments* own) {
    if (sources + targets == 0) return exchange_of_nothing();
    Located send = locate_send(call, targets);
    Located receive = locate_receive(call, sources);
    if (own != nullptr) {
      own->send = send.places;
      own->receive = receive.places;
    }
    return bind_exchange(state, call, pattern, std::move(send), std::move(receive), options);
  };
  if (!state.checks_operations)
    return operation_on<NeighborRun>(state.comm, call, options.own_tag, bind(nullptr), nullptr);
  auto own = std::make_shared<OwnArguments>();
  own->pattern = pattern;
  own->lists = state.lists;
  own->blocks = targets;
  Exchange what = exchange_of_nothing();
  try {
    what = bind(own.get());
  } catch (const Error& error) {
    own->failure = error;
  }
  return operation_on<NeighborRun>(state.comm, call, options.own_tag, std::move(what), std::move(own));
}

}  // namespace wisp::detail
