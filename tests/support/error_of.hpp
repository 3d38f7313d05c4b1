#pragma once

#include <functional>
#include <string>

#include "wisp/error.hpp"

namespace wisp::test {

/// The sentence that `call` throws, or "nothing".
inline std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace wisp::test
