#pragma once

#include <optional>
#include <utility>

#include "wisp/comm.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

/// Runs a task to its end; its result.
template <class T>
T run_for(const Comm& comm, Task<T> task) {
  std::optional<T> result;
  comm.run([](Task<T> from, std::optional<T>& to) -> Task<> { to = co_await std::move(from); }(
                                                      std::move(task), result));
  return std::move(*result);
}

}  // namespace wisp::detail
