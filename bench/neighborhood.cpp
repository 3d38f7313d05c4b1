// Neighborhood collectives on stencils: wisp's schedules beside MPI's neighborhood collectives on a
// distributed graph, and what it takes to set either up (Träff et al. 2016, sections 4 and 6, table 2).

#include "wisp/neighborhood.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "benchmarks.hpp"
#include "cli/bad_input.hpp"
#include "wisp/error.hpp"

namespace wisp::bench {
namespace {

constexpr std::size_t most_bytes_of_rank = std::size_t{32} << 20;  ///< in the send buffer

struct NamedOffsets {
  std::string name;  ///< d=3,r=1
  Offsets offsets;
  int radius;
};

/// Moore neighborhoods d = 2 … 5, r = 1 … 3, the octant of the paper, and its shales.
std::vector<NamedOffsets> neighborhoods(bool quick) {
  std::vector<NamedOffsets> all;
  for (int d = 2; d <= 5; ++d) {
    for (int r = 1; r <= 3; ++r) {
      if (quick && (d == 5 || (d == 4 && r > 1))) continue;
      all.push_back({fmt::format("d={},r={}", d, r), moore(d, r), r});
    }
  }
  all.push_back({"d=3,r=3,octant", octant(3, 3), 3});
  const int radii[] = {3, 7};
  all.push_back({"d=3,r=3+7,shales", shales(3, radii), 7});
  return all;
}

/// As near to a cube as `ranks` allow, the longest dimension first.
std::vector<int> cube_of(int ranks, int dimensions) {
  std::vector<int> dims(static_cast<std::size_t>(dimensions));
  detail::check_mpi(MPI_Dims_create(ranks, dimensions, dims.data()), "MPI_Dims_create");
  return dims;
}

enum class Kind { alltoall, allgather, alltoallw };
constexpr const char* kind_names[] = {"alltoall", "allgather", "alltoallw"};

/// Bytes of each block: all the same, or (alltoallw) falling with the distance, as m^(d - |C|).
std::vector<int> sizes_of(Kind kind, const Offsets& offsets, std::size_t block) {
  std::vector<int> sizes(static_cast<std::size_t>(offsets.size()), static_cast<int>(block));
  for (int i = 0; i < offsets.size() && kind == Kind::alltoallw; ++i) {
    int distance = 0;
    for (const int c : offsets[i]) distance += std::abs(c);
    const int power = std::max(0, offsets.dimensions() - distance);
    sizes[static_cast<std::size_t>(i)] = static_cast<int>(std::pow(static_cast<double>(block), power));
  }
  return sizes;
}

struct Case {
  Kind kind;
  const NamedOffsets* neighborhood;
  std::size_t block;
  std::string name;
  std::vector<int> sizes;
  std::vector<int> places;
  std::size_t bytes;  ///< of all blocks
};

std::vector<Case> chosen_cases(const Options& options, const std::vector<NamedOffsets>& all) {
  const auto blocks = sizes_of<std::size_t>(options, {8, 64, 4096}, {1, 8, 64, 512, 4096, 65536});
  std::vector<Case> cases;
  bool is_known = false;
  for (const Kind kind : {Kind::alltoall, Kind::allgather, Kind::alltoallw}) {
    for (const NamedOffsets& neighborhood : all) {
      const std::string name = fmt::format("{},{}", kind_names[static_cast<int>(kind)], neighborhood.name);
      const bool is_wanted = options.op.empty() || name == options.op || name.starts_with(options.op + ",");
      if (!is_wanted || (kind == Kind::alltoallw && neighborhood.radius > 1)) continue;
      is_known = true;
      for (const std::size_t block : blocks) {
        const double largest = kind == Kind::alltoallw ? std::pow(static_cast<double>(block),
                                                                  neighborhood.offsets.dimensions() - 1.0)
                                                       : 0;
        if (largest > static_cast<double>(most_bytes_of_rank)) continue;
        Case made{kind, &neighborhood, block, name, sizes_of(kind, neighborhood.offsets, block), {}, 0};
        for (const int size : made.sizes) {
          made.places.push_back(static_cast<int>(made.bytes));
          made.bytes += static_cast<std::size_t>(size);
          if (made.bytes > most_bytes_of_rank) break;
        }
        if (made.bytes <= most_bytes_of_rank) cases.push_back(std::move(made));
      }
    }
  }
  if (cases.empty() && is_known) {
    throw cli::BadInput(
        fmt::format("wisp: neighborhood: --count {} is too large: all blocks of a rank are {} bytes at most",
                    options.count, most_bytes_of_rank));
  }
  if (cases.empty()) {
    std::vector<std::string> names(std::begin(kind_names), std::end(kind_names));
    throw cli::BadInput(
        fmt::format("wisp: neighborhood: --op '{}' is no case: KIND,d=D,r=R or its beginning, KIND one of {}",
                    options.op, fmt::join(names, ", ")));
  }
  return cases;
}

/// Buffers of one rank.
struct Buffers {
  std::vector<unsigned char> send;
  std::vector<unsigned char> receive;
  std::vector<MPI_Datatype> types;

