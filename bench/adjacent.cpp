// Neighborhoods that are no stencil, as those of a mesh of blocks: a few random partners, several blocks for
// each. wisp sends one message to a partner, beside MPI's neighborhood collective and an exchange.

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "benchmarks.hpp"
#include "wisp/collectives.hpp"
#include "wisp/detail/mix.hpp"
#include "wisp/error.hpp"
#include "wisp/neighborhood.hpp"

namespace wisp::bench {
namespace {

constexpr int rings = 6;  ///< in each of which a rank has a partner on either side
constexpr int blocks_of_pair = 4;

std::vector<int> block_bytes_of(const Options& options) {
  return sizes_of(options, {8, 512}, {8, 512, 8192});
}

/// Everybody's partners at the distances of the rings, each as often as there are blocks, in turn.
std::vector<int> partners_at(int rank, int ranks, int direction) {
  std::vector<int> list;
  for (int block = 0; block < blocks_of_pair; ++block) {
    for (std::uint64_t ring = 0; ring < rings; ++ring) {
      const auto distance = static_cast<int>(detail::mix(ring) % static_cast<std::uint64_t>(ranks));
      list.push_back((rank + direction * distance + ranks) % ranks);
    }
  }
  return list;
}

struct Meshed {
  std::vector<int> sources, targets, sizes, begins;
  std::vector<char> send, receive;
  std::vector<Outgoing> messages;
  Arrivals arrivals;

  Meshed(int rank, int ranks, int bytes)
      : sources(partners_at(rank, ranks, -1)),
        targets(partners_at(rank, ranks, 1)),
        sizes(targets.size(), bytes),
        send(targets.size() * static_cast<std::size_t>(bytes), static_cast<char>(rank)),
        receive(send.size()) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      begins.push_back(static_cast<int>(i) * bytes);
      messages.push_back({targets[i], {send.data() + begins[i], static_cast<std::size_t>(bytes), MPI_BYTE}});
    }
  }
  ConstBlocks blocks_sent() const { return {ConstBuffer(send), sizes, begins}; }
  Blocks blocks_received() { return {Buffer(receive), sizes, begins}; }
};

Row cell_of(int ranks, int bytes) {
  return {.bench = "adjacent",
          .case_name = fmt::format("partners={},blocks={}", rings, blocks_of_pair),
          .ranks = ranks,
          .bytes = static_cast<std::size_t>(bytes)};
}

}  // namespace

void bench_adjacent(const Options& options) {
  const Comm comm = all_ranks();
  Report report(options, title_of("adjacent", MPI_COMM_WORLD) + "; size: of a block", comm.rank() == 0);
  for (const int bytes : block_bytes_of(options)) {
    Meshed data(comm.rank(), comm.size(), bytes);
    const auto degree = static_cast<int>(data.targets.size());
    MPI_Comm graph = MPI_COMM_NULL;
    detail::check_mpi(
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, data.sources.data(), MPI_UNWEIGHTED, degree,
                                       data.targets.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph),
        "MPI_Dist_graph_create_adjacent");
    const Neighborhood on = Neighborhood::adjacent(comm, data.sources, data.targets);
    const std::vector<int>& n = data.sizes;
    const std::vector<int>& at = data.begins;
    const auto run_mpi = [&](int) {
      detail::check_mpi(MPI_Neighbor_alltoallv(data.send.data(), n.data(), at.data(), MPI_CHAR,
                                               data.receive.data(), n.data(), at.data(), MPI_CHAR, graph),
                        "MPI_Neighbor_alltoallv");
    };
    Request persistent = on.neighbor_alltoallv_init(data.blocks_sent(), data.blocks_received());
    const std::vector<Variant> variants = {
        {"MPI", run_mpi},
        {"adjacent", [&](int) { on.neighbor_alltoallv(data.blocks_sent(), data.blocks_received()); }},
        {"adjacent-persistent",
         [&](int) {
           persistent.start();
           persistent.wait();
         }},
        {"exchange", [&](int) { comm.exchange(data.messages, data.arrivals); }}};
    run_mpi(0);
    const std::vector<char> expected = data.receive;
    std::fill(data.receive.begin(), data.receive.end(), 'x');
    variants[1].run(0);
    if (data.receive != expected) throw Error(MPI_ERR_OTHER, "wisp bench adjacent: wrong blocks");
    report.add(rows_of(cell_of(comm.size(), bytes), variants,
                       measure(MPI_COMM_WORLD, variants, method_of(options))));
    MPI_Comm_free(&graph);
  }
}

void simulate_adjacent(const Options& options, const SimulationOptions& cluster) {
  Report report(
      options, fmt::format("wisp simulate adjacent: {} ranks, virtual time; size: of a block", cluster.ranks),
      true);
  for (const int bytes : block_bytes_of(options)) {
    const auto run = [&](const char* variant, auto program) {
      Row row = cell_of(cluster.ranks, bytes);
      row.variant = variant;
      return simulated_row(std::move(row), simulate(cluster, program));
    };
    report.add({run("adjacent",
                    [&](Comm comm) -> Task<> {
                      Meshed data(comm.rank(), comm.size(), bytes);
                      const Neighborhood on = Neighborhood::adjacent(comm, data.sources, data.targets);
                      co_await neighbor_alltoallv(on, data.blocks_sent(), data.blocks_received());
                    }),
                run("a message for each block",
                    [&](Comm comm) -> Task<> {
                      Meshed data(comm.rank(), comm.size(), bytes);
                      std::vector<Request> all;
                      for (std::size_t i = 0; i < data.targets.size(); ++i) {
                        const auto size = static_cast<std::size_t>(bytes);
                        char* const to = data.receive.data() + data.begins[i];
                        all.push_back(comm.ireceive({to, size, MPI_CHAR}, data.sources[i]));
                        all.push_back(comm.isend(data.messages[i].block, data.targets[i]));
                      }
                      for (Request& one : all) co_await one;
                    }),
                run("exchange", [&](Comm comm) -> Task<> {
                  Meshed data(comm.rank(), comm.size(), bytes);
                  co_await exchange(comm, data.messages, data.arrivals);
                })});
  }
}

}  // namespace wisp::bench
