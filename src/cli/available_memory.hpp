#pragma once

#include <cstdint>

#include "wisp/comm.hpp"

namespace wisp::cli {

/// What one rank may use: its limit by the system, and its part of what the machine has left; the least of
/// all ranks.
std::uint64_t memory_of_a_rank(const Comm& comm);

}  // namespace wisp::cli