  explicit Buffers(const Case& of)
      : send(of.kind == Kind::allgather ? of.block : of.bytes),
        receive(of.bytes),
        types(of.sizes.size(), MPI_BYTE) {}
};

Operation operation_of(const Neighborhood& on, const Case& of, Buffers& data,
                       const NeighborOptions& options) {
  const ConstBuffer send{data.send.data(), data.send.size(), MPI_BYTE};
  const Buffer receive{data.receive.data(), data.receive.size(), MPI_BYTE};
  if (of.kind == Kind::alltoall) return neighbor_alltoall(on, send, receive, options);
  if (of.kind == Kind::allgather) return neighbor_allgather(on, send, receive, options);
  return neighbor_alltoallw(on, ConstBlocks(data.send.data(), of.sizes, of.places, data.types),
                            Blocks(data.receive.data(), of.sizes, of.places, data.types), options);
}

void run_mpi(MPI_Comm graph, const Case& of, Buffers& data, const std::vector<MPI_Aint>& places) {
  const auto block = static_cast<int>(of.block);
  switch (of.kind) {
    case Kind::alltoall:
      return detail::check_mpi(MPI_Neighbor_alltoall(data.send.data(), block, MPI_BYTE, data.receive.data(),
                                                     block, MPI_BYTE, graph),
                               "MPI_Neighbor_alltoall");
    case Kind::allgather:
      return detail::check_mpi(MPI_Neighbor_allgather(data.send.data(), block, MPI_BYTE, data.receive.data(),
                                                      block, MPI_BYTE, graph),
                               "MPI_Neighbor_allgather");
    case Kind::alltoallw:
      return detail::check_mpi(MPI_Neighbor_alltoallw(data.send.data(), of.sizes.data(), places.data(),
                                                      data.types.data(), data.receive.data(), of.sizes.data(),
                                                      places.data(), data.types.data(), graph),
                               "MPI_Neighbor_alltoallw");
  }
}

unsigned char byte_of(int rank, std::size_t block, std::size_t e) {
  return static_cast<unsigned char>(31 * static_cast<std::size_t>(rank) + 7 * block + e);
}

/// Every byte must come from the right rank and block. (MPI libraries do not agree on that where several
/// neighbors are one process, so what they give is no reference.)
void check_result(const Neighborhood& on, const Case& of, Buffers& data, const NeighborOptions& options) {
  const std::size_t sent = of.kind == Kind::allgather ? 1 : of.sizes.size();
  for (std::size_t i = 0; i < sent; ++i) {
    for (std::size_t e = 0; e < static_cast<std::size_t>(of.sizes[i]); ++e) {
      data.send[static_cast<std::size_t>(of.places[i]) + e] = byte_of(on.comm().rank(), i, e);
    }
  }
  std::fill(data.receive.begin(), data.receive.end(), static_cast<unsigned char>(0));
  operation_of(on, of, data, options).run();
  for (std::size_t i = 0; i < of.sizes.size(); ++i) {
    for (std::size_t e = 0; e < static_cast<std::size_t>(of.sizes[i]); ++e) {
      const std::size_t block = of.kind == Kind::allgather ? 0 : i;
      if (data.receive[static_cast<std::size_t>(of.places[i]) + e] != byte_of(on.sources()[i], block, e)) {
        throw Error(MPI_ERR_OTHER,
                    fmt::format("wisp bench neighborhood: {}, {}: block {} of rank {} is wrong", of.name,
                                options.algorithm, i, on.comm().rank()));
      }
    }
  }
}

/// MPI's graph of the same neighbors.
MPI_Comm make_graph(const Neighborhood& on) {
  MPI_Comm graph = MPI_COMM_NULL;
  detail::check_mpi(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, on.size(), on.sources().data(),
                                                   MPI_UNWEIGHTED, on.size(), on.targets().data(),
                                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph),
                    "MPI_Dist_graph_create_adjacent");
  return graph;
}

}  // namespace

