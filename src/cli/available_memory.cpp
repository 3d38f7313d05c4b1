#include "cli/available_memory.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "wisp/collectives.hpp"
#include "wisp/error.hpp"

namespace wisp::cli {
namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

std::uint64_t machine_memory() {
  std::ifstream info("/proc/meminfo");
  std::string word;
  while (info >> word) {
    if (word != "MemAvailable:") continue;
    std::uint64_t kibibytes = 0;
    info >> kibibytes;
    return kibibytes * 1024;
  }
  return no_limit;
}

/// What schedulers and containers let the ranks of this machine use: the least limit of the control group and
/// those above it, of either version. Where a file is missing, or says "max", there is none.
std::uint64_t control_group_memory() {
  std::uint64_t least = no_limit;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // number:controllers:path
    const std::size_t controllers = line.find(':') + 1;
    const std::size_t path = line.find(':', controllers) + 1;
    const bool is_unified = path == controllers + 1;
    if (!is_unified &&
        (',' + line.substr(controllers, path - controllers - 1) + ',').find(",memory,") == std::string::npos)
      continue;
    const std::filesystem::path top = is_unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    std::filesystem::path at = top;
    const auto add_limit = [&] {
      std::uint64_t limit = 0;
      if (std::ifstream(at / (is_unified ? "memory.max" : "memory.limit_in_bytes")) >> limit)
        least = std::min(least, limit);
    };
    add_limit();  // in a container the path may be another than inside
    for (const std::filesystem::path& group : std::filesystem::path(line.substr(path)).relative_path()) {
      at /= group;
      add_limit();
    }
  }
  return least;
}

std::uint64_t memory_of_this_rank() {
  MPI_Comm node = MPI_COMM_NULL;
  int ranks_here = 1;
  detail::check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
                    "MPI_Comm_split_type");
  detail::check_mpi(MPI_Comm_size(node, &ranks_here), "MPI_Comm_size");
  detail::check_mpi(MPI_Comm_free(&node), "MPI_Comm_free");
  std::uint64_t limit =
      std::min(machine_memory(), control_group_memory()) / static_cast<std::uint64_t>(ranks_here);
  rlimit address_space{};
  if (getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY) {
    limit = std::min<std::uint64_t>(limit, address_space.rlim_cur);
  }
  return limit;
}

}  // namespace

std::uint64_t memory_of_a_rank(const Comm& comm) {
  std::uint64_t limit = memory_of_this_rank();
  comm.allreduce(in_place(), buffer_of(limit), MPI_MIN);
  return limit;
}

}  // namespace wisp::cli
