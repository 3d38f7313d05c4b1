#pragma once

#include <stdexcept>

namespace wisp::cli {

/// A wrong input, known to every rank: one of them says it, all end with exit code 2.
struct BadInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace wisp::cli
