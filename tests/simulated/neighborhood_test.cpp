// Neighborhood collectives on the simulated cluster: every schedule, on tori and meshes of all sizes, against
// what each rank can say its neighbors have sent.

#include "wisp/neighborhood.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "clusters.hpp"
#include "effort.hpp"
#include "stencils.hpp"
#include "wisp/collectives.hpp"

namespace wisp {
namespace {

using test::cluster_of;
using test::error_of;
using test::NeighborData;
using test::random_stencil;

constexpr NeighborPattern patterns[] = {NeighborPattern::alltoall, NeighborPattern::allgather};

std::vector<int> equal_counts(const Neighborhood& on, int count) {
  return std::vector<int>(static_cast<std::size_t>(on.size()), count);
}

/// Regular blocks of `count` elements, checked on every rank.
Task<> exchange_regular(Neighborhood on, NeighborPattern pattern, NeighborOptions options, int count) {
  NeighborData data(on, pattern, equal_counts(on, count), 0);
  if (pattern == NeighborPattern::alltoall) {
    co_await neighbor_alltoall(on, data.send, Buffer(data.receive), options);
  } else {
    const ConstBuffer own = on.size() == 0 ? ConstBuffer() : data.own_block();
    co_await neighbor_allgather(on, own, Buffer(data.receive), options);
  }
  EXPECT_EQ(data.receive, data.expected(on, pattern)) << "rank " << on.comm().rank();
}

/// Blocks of different sizes (of an allgather: in different places).
Task<> exchange_irregular(Neighborhood on, NeighborPattern pattern, NeighborOptions options) {
  std::vector<int> counts = equal_counts(on, 3);
  if (pattern == NeighborPattern::alltoall) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = static_cast<int>(i * i % 5);
  }
  NeighborData data(on, pattern, counts, 2);
  if (pattern == NeighborPattern::alltoall) {
    co_await neighbor_alltoallv(on, data.sent(), data.received(), options);
  } else if (on.size() > 0) {
    co_await neighbor_allgatherv(on, data.own_block(), data.received(), options);
  }
  EXPECT_EQ(data.receive, data.expected(on, pattern)) << "rank " << on.comm().rank();
}

std::vector<NeighborOptions> all_options() {
  std::vector<NeighborOptions> all;
  for (const std::string_view name : schedule_names()) {
    for (const NeighborCopying copying : {NeighborCopying::pack, NeighborCopying::datatypes}) {
      for (const int ports : {0, 1, 2}) all.push_back({{}, name, ports, copying});
    }
  }
  all.push_back({});
  return all;
}

TEST(NeighborhoodTest, EveryScheduleBringsEveryBlockOnTheRightSide) {
  std::mt19937 random(11);
  for (int p = 1; p <= 33; ++p) {
    for (int k = 0; k < 6; ++k) {
      const Stencil stencil = random_stencil(random, p);
      for (const NeighborOptions& options : all_options()) {
        SCOPED_TRACE(fmt::format("p {} case {} {} ports {} copying {}", p, k, options.algorithm,
                                 options.ports, static_cast<int>(options.copying)));
        simulate(cluster_of(p, k), [&](Comm comm) -> Task<> {
          const Neighborhood on(comm, stencil);
          for (const NeighborPattern pattern : patterns) {
            co_await exchange_regular(on, pattern, options, k % 3);
            co_await exchange_irregular(on, pattern, options);
          }
        });
        if (HasFailure()) return;
      }
    }
  }
}

TEST(NeighborhoodTest, OffsetsMayBeAsLargeAsAnInt) {
  constexpr int most = std::numeric_limits<int>::max();
  for (const int periodic : {0, 1}) {
    for (const NeighborOptions& options : all_options()) {
      simulate(cluster_of(4, 0), [&](Comm comm) -> Task<> {
        const Neighborhood on(comm, Stencil(Torus({4}, {periodic}), Offsets{{1}, {-1}, {most}, {-most - 1}}));
        co_await exchange_regular(on, NeighborPattern::alltoall, options, 2);
        co_await exchange_regular(on, NeighborPattern::allgather, options, 2);
      });
    }
  }
}

TEST(NeighborhoodTest, BothNeighborsMayBeTheSameProcess) {
  // MPI 4.0, section 8.6: what goes to the left comes from the right, with 1 and 2 ranks in a dimension too.
  for (const int p : {1, 2}) {
    for (const NeighborOptions& options : all_options()) {
      simulate(cluster_of(p, 0), [&](Comm comm) -> Task<> {
        const Neighborhood on(comm, Stencil(Torus({p}), Offsets{{-1}, {1}}));
        co_await exchange_regular(on, NeighborPattern::alltoall, options, 2);
        co_await exchange_regular(on, NeighborPattern::allgather, options, 2);
      });
    }
  }
}

TEST(NeighborhoodTest, WhatIsSentIsExactlyTheRoundsAndVolumeOfThePropositions) {
  std::mt19937 random(12);
  constexpr int count = 3;
  int cases = 0;
  while (cases < 300) {
    const int p = 2 + static_cast<int>(random() % 40);
    const Stencil given = random_stencil(random, p);
    const Stencil stencil(Torus(given.torus().dims()), given.offsets());
    for (const NeighborPattern pattern : patterns) {
      const Schedule& schedule = stencil.schedule(pattern, "torus");
      SimulationOptions cluster = cluster_of(p, 0);
      const SimulationReport report = simulate(cluster, [&](Comm comm) -> Task<> {
        co_await exchange_regular(Neighborhood(comm, stencil), pattern, {{}, "torus", 1}, count);
      });
      // Proposition 1, from the offsets themselves.
      std::uint64_t rounds = 0;
      std::uint64_t volume = 0;
      for (int j = 0; j < stencil.torus().dimensions(); ++j) {
        int forth = 0;
        int back = 0;
        for (int i = 0; i < stencil.size(); ++i) {
          const int c = stencil.reduced()[i][static_cast<std::size_t>(j)];
          forth = std::max(forth, c);
          back = std::max(back, -c);
          volume += static_cast<std::uint64_t>(std::abs(c));
        }
        rounds += static_cast<std::uint64_t>(forth + back);
      }
      if (pattern == NeighborPattern::allgather) volume = schedule.volume();  // stencil_test counts the trie
      for (const SimulationReport::Rank& rank : report.ranks) {
        ASSERT_EQ(rank.messages_sent, rounds);
        ASSERT_EQ(rank.bytes_sent, volume * count * sizeof(std::int64_t));
      }
      ASSERT_EQ(report.rounds, static_cast<int>(rounds));
      ++cases;
    }
  }
}

TEST(NeighborhoodTest, RoundsThatDoNotNeedEachOtherAreInFlightTogether) {
  const Stencil stencil(Torus({4, 4, 4}), moore(3, 1));
  const auto time_with = [&](int ports) {
    return simulate(cluster_of(64, 0), [&](Comm comm) -> Task<> {
      co_await exchange_regular(Neighborhood(comm, stencil), NeighborPattern::alltoall, {{}, "torus", ports},
                                1);
    });
  };
  const SimulationReport one = time_with(1);
  const SimulationReport all = time_with(0);
  EXPECT_EQ(one.messages, all.messages);
  EXPECT_EQ(one.rounds, 6);
  EXPECT_EQ(all.rounds, 3);
  EXPECT_LT(all.seconds, one.seconds);
}

TEST(NeighborhoodTest, OfASmallTorusItTakesARoundForEachDimensionItHas) {
  const Stencil stencil(Torus({4, 2, 2}), moore(3, 3));
  for (const auto& [name, messages] : {std::pair{"torus", 5}, {"basis", 4}, {"direct", 15}}) {
    const SimulationReport report = simulate(cluster_of(16, 0), [&, name = name](Comm comm) -> Task<> {
      co_await exchange_regular(Neighborhood(comm, stencil), NeighborPattern::alltoall, {{}, name}, 2);
    });
    for (const SimulationReport::Rank& rank : report.ranks)
      EXPECT_EQ(rank.messages_sent, static_cast<unsigned>(messages));
  }
}

TEST(NeighborhoodTest, OnAMeshNoMessageGoesWhereNobodyIs) {
  const Stencil stencil(Torus({3, 3}, {0, 0}), moore(2, 1));
  const SimulationReport report = simulate(cluster_of(9, 0), [&](Comm comm) -> Task<> {
    co_await exchange_regular(Neighborhood(comm, stencil), NeighborPattern::alltoall, {{}, "straightforward"},
                              1);
  });
  EXPECT_EQ(report.messages, 4U * 3 + 4U * 5 + 8U);
  const SimulationReport combined = simulate(cluster_of(9, 0), [&](Comm comm) -> Task<> {
    co_await exchange_regular(Neighborhood(comm, stencil), NeighborPattern::alltoall, {{}, "torus"}, 1);
  });
  EXPECT_EQ(combined.messages, 4U * 2 + 4U * 3 + 4U);
}

TEST(NeighborhoodTest, SeveralOperationsWithBuffersOfTheirOwnAreInFlightAtOnce) {
  for (int seed = 0; seed < test::seeds() / 5; ++seed) {
    simulate(cluster_of(12, seed), [&](Comm comm) -> Task<> {
      const Neighborhood on(comm, Stencil(Torus({4, 3}, {1, 0}), moore(2, 2)));
      std::vector<NeighborData> data;
      for (int k = 0; k < 4; ++k)
        data.emplace_back(on, NeighborPattern::alltoall, equal_counts(on, k + 1), 0);
      data.emplace_back(on, NeighborPattern::alltoall, equal_counts(on, 2), 0);  // as large as another one
      std::vector<Request> requests;
      for (NeighborData& one : data) requests.push_back(on.ineighbor_alltoall(one.send, Buffer(one.receive)));
      for (std::size_t k = data.size(); k-- > 0;) {
        Request& request = requests[k];
        co_await request;
      }
      for (const NeighborData& one : data)
        EXPECT_EQ(one.receive, one.expected(on, NeighborPattern::alltoall));
    });
  }
}

TEST(NeighborhoodTest, APersistentOneRunsAgainWithWhatIsInItsBuffersThen) {
  for (const NeighborOptions& options : all_options()) {
    simulate(cluster_of(12, 1), [&](Comm comm) -> Task<> {
      const Neighborhood on(comm, Stencil(Torus({3, 4}), octant(2, 2)));
      NeighborData first(on, NeighborPattern::alltoall, equal_counts(on, 2), 0);
      NeighborData second(on, NeighborPattern::allgather, equal_counts(on, 2), 0);
      Request alltoall = on.neighbor_alltoall_init(first.send, Buffer(first.receive), options);
      Request allgather = on.neighbor_allgather_init(second.own_block(), Buffer(second.receive), options);
      for (int run = 0; run < 3; ++run) {
        // In different orders on different ranks.
        Request* order[] = {&alltoall, &allgather};
        if (comm.rank() % 2 == 1) std::swap(order[0], order[1]);
        for (Request* request : order) request->start();
        for (Request* request : order) {
          Request& running = *request;
          co_await running;
        }
        for (const auto& [data, pattern] :
             {std::pair{&first, NeighborPattern::alltoall}, {&second, NeighborPattern::allgather}}) {
          std::vector<std::int64_t> due = data->expected(on, pattern);
          for (std::int64_t& element : due) element += 100'000'000 * run;
          EXPECT_EQ(data->receive, due);
          for (std::int64_t& element : data->send) element += 100'000'000;
          std::fill(data->receive.begin(), data->receive.end(), test::untouched);
        }
      }
    });
  }
}

TEST(NeighborhoodTest, NothingIsLookedAtWithoutNeighbors) {
  simulate(cluster_of(5, 0), [](Comm comm) -> Task<> {
    const Neighborhood on(comm, Stencil(Torus({5}), Offsets(1)));
    co_await neighbor_alltoall(on, ConstBuffer(), Buffer());
    co_await neighbor_alltoallv(on, ConstBlocks(), Blocks());
    co_await neighbor_alltoallw(on, ConstBlocks(), Blocks());
    co_await neighbor_allgather(on, ConstBuffer(), Buffer());
    co_await neighbor_allgatherv(on, ConstBuffer(), Blocks());
    co_await neighbor_allgatherw(on, ConstBuffer(), Blocks());
    EXPECT_EQ(on.size(), 0);
    EXPECT_TRUE(on.sources().empty());
  });
}

TEST(NeighborhoodTest, ColumnsOfAnArrayGoStraightToAndFromIt) {
  MPI_Datatype column = MPI_DATATYPE_NULL;
  constexpr int rows = 4;
  constexpr int columns = 6;
  MPI_Type_vector(rows, 1, columns, MPI_INT64_T, &column);
  MPI_Type_commit(&column);
  for (const NeighborOptions& options : all_options()) {
    simulate(cluster_of(9, 0), [&](Comm comm) -> Task<> {
      // Columns to the left and right, a row up, an element along the diagonal; the array has a border of
      // one.
      const Neighborhood on(comm, Stencil(Torus({3, 3}), Offsets{{0, -1}, {0, 1}, {-1, 0}, {-1, -1}}));
      std::vector<std::int64_t> array(rows * columns);
      std::iota(array.begin(), array.end(), 1000 * comm.rank());
      std::vector<std::int64_t> result(array.size(), test::untouched);
      const std::vector<int> counts = {1, 1, columns - 2, 1};
      const std::vector<MPI_Datatype> types = {column, column, MPI_INT64_T, MPI_INT64_T};
      const std::vector<int> from = {1 * 8, (columns - 2) * 8, (columns + 1) * 8, (columns + 1) * 8};
      const std::vector<int> to = {(columns - 1) * 8, 0, ((rows - 1) * columns + 1) * 8,
                                   (rows - 2) * columns * 8 + 24};
      co_await neighbor_alltoallw(on, ConstBlocks(array.data(), counts, from, types),
                                  Blocks(result.data(), counts, to, types), options);
      std::vector<std::int64_t> due(array.size(), test::untouched);
      for (int row = 0; row < rows; ++row) {
        due[static_cast<std::size_t>(row * columns + columns - 1)] =
            1000 * on.sources()[0] + row * columns + 1;
        due[static_cast<std::size_t>(row * columns)] = 1000 * on.sources()[1] + row * columns + columns - 2;
      }
      for (int c = 1; c < columns - 1; ++c) {
        due[static_cast<std::size_t>((rows - 1) * columns + c)] = 1000 * on.sources()[2] + columns + c;
      }
      due[static_cast<std::size_t>((rows - 2) * columns + 3)] = 1000 * on.sources()[3] + columns + 1;
      EXPECT_EQ(result, due) << options.algorithm;

      std::vector<std::int64_t> gathered(array.size() + rows, test::untouched);
      const std::vector<int> one_each = {1, 1, rows, 1};
      const std::vector<MPI_Datatype> gather_types = {column, column, MPI_INT64_T, column};
      const std::vector<int> places = {0, 8, rows * columns * 8, 40};
      co_await neighbor_allgatherw(on, ConstBuffer(array.data(), rows, MPI_INT64_T),
                                   Blocks(gathered.data(), one_each, places, gather_types), options);
      std::vector<std::int64_t> gathered_due(gathered.size(), test::untouched);
      for (int row = 0; row < rows; ++row) {
        const int in_column[] = {row * columns, row * columns + 1, rows * columns + row, row * columns + 5};
        for (std::size_t i = 0; i < 4; ++i) {
          gathered_due[static_cast<std::size_t>(in_column[i])] = 1000 * on.sources()[i] + row;
        }
      }
      EXPECT_EQ(gathered, gathered_due) << options.algorithm;
    });
    if (HasFailure()) break;
  }
  MPI_Type_free(&column);
}

TEST(NeighborhoodTest, ABlockToOneselfWithinOneArrayIsCopiedThoughBothBeginAtItsAddress) {
  MPI_Datatype last = MPI_DATATYPE_NULL;
  MPI_Datatype first = MPI_DATATYPE_NULL;
  const int size = 4;
  const int one = 1;
  const int starts[] = {2, 0};
  MPI_Type_create_subarray(1, &size, &one, &starts[0], MPI_ORDER_C, MPI_INT, &last);
  MPI_Type_create_subarray(1, &size, &one, &starts[1], MPI_ORDER_C, MPI_INT, &first);
  MPI_Type_commit(&last);
  MPI_Type_commit(&first);
  const std::vector<int> counts = {1};
  const std::vector<int> places = {0};
  const std::vector<MPI_Datatype> sent = {last};
  const std::vector<MPI_Datatype> received = {first};
  const std::vector<int> before = {1, 2, 3, 4};
  const std::vector<int> after = {3, 2, 3, 4};
  const Stencil stencil(Torus({1}), Offsets{{1}});
  simulate(cluster_of(1, 0), [&](Comm comm) -> Task<> {
    std::vector<int> array = before;
    const ConstBlocks from(array.data(), counts, places, sent);
    const Blocks to(array.data(), counts, places, received);
    co_await neighbor_alltoallw(Neighborhood(comm, stencil), from, to);
    EXPECT_EQ(array, after);
    array = before;
    co_await alltoallw(comm, from, to);
    EXPECT_EQ(array, after);
  });
  MPI_Type_free(&last);
  MPI_Type_free(&first);
}

TEST(NeighborhoodTest, ErrorsNameTheArgument) {
  const SimulationOptions cluster = cluster_of(6, 0);
  EXPECT_EQ(error_of(cluster,
                     [](Comm comm) -> Task<> {
                       const Neighborhood on(comm, Stencil(Torus({2, 2}), moore(2, 1)));
                       co_return;
                     }),
            "wisp::Neighborhood: the torus 2 x 2 has 4 ranks, but the communicator 6");
  const Stencil stencil(Torus({2, 3}), moore(2, 1));
  EXPECT_EQ(error_of(cluster,
                     [&](Comm comm) -> Task<> {
                       std::vector<int> send(9);
                       std::vector<int> receive(8);
                       co_await neighbor_alltoall(Neighborhood(comm, stencil), send, Buffer(receive));
                     }),
            "wisp::neighbor_alltoall: send has 9 elements, not a multiple of 8 neighbors");
  EXPECT_EQ(error_of(cluster,
                     [&](Comm comm) -> Task<> {
                       std::vector<int> send(8);
                       std::vector<int> receive(16);
                       co_await neighbor_alltoall(Neighborhood(comm, stencil), send, Buffer(receive));
                     }),
            "wisp::neighbor_alltoall: block 0 of receive has 8 bytes, but that of send has 4");
  EXPECT_EQ(error_of(cluster,
                     [&](Comm comm) -> Task<> {
                       std::vector<int> data(8);
                       const std::vector<int> counts(7, 1);
                       co_await neighbor_alltoallv(Neighborhood(comm, stencil), ConstBlocks(data, counts),
                                                   Blocks(data, counts));
                     }),
            "wisp::neighbor_alltoallv: send has 7 counts for 8 neighbors");
  EXPECT_EQ(
      error_of(cluster,
               [&](Comm comm) -> Task<> {
                 std::vector<int> data(8);
                 co_await neighbor_alltoall(Neighborhood(comm, stencil), data, Buffer(data), {{}, "ring"});
               }),
      "wisp::neighbor_alltoall: algorithm = ring is not one of straightforward, direct, torus, torus-direct, "
      "basis");
  EXPECT_EQ(error_of(cluster,
                     [&](Comm comm) -> Task<> {
                       std::vector<int> data(8);
                       co_await neighbor_alltoall(Neighborhood(comm, stencil), in_place(), Buffer(data));
                     }),
            "wisp::neighbor_alltoall: send cannot be MPI_IN_PLACE here");
  EXPECT_EQ(
      error_of(cluster,
               [&](Comm) -> Task<> { co_await neighbor_alltoall(Neighborhood(), ConstBuffer(), Buffer()); }),
      "wisp::neighbor_alltoall: the neighborhood is empty");
  EXPECT_THROW(Neighborhood().sources(), Error);
  EXPECT_THROW(Neighborhood().targets(), Error);
  EXPECT_THROW(Neighborhood().find_rank(0), Error);
  EXPECT_THROW(Neighborhood().check_operations(true), Error);
}

TEST(NeighborhoodTest, ACheckNamesTheFirstRankAndOffsetThatDifferOnEveryRank) {
  for (int p = 2; p <= 17; ++p) {
    for (const int odd : {1, p / 2, p - 1}) {
      int heard = 0;
      simulate(cluster_of(p, p), [&](Comm comm) -> Task<> {
        Offsets offsets = {{0, 1}, {1, 0}, {-1, 0}};
        if (comm.rank() >= odd) offsets = {{0, 1}, {0, 1}, {1, 0}};
        const Stencil stencil(Torus({p, 1}), offsets);
        bool is_caught = false;
        try {
          co_await Neighborhood::check(comm, stencil);
        } catch (const Error& error) {
          is_caught = true;
          EXPECT_EQ(error.what(),
                    fmt::format("wisp::Neighborhood::check: offsets[1] of rank {} is (0, 1), but that of "
                                "rank 0 is (1, 0)",
                                odd));
        }
        EXPECT_TRUE(is_caught);
        heard += is_caught ? 1 : 0;
      });
      EXPECT_EQ(heard, p);
    }
  }
}

TEST(NeighborhoodTest, ACheckNoticesListsOfDifferentLengthAndOtherTori) {
  const auto check_with = [](auto stencil_of) {
    return error_of(cluster_of(6, 2), [&](Comm comm) -> Task<> {
      co_await Neighborhood::check(comm, stencil_of(comm.rank()));
    });
  };
  EXPECT_EQ(check_with([](int rank) {
              return Stencil(Torus({6}), rank == 4 ? Offsets{{1}} : Offsets{{1}, {2}});
            }),
            "wisp::Neighborhood::check: rank 4 gives 1 offsets, but rank 0 gives 2; they differ from "
            "offsets[1] on");
  EXPECT_EQ(check_with([](int rank) { return Stencil(Torus({6}), rank != 0 ? Offsets{{1}} : Offsets(1)); }),
            "wisp::Neighborhood::check: rank 1 gives 1 offsets, but rank 0 gives 0; they differ from "
            "offsets[0] on");
  EXPECT_EQ(check_with([](int rank) {
              return Stencil(rank < 3 ? Torus({3, 2}) : Torus({2, 3}), Offsets(2));
            }),
            "wisp::Neighborhood::check: rank 3 gives another torus than rank 0");
  EXPECT_EQ(check_with([](int rank) { return Stencil(Torus({6}, {rank == 5 ? 0 : 1}), Offsets(1)); }),
            "wisp::Neighborhood::check: rank 5 gives another torus than rank 0");
  EXPECT_EQ(check_with([](int) { return Stencil(Torus({6}), Offsets{{1}}); }), "none");
}

TEST(NeighborhoodTest, ACheckNoticesBlocksOfDifferentSizesOnEveryRank) {
  int heard = 0;
  simulate(cluster_of(6, 0), [&](Comm comm) -> Task<> {
    Neighborhood on(comm, Stencil(Torus({2, 3}), moore(2, 1)));
    on.check_operations(true);
    std::vector<int> counts(8, 2);
    if (comm.rank() == 4) counts[5] = 3;
    NeighborData data(on, NeighborPattern::alltoall, counts, 1);
    bool is_caught = false;
    try {
      co_await neighbor_alltoallv(on, data.sent(), data.received());
    } catch (const Error& error) {
      is_caught = true;
      EXPECT_STREQ(error.what(),
                   "wisp::neighbor_alltoallv: block 5 of rank 4 has 24 bytes, but that of rank 0 has 16");
    }
    EXPECT_TRUE(is_caught);
    heard += is_caught ? 1 : 0;
    co_await exchange_regular(on, NeighborPattern::alltoall, {}, 2);
    co_await exchange_regular(on, NeighborPattern::allgather, {}, 2);
  });
  EXPECT_EQ(heard, 6);
}

TEST(NeighborhoodTest, WithCheckingOnEveryRankHearsOfWhatIsWrongOnOne) {
  // Each is wrong on rank 3 only, and by itself: nobody needs the others to see it.
  const Stencil stencil(Torus({2, 3}, {1, 0}), moore(2, 1));
  const auto hear = [&](const char* due, auto call) {
    int heard = 0;
    simulate(cluster_of(6, 0), [&](Comm comm) -> Task<> {
      Neighborhood on(comm, stencil);
      on.check_operations(true);
      std::string sentence;
      try {
        co_await call(on);
      } catch (const Error& error) {
        sentence = error.what();
      }
      EXPECT_EQ(sentence, due);
      heard += sentence.empty() ? 0 : 1;
      co_await exchange_regular(on, NeighborPattern::alltoall, {}, 1);
    });
    EXPECT_EQ(heard, 6);
  };
  hear("wisp::neighbor_alltoall: block 0 of receive has 8 bytes, but that of send has 4 (on rank 3)",
       [](const Neighborhood& on) -> Task<> {
         const std::vector<int> send(8);
         std::vector<int> receive(on.comm().rank() == 3 ? 16 : 8);
         co_await neighbor_alltoall(on, send, Buffer(receive));
       });
  hear("wisp::neighbor_allgather: receive has 9 elements, not a multiple of 8 neighbors (on rank 3)",
       [](const Neighborhood& on) -> Task<> {
         const std::vector<int> send(1);
         std::vector<int> receive(on.comm().rank() == 3 ? 9 : 8);
         co_await neighbor_allgather(on, send, Buffer(receive));
       });
}

TEST(NeighborhoodTest, ACheckNoticesThatARankHasNoNeighborsAtAll) {
  int heard = 0;
  simulate(cluster_of(4, 0), [&](Comm comm) -> Task<> {
    Neighborhood on(comm, Stencil(Torus({4}), comm.rank() == 2 ? Offsets(1) : Offsets{{1}, {2}}));
    on.check_operations(true);
    std::vector<int> data(static_cast<std::size_t>(on.size()));
    std::string sentence;
    try {
      co_await neighbor_alltoall(on, data, Buffer(data));
    } catch (const Error& error) {
      sentence = error.what();
    }
    EXPECT_EQ(sentence, "wisp::neighbor_alltoall: rank 2 has 0 blocks, but rank 0 has 2");
    ++heard;
  });
  EXPECT_EQ(heard, 4);
}

TEST(NeighborhoodTest, MoreKindsOfCallsThanAreKeptWorkAllTheSame) {
  simulate(cluster_of(6, 0), [](Comm comm) -> Task<> {
    const Neighborhood on(comm, Stencil(Torus({2, 3}), moore(2, 1)));
    for (int repeat = 0; repeat < 2; ++repeat) {
      for (int count = 0; count < 40; ++count) {
        co_await exchange_regular(on, NeighborPattern::alltoall, {}, count);
        co_await exchange_regular(on, NeighborPattern::allgather, {}, count);
      }
    }
  });
}

TEST(NeighborhoodTest, OperationsInFlightThatAlternateBuffersHaveScratchMemoryOfTheirOwn) {
  simulate(cluster_of(12, 3), [](Comm comm) -> Task<> {
    const Neighborhood on(comm, Stencil(Torus({4, 3}), moore(2, 2)));
    const NeighborOptions options{{}, "torus", 1, NeighborCopying::datatypes};
    NeighborData data(on, NeighborPattern::alltoall, equal_counts(on, 2), 0);
    NeighborData other(on, NeighborPattern::alltoall, equal_counts(on, 2), 0);
    for (int repeat = 0; repeat < 3; ++repeat) {
      Request first = on.ineighbor_alltoall(data.send, Buffer(data.receive), options);
      Request second = on.ineighbor_alltoall(data.send, Buffer(other.receive), options);
      co_await first;
      co_await second;
      for (NeighborData* one : {&data, &other}) {
        EXPECT_EQ(one->receive, one->expected(on, NeighborPattern::alltoall));
        std::fill(one->receive.begin(), one->receive.end(), test::untouched);
      }
    }
  });
}

TEST(NeighborhoodTest, WithoutDimensionsEveryBlockIsOnesOwn) {
  simulate(cluster_of(1, 0), [](Comm comm) -> Task<> {
    Offsets offsets(0);
    for (int i = 0; i < 3; ++i) offsets.add({});
    const Neighborhood on(comm, Stencil(Torus(), offsets));
    EXPECT_EQ(on.size(), 3);
    EXPECT_EQ(on.find_offset({}), 0);
    for (const NeighborOptions& options : all_options()) {
      co_await exchange_regular(on, NeighborPattern::alltoall, options, 2);
      co_await exchange_regular(on, NeighborPattern::allgather, options, 2);
    }
    co_await Neighborhood::check(comm, on.stencil());
  });
}

TEST(NeighborhoodTest, ALongRingIsNoReasonToCountItsHops) {
  // Hop by hop, these blocks would be moved 16 million times.
  Offsets offsets(1);
  for (int c = 1; c < 8000; ++c) offsets.add(std::vector<int>{c});
  const Stencil stencil(Torus({8000}), offsets);
  simulate(cluster_of(8000, 0), [&](Comm comm) -> Task<> {
    if (comm.rank() == 0) {
      const Neighborhood on(comm, stencil);
      EXPECT_NE(on.chosen(NeighborPattern::alltoall, 8), "torus");
    }
    co_return;
  });
}

TEST(NeighborhoodTest, AHandleTellsWhatItWasMadeOf) {
  simulate(cluster_of(6, 0), [](Comm comm) -> Task<> {
    const Neighborhood on(comm, Stencil(Torus({2, 3}, {0, 1}), Offsets{{1, 0}, {0, -1}, {0, 2}}, {5, 6, 7}));
    EXPECT_EQ(on.size(), 3);
    EXPECT_EQ(on.stencil().weights(), (std::vector<int>{5, 6, 7}));
    EXPECT_EQ(on.stencil().offsets(), (Offsets{{1, 0}, {0, -1}, {0, 2}}));
    const int row = comm.rank() / 3;
    const int column = comm.rank() % 3;
    EXPECT_EQ(on.targets()[0], row == 0 ? comm.rank() + 3 : MPI_PROC_NULL);
    EXPECT_EQ(on.sources()[0], row == 1 ? comm.rank() - 3 : MPI_PROC_NULL);
    EXPECT_EQ(on.targets()[1], row * 3 + (column + 2) % 3);
    EXPECT_EQ(on.targets()[2], on.targets()[1]);
    EXPECT_EQ(on.find_rank(on.targets()[2]), 1);
    EXPECT_EQ(on.find_rank(comm.rank()), -1);
    EXPECT_EQ(on.find_offset(std::vector<int>{0, 5}), 1);
    EXPECT_EQ(on.find_offset(std::vector<int>{-1, 0}), -1);
    EXPECT_EQ(on.shift(std::vector<int>{0, 1}).target, row * 3 + (column + 1) % 3);
    const std::string text = on.describe(NeighborPattern::alltoall, 8);
    EXPECT_NE(text.find(fmt::format("alltoall of 3 blocks of 8 bytes on 2 x 3: {}",
                                    on.chosen(NeighborPattern::alltoall, 8))),
              std::string::npos)
        << text;
    co_return;
  });
}

TEST(NeighborhoodTest, ThousandsOfRanksCombineMessages) {
  const Stencil stencil(Torus({16, 16, 16}), moore(3, 1));
  SimulationOptions cluster = cluster_of(4096, 0);
  cluster.overhead = 2e-6;
  cluster.latency = 1e-6;
  const auto seconds_of = [&](std::string_view name) {
    return simulate(cluster,
                    [&](Comm comm) -> Task<> {
                      co_await exchange_regular(Neighborhood(comm, stencil), NeighborPattern::alltoall,
                                                {{}, name}, 1);
                    })
        .seconds;
  };
  EXPECT_LT(3 * seconds_of({}), seconds_of("straightforward"));
}

}  // namespace
}  // namespace wisp