void bench_neighborhood(const Options& options) {
  const Comm comm = all_ranks();
  Report report(
      options,
      title_of("neighborhood", MPI_COMM_WORLD) + "; tori as near to cubes as can be; size: of a block",
      comm.rank() == 0);
  const Method method = method_of(options);
  const std::vector<NamedOffsets> all = neighborhoods(options.quick);
  const NamedOffsets* last = nullptr;
  std::unique_ptr<Neighborhood> on;
  MPI_Comm graph = MPI_COMM_NULL;
  for (const Case& of : chosen_cases(options, all)) {
    if (last != of.neighborhood) {
      last = of.neighborhood;
      const Torus torus(cube_of(comm.size(), last->offsets.dimensions()));
      on = std::make_unique<Neighborhood>(comm, Stencil(torus, last->offsets));
      if (graph != MPI_COMM_NULL) MPI_Comm_free(&graph);
      graph = make_graph(*on);
    }
    Buffers data(of);
    const std::vector<MPI_Aint> places(of.places.begin(), of.places.end());
    std::vector<Variant> variants = {{"MPI", [&](int) { run_mpi(graph, of, data, places); }}};
    for (const std::string_view name : schedule_names()) {
      check_result(*on, of, data, {{}, name});
      variants.push_back({std::string(name), [&, name](int) {
                            operation_of(*on, of, data, {{}, name}).run();
                          }});
    }
    check_result(*on, of, data, {});
    variants.push_back({"chosen", [&](int) { operation_of(*on, of, data, {}).run(); }});
    Request persistent = operation_of(*on, of, data, {}).persistent();
    variants.push_back({"chosen-persistent", [&](int) {
                          persistent.start();
                          persistent.wait();
                        }});
    const std::vector<Timing> timings = measure(MPI_COMM_WORLD, variants, method);
    const Row cell{.bench = "neighborhood", .case_name = of.name, .ranks = comm.size(), .bytes = of.block};
    report.add(rows_of(cell, variants, timings));
  }
  if (graph != MPI_COMM_NULL) MPI_Comm_free(&graph);
}

void bench_neighborhood_setup(const Options& options) {
  const Comm comm = all_ranks();
  Report report(options,
                title_of("neighborhood-setup", MPI_COMM_WORLD) +
                    "; create: stencil and neighborhood; alltoall_init: of 8-byte blocks, with all schedules "
                    "to choose from",
                comm.rank() == 0);
  for (const NamedOffsets& of : neighborhoods(options.quick)) {
    const Torus torus(cube_of(comm.size(), of.offsets.dimensions()));
    const Neighborhood on(comm, Stencil(torus, of.offsets));
    const std::vector<int> sources(on.sources().begin(), on.sources().end());
    const std::vector<int> targets(on.targets().begin(), on.targets().end());
    std::vector<double> send(targets.size());
    std::vector<double> receive(sources.size());
    const Method method{options.quick ? 10 : 40, 2, 1};
    // A schedule is computed once for a stencil: every call takes one that nobody has used.
    std::vector<Stencil> fresh;
    for (int k = 0; k < method.samples + method.warm_up; ++k) fresh.emplace_back(torus, of.offsets);
    const std::vector<Variant> variants = {
        {"MPI_Dist_graph_create_adjacent",
         [&](int) {
           MPI_Comm graph = make_graph(on);
           MPI_Comm_free(&graph);
         }},
        {"create", [&](int) { const Neighborhood made(comm, Stencil(torus, of.offsets)); }},
        {"alltoall_init", [&](int) {
           const Neighborhood made(comm, fresh.back());
           fresh.pop_back();
           const Request request = made.neighbor_alltoall_init(send, Buffer(receive));
         }}};
    const std::vector<Timing> timings = measure(MPI_COMM_WORLD, variants, method);
    const Row cell{.bench = "neighborhood-setup", .case_name = of.name, .ranks = comm.size()};
    report.add(rows_of(cell, variants, timings));
  }
}

void simulate_neighborhood(const Options& options, const SimulationOptions& cluster) {
  Report report(
      options,
      fmt::format("wisp simulate neighborhood: {} ranks, virtual time; size: of a block", cluster.ranks),
      true);
  // All ranks send from and receive to the same memory; what arrives where is the tests' affair.
  constexpr double most_messages = 1.2e7;
  constexpr double most_bytes = 4e9;
  const std::vector<NamedOffsets> all = neighborhoods(options.quick);
  const NamedOffsets* last = nullptr;
  Stencil stencil;
  int left_out = 0;
  for (const Case& of : chosen_cases(options, all)) {
    if (last != of.neighborhood) {
      last = of.neighborhood;
      stencil = Stencil(Torus(cube_of(cluster.ranks, last->offsets.dimensions())), last->offsets);
    }
    const double messages = static_cast<double>(of.sizes.size()) * cluster.ranks;
    const double hops = of.kind == Kind::allgather ? 1 : 2.0 * of.neighborhood->offsets.dimensions();
    if (messages > most_messages || hops * static_cast<double>(of.bytes) * cluster.ranks > most_bytes) {
      ++left_out;
      continue;
    }
    Buffers data(of);
    std::vector<Row> rows;
    std::vector<std::string_view> variants(schedule_names());
    variants.emplace_back();
    for (const std::string_view name : variants) {
      const SimulationReport done = simulate(cluster, [&](Comm comm) -> Task<> {
        const Neighborhood on(comm, stencil);
        co_await operation_of(on, of, data, {{}, name});
      });
      rows.push_back(simulated_row({.bench = "neighborhood",
                                    .variant = name.empty() ? "chosen" : std::string(name),
                                    .case_name = of.name,
                                    .ranks = cluster.ranks,
                                    .bytes = of.block},
                                   done));
    }
    report.add(rows);
  }
  if (left_out > 0) {
    fmt::print(
        "\n{} cells are left out, of {} messages or {} GB at once; fewer ranks show the same, for all do the "
        "same\n",
        left_out, most_messages, most_bytes / 1e9);
  }
}

}  // namespace wisp::bench
