#pragma once

#include <exception>
#include <memory>
#include <utility>

#include "collectives/host_operands.hpp"

namespace wisp::detail {

/// A run on a Channel or a Link of what has a function of the program's own: one that throws does so when the
/// operation has come to its end, as on all other ranks; else messages would stay, to be taken for those of a
/// later one.
template <class Channel, class Run>
Task<> run_to_the_end(Channel channel, Arguments given, Run* run) {
  const auto failure = std::make_shared<std::exception_ptr>();
  const Arguments keeping = given.keeping_failure(failure);
  Task<> task = given.is_joined_on_device() ? run_on_host(std::move(channel), keeping, run)
                                            : run(std::move(channel), keeping);
  try {
    co_await std::move(task);
  } catch (...) {
    if (*failure == nullptr) throw;  // else that is the first cause
  }
  if (*failure != nullptr) std::rethrow_exception(*failure);
}

}  // namespace wisp::detail
