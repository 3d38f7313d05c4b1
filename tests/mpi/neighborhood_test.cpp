// Neighborhood collectives on real ranks: every schedule and face, against what each rank can say its
// neighbors have sent. (MPI libraries do not agree with each other where two neighbors are one process.)

#include "wisp/neighborhood.hpp"
#include "world.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "stencils.hpp"

namespace wisp {
namespace {

using test::NeighborData;
using test::random_stencil;

constexpr NeighborPattern patterns[] = {NeighborPattern::alltoall, NeighborPattern::allgather};

using test::world;

std::vector<NeighborOptions> all_options() {
  std::vector<NeighborOptions> all = {{}};
  for (const std::string_view name : schedule_names()) {
    for (const NeighborCopying copying : {NeighborCopying::pack, NeighborCopying::datatypes}) {
      all.push_back({{}, name, copying == NeighborCopying::pack ? 0 : 1, copying});
    }
  }
  return all;
}

std::vector<int> some_counts(const Neighborhood& on, NeighborPattern pattern, int scale) {
  std::vector<int> counts(static_cast<std::size_t>(on.size()), 3 * scale);
  if (pattern == NeighborPattern::alltoall) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = static_cast<int>(i * i % 5) * scale;
  }
  return counts;
}

/// All faces of the operations with v, and of those without.
void exchange(const Neighborhood& on, NeighborPattern pattern, const NeighborOptions& options, int scale) {
  NeighborData irregular(on, pattern, some_counts(on, pattern, scale), 2);
  NeighborData regular(on, pattern, std::vector<int>(static_cast<std::size_t>(on.size()), scale), 0);
  const ConstBuffer own = on.size() == 0 ? ConstBuffer() : irregular.own_block();
  const ConstBuffer regular_own = on.size() == 0 ? ConstBuffer() : regular.own_block();
  const bool is_alltoall = pattern == NeighborPattern::alltoall;
  const auto expect_right = [&](const char* face) {
    EXPECT_EQ(irregular.receive, irregular.expected(on, pattern)) << face << " " << options.algorithm;
    EXPECT_EQ(regular.receive, regular.expected(on, pattern)) << face << " " << options.algorithm;
    std::fill(irregular.receive.begin(), irregular.receive.end(), test::untouched);
    std::fill(regular.receive.begin(), regular.receive.end(), test::untouched);
  };
  if (is_alltoall) {
    on.neighbor_alltoallv(irregular.sent(), irregular.received(), options);
    on.neighbor_alltoall(regular.send, Buffer(regular.receive), options);
  } else {
    on.neighbor_allgatherv(own, irregular.received(), options);
    on.neighbor_allgather(regular_own, Buffer(regular.receive), options);
  }
  expect_right("blocking");

  // Both in flight at once, on one neighborhood.
  Request requests[2];
  if (is_alltoall) {
    requests[0] = on.ineighbor_alltoallv(irregular.sent(), irregular.received(), options);
    requests[1] = on.ineighbor_alltoall(regular.send, Buffer(regular.receive), options);
  } else {
    requests[0] = on.ineighbor_allgatherv(own, irregular.received(), options);
    requests[1] = on.ineighbor_allgather(regular_own, Buffer(regular.receive), options);
  }
  wait_all(requests);
  expect_right("nonblocking");

  if (is_alltoall) {
    requests[0] = on.neighbor_alltoallv_init(irregular.sent(), irregular.received(), options);
    requests[1] = on.neighbor_alltoall_init(regular.send, Buffer(regular.receive), options);
  } else {
    requests[0] = on.neighbor_allgatherv_init(own, irregular.received(), options);
    requests[1] = on.neighbor_allgather_init(regular_own, Buffer(regular.receive), options);
  }
  for (int run = 0; run < 2; ++run) {
    start_all(requests);
    wait_all(requests);
    expect_right("persistent");
  }
}

TEST(NeighborhoodTest, EveryScheduleBringsEveryBlockOnTheRightSide) {
  std::mt19937 random(21);
  for (int k = 0; k < 8; ++k) {
    const Neighborhood on(world(), random_stencil(random, world().size()));
    for (const NeighborOptions& options : all_options()) {
      for (const NeighborPattern pattern : patterns) exchange(on, pattern, options, 1);
    }
  }
}

TEST(NeighborhoodTest, LongBlocksArriveToo) {
  const Neighborhood on(world(), Stencil(Torus({world().size()}), Offsets{{-1}, {1}, {2}, {-1}, {0}}));
  for (const NeighborOptions& options : all_options()) {
    for (const NeighborPattern pattern : patterns) exchange(on, pattern, options, 20'000);
  }
}

TEST(NeighborhoodTest, BothNeighborsMayBeTheSameProcess) {
  // MPI 4.0, section 8.6: what goes to the left comes from the right, with 1 and 2 ranks in a dimension too.
  const Comm all = world();
  for (const int p : {1, 2}) {
    if (all.size() < p) continue;
    const Comm few = all.range(0, p - 1);
    if (!few.is_member()) continue;
    const Neighborhood on(few, Stencil(Torus({p}), Offsets{{-1}, {1}}));
    for (const NeighborOptions& options : all_options()) {
      const std::vector<int> send = {10 * few.rank() + 1, 10 * few.rank() + 2};
      std::vector<int> receive(2);
      on.neighbor_alltoall(send, Buffer(receive), options);
      const int other = p - 1 - few.rank();
      EXPECT_EQ(receive, (std::vector<int>{10 * other + 1, 10 * other + 2}));
    }
  }
}

TEST(NeighborhoodTest, ACartesianCommunicatorGivesItsTorus) {
  const int size = world().size();
  int dims[] = {0, 0};
  MPI_Dims_create(size, 2, dims);
  const int periods[] = {1, 0};
  MPI_Comm cart = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
  {
    const Neighborhood on = Neighborhood::of_cart(cart, von_neumann(2, 1));
    EXPECT_EQ(on.torus(), Torus({dims[0], dims[1]}, {1, 0}));
    for (int j = 0; j < 2; ++j) {
      int source = 0;
      int target = 0;
      MPI_Cart_shift(cart, j, 1, &source, &target);
      std::vector<int> offset(2);
      offset[static_cast<std::size_t>(j)] = 1;
      EXPECT_EQ(on.shift(offset).source, source);
      EXPECT_EQ(on.shift(offset).target, target);
      EXPECT_EQ(on.targets()[static_cast<std::size_t>(on.find_offset(offset))], target);
    }
    for (int rank = 0; rank < size; ++rank) {
      int coordinates[2];
      MPI_Cart_coords(cart, rank, 2, coordinates);
      EXPECT_EQ(on.torus().coordinates(rank), (std::vector<int>{coordinates[0], coordinates[1]}));
    }
    for (const NeighborPattern pattern : patterns) exchange(on, pattern, {}, 2);
  }
  EXPECT_THROW(Neighborhood::of_cart(MPI_COMM_WORLD, von_neumann(2, 1)), Error);
  MPI_Comm_free(&cart);
}

TEST(NeighborhoodTest, WithCheckingOnEveryRankHearsOfAListThatDiffers) {
  const Comm all = world();
  if (all.size() < 2) GTEST_SKIP();
  setenv("WISP_CHECK", "1", 1);
  const int odd = all.size() / 2;
  const Offsets offsets = all.rank() == odd ? Offsets{{1}, {3}} : Offsets{{1}, {2}};
  try {
    const Neighborhood on = Neighborhood::create(all, Stencil(Torus({all.size()}), offsets));
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(),
              fmt::format(
                  "wisp::Neighborhood::check: offsets[1] of rank {} is (3), but that of rank 0 is (2)", odd));
  }
  const Neighborhood same = Neighborhood::create(all, Stencil(Torus({all.size()}), Offsets{{1}}));
  const std::vector<int> send(static_cast<std::size_t>(all.rank() == odd ? 3 : 2), 1);
  std::vector<int> receive(send.size());
  try {
    same.neighbor_alltoall(send, Buffer(receive));
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(),
              fmt::format(
                  "wisp::neighbor_alltoall: block 0 of rank {} has 12 bytes, but that of rank 0 has 8", odd));
  }
  unsetenv("WISP_CHECK");
  all.barrier();
}

