// Regret: how much longer the algorithm takes that is chosen than the one that would have been best, where
// every rank has a core of its own. Sizes are of all blocks together.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "clusters.hpp"
#include "effort.hpp"
#include "pattern/tree_time.hpp"
#include "wisp/collectives.hpp"
#include "wisp/detail/mix.hpp"
#include "wisp/simulate.hpp"

namespace wisp {
namespace {

/// Nothing is carried, so all ranks share one buffer.
struct Data {
  std::vector<std::byte> bytes;
  Buffer all() { return {bytes.data(), bytes.size(), MPI_BYTE}; }
  Buffer block(int ranks) { return {bytes.data(), bytes.size() / static_cast<std::size_t>(ranks), MPI_BYTE}; }
};

struct Measured {
  const char* name;
  bool has_blocks;
  Operation (*make)(const Comm& comm, Data& in, Data& out, const CollectiveOptions& options);
};

using C = const Comm&;
using O = const CollectiveOptions&;
constexpr Measured table[] = {
    {"barrier", false, [](C comm, Data&, Data&, O options) { return barrier(comm, options); }},
    {"bcast", false, [](C comm, Data& in, Data&, O options) { return bcast(comm, in.all(), 0, options); }},
    {"reduce", false,
     [](C comm, Data& in, Data& out, O options) {
       return reduce(comm, in.all(), out.all(), MPI_BOR, 0, options);
     }},
    {"allreduce", false,
     [](C comm, Data& in, Data& out, O options) {
       return allreduce(comm, in.all(), out.all(), MPI_BOR, options);
     }},
    {"scan", false,
     [](C comm, Data& in, Data& out, O options) {
       return scan(comm, in.all(), out.all(), MPI_BOR, options);
     }},
    {"exscan", false,
     [](C comm, Data& in, Data& out, O options) {
       return exscan(comm, in.all(), out.all(), MPI_BOR, options);
     }},
    {"scan_and_bcast", false,
     [](C comm, Data& in, Data& out, O options) {
       return scan_and_bcast(comm, in.all(), out.all(), in.all(), MPI_BOR, options);
     }},
    {"reduce_scatter", true,
     [](C comm, Data& in, Data& out, O options) {
       return reduce_scatter_block(comm, in.all(), out.block(comm.size()), MPI_BOR, options);
     }},
    {"gather", true,
     [](C comm, Data& in, Data& out, O options) {
       return gather(comm, in.block(comm.size()), out.all(), 0, options);
     }},
    {"scatter", true,
     [](C comm, Data& in, Data& out, O options) {
       return scatter(comm, in.all(), out.block(comm.size()), 0, options);
     }},
    {"allgather", true,
     [](C comm, Data& in, Data& out, O options) {
       return allgather(comm, in.block(comm.size()), out.all(), options);
     }},
    {"alltoall", true,
     [](C comm, Data& in, Data& out, O options) { return alltoall(comm, in.all(), out.all(), options); }},
};

double seconds_of(const Measured& of, int ranks, std::size_t bytes, std::string_view algorithm) {
  SimulationOptions cluster;
  cluster.ranks = ranks;
  cluster.carried_bytes = 0;
  Data in{std::vector<std::byte>(bytes)}, out{std::vector<std::byte>(bytes)};
  const SimulationReport run = simulate(
      cluster, [&](Comm comm) -> Task<> { co_await of.make(comm, in, out, {.algorithm = algorithm}); });
  return run.seconds;
}

/// The time of the algorithm that is chosen, as a ratio to that of the best.
double regret_of(const Measured& of, int ranks, std::size_t bytes) {
  const double chosen = seconds_of(of, ranks, bytes, "");
  double best = chosen;
  std::string_view best_name = "what is chosen";
  for (const std::string_view name : algorithms_of(of.name)) {
    // The work of all-to-all and of a chain grows with the square of the ranks: left out where it cannot win.
    if (ranks > 256 && (name == "chain" || name == "pairwise")) continue;
    const double seconds = seconds_of(of, ranks, bytes, name);
    if (seconds >= best) continue;
    best = seconds;
    best_name = name;
  }
  const double regret = best > 0 ? chosen / best : 1;
  if (regret > 1.05) {
    std::printf("%-16s p = %5d, %8zu bytes: %5.2f, %.*s\n", of.name, ranks, bytes, regret,
                static_cast<int>(best_name.size()), best_name.data());
  }
  return regret;
}

struct Place {
  const Measured* of;
  int ranks;
  std::size_t bytes;
};

/// All powers of four of 8 bytes to 2 MiB, as long as a vector for each rank takes 4 GiB: algorithms have
/// some of their own. What is sent to everybody else, or blocks of all on all, is work with the square of the
/// ranks.
std::vector<Place> places_of(const std::vector<int>& ranks) {
  std::vector<Place> places;
  for (const Measured& of : table) {
    for (const int p : ranks) {
      const bool is_square = of.name == std::string("alltoall") || of.name == std::string("allgather");
      if (is_square && p > 1024) continue;
      for (std::size_t bytes = 8; bytes <= std::size_t{1} << 21; bytes *= 4) {
        if (of.name == std::string("barrier") && bytes > 8) continue;
        constexpr std::size_t most_of_all = std::size_t{1} << 32;
        if (static_cast<std::size_t>(p) * bytes > most_of_all) continue;
        const std::size_t whole = of.has_blocks ? bytes - bytes % static_cast<std::size_t>(p) : bytes;
        if (whole > 0) places.push_back({&of, p, whole});
      }
    }
  }
  return places;
}

void expect_small_regret(const std::vector<Place>& places) {
  std::size_t beyond = 0;
  double worst = 1;
  for (const Place& place : places) {
    const double regret = regret_of(*place.of, place.ranks, place.bytes);
    if (regret > 1.05) ++beyond;
    worst = std::max(worst, regret);
  }
  std::printf("%zu of %zu cells beyond 5 %%, the worst at %.2f\n", beyond, places.size(), worst);
  EXPECT_LE(beyond * 50, places.size());
  EXPECT_LE(worst, 1.20);
}

/// What the choice of a broadcast takes a tree for is what it takes.
TEST(RegretTest, TimesOfTreesAreThoseOfBroadcasts) {
  const detail::Machine machine = test::machine_of({});
  const Measured& of = *std::ranges::find(table, std::string_view("bcast"), &Measured::name);
  for (int p = 1; p <= 65; ++p) {
    for (const std::size_t bytes : {8u, 2048u}) {
      for (const auto& [name, radix_bits] : {std::pair("binomial", 1), std::pair("radix_4", 2)}) {
        detail::TreeTime time(machine, radix_bits, detail::TreeTime::Load::vectors,
                              static_cast<double>(bytes));
        EXPECT_NEAR(time.down(p) * 1e6, seconds_of(of, p, bytes, name) * 1e6, 1e-3)
            << of.name << " " << name << ", " << p << " ranks, " << bytes << " bytes";
      }
    }
  }
}

TEST(RegretTest, ChosenAlgorithmsAreNearlyTheBest) {
  std::vector<int> ranks;
  for (int p = 1; p <= 128; ++p) ranks.push_back(p);
  std::vector<Place> all = places_of(ranks);
  // 200 of them, always the same.
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[detail::mix(i) % i]);
  all.resize(200);
  expect_small_regret(all);
}

/// By hand: WISP_TEST_REGRET="1 128 1000 1024 4099" for these numbers of ranks.
TEST(RegretTest, OfAllCells) {
  const char* text = std::getenv("WISP_TEST_REGRET");
  if (text == nullptr) GTEST_SKIP() << "WISP_TEST_REGRET is not set";
  std::vector<int> ranks;
  for (char* end = nullptr; *text != '\0'; text = end)
    ranks.push_back(static_cast<int>(std::strtol(text, &end, 10)));
  expect_small_regret(places_of(ranks));
}

}  // namespace
}  // namespace wisp
