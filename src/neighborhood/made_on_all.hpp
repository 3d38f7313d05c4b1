#pragma once

#include "wisp/comm.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {

/// Whether ranks compare what they make a neighborhood of.
bool compares_creation(const Comm& comm);

/// Throws the error of one rank; on all of them if they compare what they make, and then collective.
[[noreturn]] void refuse_creation(const Comm& comm, const Error& error);

/// What `make` gives of this rank's arguments; refused as above if it throws.
template <class Make>
auto made_on_all(const Comm& comm, const Make& make) {
  try {
    return make();
  } catch (const Error& error) {
    refuse_creation(comm, error);
  }
}

}  // namespace wisp::detail
