// How many times faster than MPI's each blocking collective is on this machine: the table of the preload.

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "benchmarks.hpp"
#include "cli/bad_input.hpp"
#include "collective_calls.hpp"
#include "comm/comm_access.hpp"

namespace wisp::bench {

void tune(const std::string& file) {
  const Comm comm = all_ranks();
  const int nodes = detail::CommAccess::nodes(comm)->nodes();
  std::string table = fmt::format(
      "# wisp tune: {}. For WISP_PRELOAD_TABLE, or wisp run --table.\n"
      "# operation ranks nodes bytes times-faster\n",
      mpi_name());
  const auto add = [&](const Collective& of, std::span<const int> counts, bool knows_size) {
    for (const int count : counts) {
      if (is_too_large(of, comm.size(), count)) continue;
      Cell cell = make_cell(of, comm.size(), count);
      const std::vector<Variant> variants = {
          {"wisp", [&](int call) { of.make(comm, cell, call % comm.size(), {}).run(); }},
          {"MPI",
           [&](int call) { detail::check_mpi(of.mpi(cell, call % comm.size(), MPI_COMM_WORLD), of.name); }}};
      check_variants(of, cell, comm.rank(), variants);
      const std::vector<Timing> timings =
          measure(MPI_COMM_WORLD, variants, {.samples = 40, .have_run = true});
      // What the preload knows of a size: of a reduction whose result is scattered, that of all blocks.
      const bool is_of_all = of.name == std::string("reduce_scatter_block");
      const std::int64_t bytes = !knows_size ? 0 : std::int64_t{8} * count * (is_of_all ? comm.size() : 1);
      const std::string line = fmt::format("{} {} {} {} {:.3f}\n", of.name, comm.size(), nodes, bytes,
                                           timings[1].median_us / timings[0].median_us);
      table += line;
      if (comm.rank() == 0) fmt::print("{}", line);
      std::fflush(stdout);
    }
  };
  for (const Collective& of : collectives()) {
    if (of.name == std::string("alltoallv")) continue;
    constexpr int counts[] = {1, 8, 64, 512, 4096, 32768};
    constexpr int none[] = {0};
    add(of, of.name == std::string("barrier") ? std::span<const int>(none) : std::span<const int>(counts),
        true);
  }
  for (const Collective& of : irregular_collectives()) add(of, std::array{8}, false);
  if (comm.rank() != 0) return;
  std::ofstream out(file);
  out << table;
  if (!out.flush()) throw cli::BadInput(fmt::format("wisp tune: {} cannot be written", file));
}

}  // namespace wisp::bench
