#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "clusters.hpp"
#include "effort.hpp"
#include "wisp/collectives.hpp"
#include "wisp/simulate.hpp"

namespace wisp {
namespace {

/// An operator that counts the elements it was given.
std::uint64_t joined_elements = 0;
void count_elements(void*, void*, int* count, MPI_Datatype*) {
  joined_elements += static_cast<std::uint64_t>(*count);
}

/// Elements that take no room, so that there can be more than 2^31 of them: of no bytes at all, or of many
/// bytes that all lie in the same place.
class WeightlessType {
 public:
  explicit WeightlessType(int bytes) {
    MPI_Datatype contiguous = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(bytes, MPI_CHAR, &contiguous);
    MPI_Type_create_resized(contiguous, 0, 0, &type_);
    MPI_Type_commit(&type_);
    MPI_Type_free(&contiguous);
    MPI_Op_create(count_elements, 1, &op_);
  }
  ~WeightlessType() {
    MPI_Op_free(&op_);
    MPI_Type_free(&type_);
  }
  WeightlessType(const WeightlessType&) = delete;
  WeightlessType& operator=(const WeightlessType&) = delete;

  MPI_Datatype type() const { return type_; }
  MPI_Op op() const { return op_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op op_ = MPI_OP_NULL;
};

using test::cluster_of;

constexpr std::size_t many = (std::size_t{1} << 31) + 12;  // a multiple of 2 and 4

TEST(LargeCountTest, ReductionsJoinMoreThanTwoBillionElements) {
  const WeightlessType nothing(0);
  char memory[4] = {};
  const ConstBuffer send(memory, many, nothing.type());
  const Buffer receive(memory + 1, many, nothing.type());
  const Buffer block(memory + 2, many / 2, nothing.type());
  const auto elements_joined_by = [&](const std::function<Task<>(Comm)>& program) {
    joined_elements = 0;
    simulate(cluster_of(2), program);
    return joined_elements;
  };
  for (const std::string_view algorithm : algorithms_of("reduce")) {
    EXPECT_EQ(elements_joined_by([&](Comm comm) -> Task<> {
                co_await reduce(comm, send, receive, nothing.op(), 0, {.algorithm = algorithm});
              }),
              many)
        << algorithm;
  }
  for (const std::string_view algorithm : algorithms_of("allreduce")) {
    const std::uint64_t joined = elements_joined_by([&](Comm comm) -> Task<> {
      co_await allreduce(comm, send, receive, nothing.op(), {.algorithm = algorithm});
    });
    EXPECT_TRUE(joined == many || joined == 2 * many) << algorithm << ": " << joined;
  }
  for (const std::string_view algorithm : algorithms_of("scan")) {
    EXPECT_GE(elements_joined_by([&](Comm comm) -> Task<> {
                co_await scan(comm, send, receive, nothing.op(), {.algorithm = algorithm});
              }),
              many)
        << algorithm;
    elements_joined_by([&](Comm comm) -> Task<> {
      co_await exscan(comm, send, receive, nothing.op(), {.algorithm = algorithm});
    });
  }
  for (const std::string_view algorithm : algorithms_of("scan_and_bcast")) {
    EXPECT_GE(elements_joined_by([&](Comm comm) -> Task<> {
                co_await scan_and_bcast(comm, send, receive, receive, nothing.op(), {.algorithm = algorithm});
              }),
              many)
        << algorithm;
  }
  const std::vector<std::int64_t> counts(2, many / 2);
  EXPECT_GE(elements_joined_by([&](Comm comm) -> Task<> {
              co_await reduce_scatter(comm, send, block, counts, nothing.op());
              co_await reduce_scatter_block(comm, send, block, nothing.op());
            }),
            2 * many);
}

TEST(LargeCountTest, CountsOfMoreThanTwoBillionPassEveryOtherCollective) {
  const WeightlessType nothing(0);
  char memory[4] = {};
  const ConstBuffer send(memory, many, nothing.type());
  const Buffer one(memory + 1, many, nothing.type());
  const Buffer all(memory + 2, 2 * many, nothing.type());
  const std::vector<std::int64_t> counts(2, many), places = {0, many};
  simulate(cluster_of(2), [&](Comm comm) -> Task<> {
    const Blocks blocks(memory + 2, counts, places, nothing.type());
    const ConstBlocks const_blocks(memory + 2, counts, places, nothing.type());
    co_await bcast(comm, one, 1);
    co_await gather(comm, send, all, 0);
    for (const std::string_view algorithm : algorithms_of("gatherv")) {
      co_await gatherv(comm, send, blocks, 0, {.algorithm = algorithm});
    }
    co_await allgather(comm, send, all);
    co_await allgatherv(comm, send, blocks);
    co_await scatter(comm, all, one, 1);
    for (const std::string_view algorithm : algorithms_of("scatterv")) {
      co_await scatterv(comm, const_blocks, one, 1, {.algorithm = algorithm});
    }
    co_await alltoall(comm, all, all);
    co_await alltoallv(comm, const_blocks, blocks);
  });
}

TEST(LargeCountTest, MessagesOfMoreThanTwoGibibytesArriveWhole) {
  if (test::is_quick()) GTEST_SKIP() << "takes half a minute";
  constexpr double needed = 14e9;
  const double free_here =
      static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (free_here < needed || std::getenv("WISP_TEST_SEEDS") != nullptr) GTEST_SKIP() << "needs more memory";
  constexpr int block = 1 << 16;
  constexpr std::size_t count = (std::size_t{1} << 15) + 1;  // 2 GiB and 64 KiB
  const WeightlessType heavy(block);
  std::vector<char> out(block, 'x');
  const auto expect_two_gibibytes = [&](const char* name,
                                        const std::function<Task<>(Comm, Buffer)>& program) {
    std::vector<char> in[2] = {std::vector<char>(block), std::vector<char>(block)};
    const SimulationReport report = simulate(cluster_of(2), [&](Comm comm) -> Task<> {
      auto& mine = in[comm.rank()];
      co_await program(comm, {mine.data(), count, heavy.type()});
    });
    EXPECT_GE(report.bytes, count * block) << name;
    EXPECT_EQ(in[0], out) << name;
  };
  const ConstBuffer send(out.data(), count, heavy.type());
  const Buffer all(out.data(), 2 * count, heavy.type());
  const std::vector<std::int64_t> counts(2, count), places(2, 0);
  expect_two_gibibytes("bcast", [&](Comm comm, Buffer in) -> Task<> {
    co_await bcast(comm, comm.rank() == 1 ? Buffer(out.data(), count, heavy.type()) : in, 1);
  });
  for (const std::string_view algorithm : {"direct", "led", "tree"}) {
    expect_two_gibibytes("gatherv", [&](Comm comm, Buffer in) -> Task<> {
      co_await gatherv(comm, send, Blocks(in.address, counts, places, heavy.type()), 0,
                       {.algorithm = algorithm});
    });
  }
  expect_two_gibibytes("scatter",
                       [&](Comm comm, Buffer in) -> Task<> { co_await scatter(comm, all, in, 1); });
}

}  // namespace
}  // namespace wisp
