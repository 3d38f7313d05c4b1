#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include "wisp/channel.hpp"
#include "wisp/detail/channel_collectives.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

template <class T>
Task<T> settled_at_end(Channel channel, Task<T> task) {
  std::exception_ptr thrown;
  std::conditional_t<std::is_void_v<T>, int, T> result{};
  try {
    if constexpr (std::is_void_v<T>) {
      co_await std::move(task);
    } else {
      result = co_await std::move(task);
    }
  } catch (...) {  // the others wait for this rank
    thrown = std::current_exception();
  }
  co_await barrier_on(std::move(channel));
  if (thrown) std::rethrow_exception(thrown);
  if constexpr (!std::is_void_v<T>) co_return result;
}

/// An operation of all ranks of a communicator that receives from any source. Whoever is behind in it must
/// not take a message of a later operation with the same tag for one of this: where there may be such an
/// operation at any time, nobody goes on before all have ended (⌈log2 p⌉ α); elsewhere all meet once before
/// numbers come back. To be called when the channel is made.
template <class T>
Task<T> settled(Channel channel, Task<T> task) {
  if (!channel.must_settle()) return task;
  return settled_at_end(std::move(channel), std::move(task));
}

}  // namespace wisp::detail
