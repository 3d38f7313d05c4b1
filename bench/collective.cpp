// Collectives of doubles: wisp blocking and nonblocking beside MPI's, 1 to 2^18 elements.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "benchmarks.hpp"
#include "blocking_tree.hpp"
#include "wisp/collectives.hpp"
#include "wisp/error.hpp"

namespace wisp::bench {
namespace {

/// The buffers of one cell and what the variants have in common.
struct Cell {
  std::string op;
  int ranks;
  int count;
  std::vector<double> input;
  std::vector<double> output;

  Cell(std::string name, int of_ranks, int elements)
      : op(std::move(name)), ranks(of_ranks), count(elements), input(static_cast<std::size_t>(elements)) {
    const bool collects = op == "gather" || op == "allgather";
    output.resize(static_cast<std::size_t>(elements) * static_cast<std::size_t>(collects ? of_ranks : 1));
  }

  ConstBuffer send() const { return input; }
  Buffer receive() { return output; }
  /// Roots move from call to call, so that nobody runs ahead.
  int root(int call) const { return call % ranks; }
};

Request start_wisp(const Comm& comm, Cell& cell, int call) {
  if (cell.op == "barrier") return comm.ibarrier();
  if (cell.op == "bcast") return comm.ibcast(cell.receive(), cell.root(call));
  if (cell.op == "reduce") return comm.ireduce(cell.send(), cell.receive(), MPI_SUM, cell.root(call));
  if (cell.op == "allreduce") return comm.iallreduce(cell.send(), cell.receive(), MPI_SUM);
  if (cell.op == "scan") return comm.iscan(cell.send(), cell.receive(), MPI_SUM);
  if (cell.op == "exscan") return comm.iexscan(cell.send(), cell.receive(), MPI_SUM);
  if (cell.op == "gather") return comm.igather(cell.send(), cell.receive(), cell.root(call));
  return comm.iallgather(cell.send(), cell.receive());
}

Task<> wisp_task(const Comm& comm, Cell& cell, int call) {
  if (cell.op == "barrier") return barrier(comm);
  if (cell.op == "bcast") return bcast(comm, cell.receive(), cell.root(call));
  if (cell.op == "reduce") return reduce(comm, cell.send(), cell.receive(), MPI_SUM, cell.root(call));
  if (cell.op == "allreduce") return allreduce(comm, cell.send(), cell.receive(), MPI_SUM);
  if (cell.op == "scan") return scan(comm, cell.send(), cell.receive(), MPI_SUM);
  if (cell.op == "exscan") return exscan(comm, cell.send(), cell.receive(), MPI_SUM);
  if (cell.op == "gather") return gather(comm, cell.send(), cell.receive(), cell.root(call));
  return allgather(comm, cell.send(), cell.receive());
}

void run_mpi(Cell& cell, int call) {
  const MPI_Comm world = MPI_COMM_WORLD;
  double* out = cell.output.data();
  const double* in = cell.input.data();
  const int n = cell.count;
  if (cell.op == "barrier")
    MPI_Barrier(world);
  else if (cell.op == "bcast")
    MPI_Bcast(out, n, MPI_DOUBLE, cell.root(call), world);
  else if (cell.op == "reduce")
    MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_SUM, cell.root(call), world);
  else if (cell.op == "allreduce")
    MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, world);
  else if (cell.op == "scan")
    MPI_Scan(in, out, n, MPI_DOUBLE, MPI_SUM, world);
  else if (cell.op == "exscan")
    MPI_Exscan(in, out, n, MPI_DOUBLE, MPI_SUM, world);
  else if (cell.op == "gather")
    MPI_Gather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, cell.root(call), world);
  else
    MPI_Allgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, world);
}

