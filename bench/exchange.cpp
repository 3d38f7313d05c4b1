// Blocks to a few random partners, of whom only the sender knows: wisp's exchange beside an all-to-all of
// counts and then of blocks.

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "benchmarks.hpp"
#include "wisp/collectives.hpp"
#include "wisp/detail/mix.hpp"
#include "wisp/error.hpp"

namespace wisp::bench {
namespace {

constexpr int partners_of_cases[] = {6, 26};

std::vector<int> bytes_of_cases(const Options& options) {
  return sizes_of(options, {8, 512}, {8, 512, 8192, 65536});
}

/// Whom a rank sends to: others, each once, drawn from its rank.
std::vector<int> partners_of(int rank, int ranks, int count) {
  std::vector<int> partners;
  const int most = std::min(count, ranks - 1);
  for (std::uint64_t draw = 0; static_cast<int>(partners.size()) < most; ++draw) {
    const auto any = detail::mix(detail::mix(static_cast<std::uint64_t>(rank)) + draw);
    const int other = static_cast<int>(any % static_cast<std::uint64_t>(ranks));
    if (other != rank && std::ranges::find(partners, other) == partners.end()) partners.push_back(other);
  }
  return partners;
}

/// What a rank sends to its partners, and what it needs to do the same by all-to-alls.
struct Partnered {
  std::vector<int> partners;
  std::vector<char> block;
  std::vector<Outgoing> messages;
  Arrivals arrivals;
  std::vector<int> sent, received, send_begins, receive_begins;
  std::vector<char> blocks;

