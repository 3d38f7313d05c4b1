#pragma once

#include <utility>

#include "wisp/channel.hpp"
#include "wisp/detail/channel_collectives.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

/// An operation of all ranks of a communicator that is no collective of MPI's kind. With WISP_CHECK=1 the
/// ranks compare what they call first, as before collectives.
template <class T>
Task<T> compared(const Channel& channel, Task<T> task) {
  if (!channel.compares_calls()) return task;
  return after(compare_calls_on(channel), std::move(task));
}

}  // namespace wisp::detail
