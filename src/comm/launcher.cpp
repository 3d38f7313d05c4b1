#include "comm/launcher.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <numeric>
#include <string>

#include "transport/mpi_group.hpp"
#include "transport/mpi_library.hpp"
#include "transport/mpi_process.hpp"
#include "transport/throw_error.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {
namespace {

int number_of(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atoi(text);
}

/// The user's word; 0: none.
int ranks_per_node() {
  constexpr const char* name = "WISP_RANKS_PER_NODE";
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return 0;
  const std::string_view all(text);
  int number = 0;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), number);
  if (error != std::errc() || end != all.data() + all.size() || number < 1) {
    throw_error(MPI_ERR_ARG, "wisp: {} = {} is not a number above 0", name, text);
  }
  return number;
}

/// The node of each rank of MPI_COMM_WORLD; empty if nobody says.
std::vector<int> nodes_of_world(int size) {
  std::vector<int> nodes(as_size(size));
  if (const int on_node = ranks_per_node(); on_node > 0) {
    for (int rank = 0; rank < size; ++rank) nodes[as_size(rank)] = rank / on_node;
    return nodes;
  }
  // Not that of another MPI, which may be left in a shell.
  const std::string version = library_version();
  const bool is_mpich = version.starts_with("MPICH") || version.starts_with("Intel");
  if ((!is_mpich && number_of("OMPI_COMM_WORLD_LOCAL_SIZE") == size) ||
      (!is_open_mpi() && number_of("MPI_LOCALNRANKS") == size))
    return nodes;  // all on one
  const char* tasks = std::getenv("SLURM_STEP_TASKS_PER_NODE");
  const char* distribution = std::getenv("SLURM_DISTRIBUTION");
  if (tasks == nullptr || distribution == nullptr) return {};
  const std::vector<int> of_node = parse_tasks_per_node(tasks);
  if (std::accumulate(of_node.begin(), of_node.end(), 0) != size) return {};  // started by somebody else
  if (!std::string_view(distribution).starts_with("block")) return {};
  int rank = 0;
  for (std::size_t node = 0; node < of_node.size(); ++node) {
    for (int i = 0; i < of_node[node]; ++i) nodes[as_size(rank++)] = static_cast<int>(node);
  }
  return nodes;
}

}  // namespace

std::vector<int> parse_tasks_per_node(std::string_view text) {
  std::vector<int> tasks;
  const auto number = [&text](int& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value < 1) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
  };
  const auto skip = [&text](std::string_view what) {
    if (!text.starts_with(what)) return false;
    text.remove_prefix(what.size());
    return true;
  };
  do {
    int on_node = 0;
    int times = 1;
    if (!number(on_node)) return {};
    if (skip("(x") && !(number(times) && skip(")"))) return {};
    tasks.insert(tasks.end(), as_size(times), on_node);
  } while (skip(","));
  return text.empty() ? tasks : std::vector<int>();
}

NodeLayout nodes_of_launcher(MPI_Comm comm) {
  if (!has_mpi_world()) return {};
  int size = 0;
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  const std::vector<int> of_world = nodes_of_world(size);
  if (of_world.empty()) return {};
  std::vector<int> nodes = ranks_in(MPI_COMM_WORLD, OwnedGroup(comm).get());
  // Others may have been started by other launchers.
  if (std::ranges::find(nodes, MPI_UNDEFINED) != nodes.end()) return {};
  for (int& node : nodes) node = of_world[as_size(node)];
  return NodeLayout::of(nodes);
}

}  // namespace wisp::detail