void run_mpi_nonblocking(Cell& cell, int call) {
  const MPI_Comm world = MPI_COMM_WORLD;
  double* out = cell.output.data();
  const double* in = cell.input.data();
  const int n = cell.count;
  MPI_Request request = MPI_REQUEST_NULL;
  if (cell.op == "barrier")
    MPI_Ibarrier(world, &request);
  else if (cell.op == "bcast")
    MPI_Ibcast(out, n, MPI_DOUBLE, cell.root(call), world, &request);
  else if (cell.op == "reduce")
    MPI_Ireduce(in, out, n, MPI_DOUBLE, MPI_SUM, cell.root(call), world, &request);
  else if (cell.op == "allreduce")
    MPI_Iallreduce(in, out, n, MPI_DOUBLE, MPI_SUM, world, &request);
  else if (cell.op == "scan")
    MPI_Iscan(in, out, n, MPI_DOUBLE, MPI_SUM, world, &request);
  else if (cell.op == "exscan")
    MPI_Iexscan(in, out, n, MPI_DOUBLE, MPI_SUM, world, &request);
  else if (cell.op == "gather") {
    MPI_Igather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, cell.root(call), world, &request);
  } else {
    MPI_Iallgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, world, &request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// Every variant once on fresh buffers: all must end with what MPI's blocking one ends with.
void check_variants(Cell& cell, int rank, const std::vector<Variant>& variants, const Variant& reference) {
  const auto run = [&](const Variant& variant) {
    std::iota(cell.input.begin(), cell.input.end(), rank);
    std::fill(cell.output.begin(), cell.output.end(), cell.op == "bcast" ? rank : 0);
    variant.run(0);
    return cell.output;
  };
  const std::vector<double> expected = run(reference);
  for (const Variant& variant : variants) {
    if (run(variant) == expected) continue;
    throw Error(MPI_ERR_OTHER,
                fmt::format("wisp bench collective: {} of {} elements: {} differs from {} on rank {}",
                            cell.op, cell.count, variant.name, reference.name, rank));
  }
}

std::vector<std::string> chosen_ops(const Options& options) {
  static const std::vector<std::string> all = {"barrier", "bcast",  "reduce", "allreduce",
                                               "scan",    "exscan", "gather", "allgather"};
  if (options.op.empty()) return all;
  if (std::find(all.begin(), all.end(), options.op) == all.end()) {
    throw Error(MPI_ERR_ARG, fmt::format("wisp bench collective: --op {} is not one of {}", options.op,
                                         fmt::join(all, ", ")));
  }
  return {options.op};
}

std::vector<int> chosen_counts(const Options& options, const std::string& op) {
  if (op == "barrier") return {0};
  if (options.quick) return {1, 1 << 6, 1 << 9};
  return {1, 1 << 3, 1 << 6, 1 << 9, 1 << 12, 1 << 15, 1 << 18};
}

/// The variants of a cell, checked once.
std::vector<Variant> make_variants(const Comm& comm, Cell& cell) {
  std::vector<Variant> variants = {
      {"wisp", [&](int call) { comm.run(wisp_task(comm, cell, call)); }},
      {"wisp-nonblocking", [&](int call) { start_wisp(comm, cell, call).wait(); }},
      {"MPI", [&](int call) { run_mpi(cell, call); }},
      {"MPI-nonblocking", [&](int call) { run_mpi_nonblocking(cell, call); }},
  };
  if (has_blocking_tree(cell.op)) {
    variants.push_back({"blocking-tree", [&](int call) {
                          run_blocking_tree(cell.op, cell.input, cell.output, cell.root(call),
                                            MPI_COMM_WORLD);
                        }});
  }
  check_variants(cell, comm.rank(), variants, variants[2]);
  return variants;
}

void measure_cell(const char* bench, const Comm& comm, Cell& cell, const Method& method, Report& report) {
  const std::vector<Variant> variants = make_variants(comm, cell);
  const std::vector<Timing> timings = measure(MPI_COMM_WORLD, variants, method);
  std::vector<Row> rows;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    rows.push_back({bench,
                    variants[v].name,
                    cell.op,
                    comm.size(),
                    static_cast<std::size_t>(cell.count) * sizeof(double),
                    timings[v].min_us,
                    timings[v].median_us,
                    {},
                    {},
                    {}});
  }
  report.add(rows);
}

std::string title_of(const char* bench, const Comm& comm) {
  return fmt::format("wisp bench {}: {} ranks, {}{}", bench, comm.size(), mpi_name(),
                     ranks_outnumber_cores(MPI_COMM_WORLD) ? ", more ranks than cores" : "");
}

}  // namespace

void bench_collective(const Options& options) {
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  Report report(options, title_of("collective", comm), comm.rank() == 0);
  for (const std::string& op : chosen_ops(options)) {
    for (const int count : chosen_counts(options, op)) {
      Cell cell(op, comm.size(), count);
      measure_cell("collective", comm, cell, {options.quick ? 20 : 60, options.quick ? 2 : 5, 0}, report);
    }
  }
}

void bench_coroutine(const Options& options) {
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  Report report(options, title_of("coroutine", comm), comm.rank() == 0);
  Cell cell("bcast", comm.size(), 1);
  measure_cell("coroutine", comm, cell, {options.quick ? 20 : 60, 5, 1000}, report);
}

void simulate_collective(const Options& options, const SimulationOptions& cluster) {
  Report report(options, fmt::format("wisp simulate collective: {} ranks, virtual time", cluster.ranks),
                true);
  for (const std::string& op : chosen_ops(options)) {
    for (const int count : chosen_counts(options, op)) {
      // One root's whole result must fit into memory, and an allgather has one on each rank.
      const double copies = op == "allgather" ? cluster.ranks : 1;
      const double bytes = 8.0 * count * cluster.ranks * copies;
      if ((op == "gather" || op == "allgather") && bytes > 2e9) continue;
      if (8.0 * count * cluster.ranks > 2e9) continue;
      const SimulationReport run = simulate(cluster, [&](Comm comm) -> Task<> {
        Cell cell(op, comm.size(), op == "gather" && comm.rank() != 0 ? 0 : count);
        cell.input.resize(static_cast<std::size_t>(count));
        co_await wisp_task(comm, cell, 0);
      });
      report.add({{"collective",
                   "wisp",
                   op,
                   cluster.ranks,
                   static_cast<std::size_t>(count) * sizeof(double),
                   run.seconds * 1e6,
                   run.seconds * 1e6,
                   run.messages,
                   run.bytes,
                   {}}});
    }
  }
}

}  // namespace wisp::bench