TEST(NeighborhoodTest, FacesOfAnArrayGoStraightToAndFromIt) {
  // A plane of a three-dimensional array is no contiguous block.
  const Comm all = world();
  constexpr int n = 4;
  constexpr int with_border = n + 2;
  const int sizes[] = {with_border, with_border, with_border};
  const int face[] = {n, n, 1};
  const auto make_face = [&](int start) {
    const int starts[] = {1, 1, start};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_subarray(3, sizes, face, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
  };
  const Neighborhood on(all, Stencil(Torus({all.size()}, {0}), Offsets{{1}, {-1}}));
  const auto expect_exchange = [&](const NeighborOptions& options, bool is_persistent) {
    std::vector<double> array(with_border * with_border * with_border, -1);
    const auto at = [&](int x, int y, int z) -> double& {
      return array[static_cast<std::size_t>((x * with_border + y) * with_border + z)];
    };
    for (int x = 1; x <= n; ++x) {
      for (int y = 1; y <= n; ++y) {
        for (int z = 1; z <= n; ++z) at(x, y, z) = 1000 * all.rank() + 100 * x + 10 * y + z;
      }
    }
    {
      Request request;
      {
        // Neither arrays nor datatypes are needed once the operation has started or is persistent.
        std::vector<MPI_Datatype> sent = {make_face(n), make_face(1)};
        std::vector<MPI_Datatype> received = {make_face(0), make_face(n + 1)};
        const std::vector<int> counts = {1, 1};
        const std::vector<MPI_Aint> places = {0, 0};
        Operation operation = neighbor_alltoallw(on, ConstBlocks(array.data(), counts, places, sent),
                                                 Blocks(array.data(), counts, places, received), options);
        request = is_persistent ? std::move(operation).persistent() : operation.start();
        for (std::vector<MPI_Datatype>* types : {&sent, &received}) {
          for (MPI_Datatype& type : *types) MPI_Type_free(&type);
        }
      }
      if (is_persistent) request.start();
      request.wait();
    }
    for (int x = 1; x <= n; ++x) {
      for (int y = 1; y <= n; ++y) {
        const double before = all.rank() == 0 ? -1 : 1000 * (all.rank() - 1) + 100 * x + 10 * y + n;
        const double behind =
            all.rank() == all.size() - 1 ? -1 : 1000 * (all.rank() + 1) + 100 * x + 10 * y + 1;
        EXPECT_EQ(at(x, y, 0), before);
        EXPECT_EQ(at(x, y, n + 1), behind);
      }
    }
  };
  for (const NeighborOptions& options : all_options()) {
    expect_exchange(options, false);
    expect_exchange(options, true);
  }
}

}  // namespace
}  // namespace wisp