  Partnered(int rank, int ranks, int count, int bytes)
      : partners(partners_of(rank, ranks, count)), block(static_cast<std::size_t>(bytes), 'x') {
    for (const int partner : partners) messages.push_back({partner, block});
  }
  void count_blocks(int ranks) {
    sent.assign(static_cast<std::size_t>(ranks), 0);
    received = send_begins = receive_begins = sent;  // everybody gets the same block
    for (const int partner : partners)
      sent[static_cast<std::size_t>(partner)] = static_cast<int>(block.size());
  }
  void place_received() {
    int end = 0;
    for (std::size_t i = 0; i < received.size(); ++i) {
      receive_begins[i] = end;
      end += received[i];
    }
    blocks.resize(static_cast<std::size_t>(end));
  }
};

Row exchange_row(const std::string& variant, int partners, int bytes, int ranks, const Timing& timing) {
  return {.bench = "exchange",
          .variant = variant,
          .case_name = fmt::format("partners={},b={}", partners, bytes),
          .ranks = ranks,
          .bytes = static_cast<std::size_t>(bytes),
          .min_us = timing.min_us,
          .median_us = timing.median_us};
}

/// What users do today.
void exchange_by_mpi(Partnered& cell, int ranks) {
  cell.count_blocks(ranks);
  detail::check_mpi(
      MPI_Alltoall(cell.sent.data(), 1, MPI_INT, cell.received.data(), 1, MPI_INT, MPI_COMM_WORLD),
      "MPI_Alltoall");
  cell.place_received();
  detail::check_mpi(MPI_Alltoallv(cell.block.data(), cell.sent.data(), cell.send_begins.data(), MPI_CHAR,
                                  cell.blocks.data(), cell.received.data(), cell.receive_begins.data(),
                                  MPI_CHAR, MPI_COMM_WORLD),
                    "MPI_Alltoallv");
}

Task<> exchange_by_alltoalls(Comm comm, Partnered& cell, CollectiveOptions options) {
  cell.count_blocks(comm.size());
  co_await alltoall(comm, cell.sent, cell.received, options);
  cell.place_received();
  co_await alltoallv(comm, {cell.block.data(), cell.sent, cell.send_begins, MPI_CHAR},
                     {cell.blocks.data(), cell.received, cell.receive_begins, MPI_CHAR}, options);
}

/// What does not work on these ranks is an error.
void make_exchange(const Comm& comm, Partnered& cell, std::string_view algorithm) {
  static_cast<void>(exchange(comm, cell.messages, cell.arrivals, {.algorithm = algorithm}));
}

void check_same(const Comm& comm, Partnered& cell, std::string_view algorithm) {
  comm.exchange(cell.messages, cell.arrivals, {.algorithm = algorithm});
  exchange_by_mpi(cell, comm.size());
  std::size_t bytes = 0;
  for (const Arrivals::Block& block : cell.arrivals) bytes += block.bytes.size();
  if (bytes == cell.blocks.size()) return;
  throw Error(MPI_ERR_OTHER,
              fmt::format("wisp bench exchange: {} bytes arrived on rank {} by '{}', by MPI {}", bytes,
                          comm.rank(), algorithm, cell.blocks.size()));
}

}  // namespace

void bench_exchange(const Options& options) {
  const Comm comm = all_ranks();
  Report report(options, title_of("exchange", MPI_COMM_WORLD), comm.rank() == 0);
  for (const int partners : partners_of_cases) {
    for (const int bytes : bytes_of_cases(options)) {
      Partnered cell(comm.rank(), comm.size(), partners, bytes);
      check_same(comm, cell, {});
      std::vector<Variant> variants = {
          {"exchange", [&](int) { comm.exchange(cell.messages, cell.arrivals); }}};
      for (const std::string_view name : algorithms_of("exchange")) {
        if (!works([&] { make_exchange(comm, cell, name); })) continue;
        check_same(comm, cell, name);
        variants.push_back({std::string(name), [&, name](int) {
                              comm.exchange(cell.messages, cell.arrivals, {.algorithm = name});
                            }});
      }
      variants.push_back({"alltoall+alltoallv", [&](int) { exchange_by_mpi(cell, comm.size()); }});
      const std::vector<Timing> timings = measure(MPI_COMM_WORLD, variants, method_after_check(options));
      const Row row = exchange_row({}, partners, bytes, comm.size(), {});
      report.add(rows_of(row, variants, timings));
    }
  }
}

void simulate_exchange(const Options& options, const SimulationOptions& cluster) {
  Report report(options, fmt::format("wisp simulate exchange: {} ranks, virtual time", cluster.ranks), true);
  // Direct all-to-alls have p² messages, and all of them p² counts.
  constexpr int most_ranks_of_direct = 2048;
  constexpr int most_ranks_of_alltoalls = 4096;
  using Program = Task<> (*)(Comm, Partnered&, CollectiveOptions);
  const Program by_exchange = [](Comm comm, Partnered& cell, CollectiveOptions how) -> Task<> {
    co_await exchange(comm, cell.messages, cell.arrivals, how);
  };
  struct Simulated {
    std::string variant;
    Program run;
    std::string_view algorithm;
  };
  std::vector<Simulated> variants = {{"exchange", by_exchange, {}}};
  const std::vector<std::string_view> names = algorithms_of("exchange");
  const auto make = [](const Comm& comm, std::string_view name) {
    Partnered cell(comm.rank(), comm.size(), 1, 8);
    make_exchange(comm, cell, name);
  };
  const std::vector<std::string> working = working_on(cluster, {names.begin(), names.end()}, make);
  for (const std::string& name : working) variants.push_back({name, by_exchange, name});
  if (cluster.ranks <= most_ranks_of_direct) variants.push_back({"direct", exchange_by_alltoalls, "direct"});
  if (cluster.ranks <= most_ranks_of_alltoalls) variants.push_back({"chosen", exchange_by_alltoalls, {}});
  for (const int partners : partners_of_cases) {
    for (const int bytes : bytes_of_cases(options)) {
      std::vector<Row> rows;
      for (const Simulated& one : variants) {
        const SimulationReport run = simulate(cluster, [&](Comm comm) -> Task<> {
          Partnered cell(comm.rank(), comm.size(), partners, bytes);
          co_await one.run(comm, cell, {.algorithm = one.algorithm});
        });
        rows.push_back(simulated_row(exchange_row(one.variant, partners, bytes, cluster.ranks, {}), run));
      }
      report.add(rows);
    }
  }
}

}  // namespace wisp::bench
