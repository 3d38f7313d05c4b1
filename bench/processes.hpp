#pragma once

#include <functional>
#include <string>
#include <vector>

namespace wisp::bench {

/// The texts that independent tasks give, computed by as many processes as there are cores: for simulations,
/// which use MPI for its datatypes alone. What one throws is thrown here.
std::vector<std::string> run_in_processes(const std::vector<std::function<std::string()>>& tasks);

}  // namespace wisp::bench
