#pragma once

#include "wisp/comm.hpp"

namespace wisp::test {

inline Comm world() {
  return Comm::duplicate(MPI_COMM_WORLD);
}

}  // namespace wisp::test
