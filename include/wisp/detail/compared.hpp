#pragma once

#include <utility>

#include "wisp/channel.hpp"
#include "wisp/detail/channel_collectives.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

template <class T>
Task<T> run_compared(Channel channel, Task<T> task) {
  co_await compare_calls_on(std::move(channel));
  co_return co_await std::move(task);
}

/// An operation of all ranks of a communicator that is no collective of MPI's kind. With WISP_CHECK=1 the
/// ranks compare what they call first, as before collectives.
template <class T>
Task<T> compared(const Channel& channel, Task<T> task) {
  if (!channel.compares_calls()) return task;
  return run_compared(channel, std::move(task));
}

}  // namespace wisp::detail
