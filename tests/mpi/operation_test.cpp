// An operation is a value: nothing happens before it is run, started, made persistent or awaited.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "wisp/chain.hpp"
#include "wisp/collectives.hpp"
#include "wisp/comm.hpp"
#include "wisp/error.hpp"
#include "wisp/wisp.h"
#include "world.hpp"

namespace wisp {
namespace {

using test::world;

TEST(OperationTest, MayBeDroppedOnOneRank) {
  const Comm comm = world();
  int sum = 0;
  int one = 1;
  if (comm.rank() == 0) {
    for (int i = 0; i < 10; ++i)
      std::optional<Operation>(allreduce(comm, buffer_of(one), buffer_of(sum), MPI_SUM)).reset();
  }
  comm.allreduce(buffer_of(one), buffer_of(sum), MPI_SUM);
  EXPECT_EQ(sum, comm.size());
}

TEST(OperationTest, RunsAndStartsAgain) {
  const Comm comm = world();
  int sum = 0;
  int mine = 1;
  Operation operation = allreduce(comm, buffer_of(std::as_const(mine)), buffer_of(sum), MPI_SUM);
  for (mine = 1; mine < 4; ++mine) {
    operation.run();
    EXPECT_EQ(sum, mine * comm.size());
    sum = 0;
    operation.start().wait();
    EXPECT_EQ(sum, mine * comm.size());
  }
  sum = 0;
  comm.run(Task<>(operation));
  EXPECT_EQ(sum, mine * comm.size());
  sum = 0;
  const Operation moved = std::move(operation);
  moved.run();
  EXPECT_EQ(sum, mine * comm.size());
}

TEST(OperationTest, TakesItsPlaceInTheOrderWhenItStarts) {
  const Comm comm = world();
  int first = comm.rank() == 0 ? 1 : 0;
  int second = comm.rank() == 0 ? 2 : 0;
  // Made in one order, started in another; on odd ranks they are made the other way round.
  std::vector<Operation> operations;
  const bool turned = comm.rank() % 2 == 1;
  if (turned) operations.push_back(bcast(comm, buffer_of(second), 0));
  operations.push_back(bcast(comm, buffer_of(first), 0));
  if (!turned) operations.push_back(bcast(comm, buffer_of(second), 0));
  Request of_second = operations[turned ? 0 : 1].start();
  operations[turned ? 1 : 0].run();
  of_second.wait();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 2);
}

TEST(OperationTest, OfAnyKindIsPersistent) {
  const Comm comm = world();
  const Chain chain(comm);
  int sum = 0;
  int mine = 0;
  Request on_comm = scan(comm, buffer_of(std::as_const(mine)), buffer_of(sum), MPI_SUM).persistent();
  Request on_chain = scan(chain, buffer_of(std::as_const(mine)), buffer_of(sum), MPI_SUM).persistent();
  for (mine = 1; mine < 4; ++mine) {
    for (Request* request : {&on_comm, &on_chain}) {
      sum = 0;
      request->start();
      request->wait();
      EXPECT_EQ(sum, mine * (comm.rank() + 1));
    }
  }
}

TEST(OperationTest, KeepsDatatypesOfWhatHasStarted) {
  const Comm comm = world();
  std::vector<double> data(6, comm.rank() == 0 ? 3.0 : 0.0);
  MPI_Datatype pairs = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_DOUBLE, &pairs);
  MPI_Type_commit(&pairs);
  Operation operation = bcast(comm, {data.data(), 3, pairs}, 0);
  Request request = operation.start();
  MPI_Type_free(&pairs);
  request.wait();
  EXPECT_EQ(data, std::vector<double>(6, 3.0));
  // The operation holds what its first start has kept.
  if (comm.rank() > 0) data.assign(6, 0.0);
  operation.start().wait();
  EXPECT_EQ(data, std::vector<double>(6, 3.0));
}

TEST(OperationTest, FindsOutNothingForLaterRunsUnlessItIsPersistent) {
  const Comm comm = world();
  const int mine = comm.rank();
  const std::vector<int> counts(static_cast<std::size_t>(comm.size()), 1);
  std::vector<int> all(counts.size());
  std::vector<int> expected(counts.size());
  std::iota(expected.begin(), expected.end(), 0);
  for (const std::string_view algorithm : {"led", "tree"}) {
    // The last rank makes it anew for each run.
    const Operation kept = gatherv(comm, buffer_of(mine), {all, counts}, 0, {.algorithm = algorithm});
    for (int run = 0; run < 3; ++run) {
      std::fill(all.begin(), all.end(), -1);
      if (comm.rank() == comm.size() - 1) {
        comm.gatherv(buffer_of(mine), {all, counts}, 0, {.algorithm = algorithm});
      } else {
        kept.run();
      }
      if (comm.rank() == 0) {
        EXPECT_EQ(all, expected) << algorithm;
      }
    }
  }
}

/// All ranks come to the end, so that nothing of it is left for a later one.
TEST(OperationTest, AFunctionThatThrowsDoesNoHarmToTheNextRun) {
  const Comm comm = world();
  const int p = comm.size();
  bool throws = true;
  const auto add = Operator::on<long>([&](long a, long b) {
    if (throws) throw 7;
    return a + b;
  });
  long value = 0, sum = 0;
  const ConstBuffer from = item(std::as_const(value));
  std::vector<Request> requests;
  const std::string_view of_functions[] = {"binomial", "radix_4", "radix_32", "ordered", "fixed_order", ""};
  for (const std::string_view name : of_functions)
    requests.push_back(comm.reduce_init(from, item(sum), add, 0, {.algorithm = name}));
  const std::size_t reductions = requests.size();
  for (const std::string_view name : {"recursive_doubling", "tree", "fixed_order", ""})
    requests.push_back(comm.allreduce_init(from, item(sum), add, {.algorithm = name}));
  requests.push_back(Chain(comm).allreduce_init(from, item(sum), add));
  for (Request& request : requests) {
    throws = comm.rank() == 0;
    for (int run = 0; run < 4; ++run) {
      value = comm.rank() + 100 * run;
      const bool is_reduce = &request < &requests[reductions];
      try {
        request.start();
        request.wait();
        if (run > 0 && (comm.rank() == 0 || !is_reduce)) {
          EXPECT_EQ(sum, p * (p - 1) / 2 + 100 * run * p);
        }
      } catch (int thrown) {
        EXPECT_EQ(thrown, 7);
        EXPECT_EQ(run, 0);
        EXPECT_GT(p, 1);
      }
      comm.barrier();
      throws = false;
    }
  }
  std::vector<int> mine = {1}, all(static_cast<std::size_t>(p));
  const auto merge = [&](void*, void*, void*, void*, void*) { throw 8; };
  try {
    comm.gatherm(mine, all, 0, merge);
    EXPECT_TRUE(comm.rank() > 0 || p == 1);
  } catch (int thrown) {
    EXPECT_EQ(thrown, 8);
  }
}

bool operator_throws = false;

void throw_or_add(void* left, void* right, int* count, MPI_Datatype*) {
  if (operator_throws) throw 9;
  for (int i = 0; i < *count; ++i) static_cast<int*>(right)[i] += static_cast<const int*>(left)[i];
}

TEST(OperationTest, AnOperatorOfMpiThatThrowsDoesNoHarmToTheNextRun) {
  const Comm comm = world();
  const Chain chain(comm);
  MPI_Op add = MPI_OP_NULL;
  MPI_Op_create(throw_or_add, 1, &add);
  const int one = 1;
  for (const bool throws : {true, false}) {
    for (int call = 0; call < 3; ++call) {
      operator_throws = throws && comm.rank() == 0;
      int sum = 0;
      try {
        if (call == 0) comm.allreduce(buffer_of(one), buffer_of(sum), add);
        if (call == 1) comm.reduce(buffer_of(one), buffer_of(sum), add, 0);
        if (call == 2) chain.scan(buffer_of(one), buffer_of(sum), add);
        const int due = call == 2 ? comm.rank() + 1 : comm.size();
        EXPECT_TRUE(sum == due || throws || (call == 1 && comm.rank() > 0)) << call;
      } catch (int thrown) {
        EXPECT_EQ(thrown, 9);
        EXPECT_TRUE(throws);
      }
    }
  }
  // The C interface lets nothing out.
  WISP_Comm in_c = WISP_COMM_NULL;
  ASSERT_EQ(WISP_Comm_duplicate(MPI_COMM_WORLD, &in_c), MPI_SUCCESS);
  operator_throws = true;
  int sum = 0;
  const int error = WISP_Allreduce(&one, &sum, 1, MPI_INT, add, in_c);
  EXPECT_TRUE(error == MPI_ERR_OTHER || (error == MPI_SUCCESS && comm.size() != 2));
  if (error != MPI_SUCCESS) {
    EXPECT_STREQ(WISP_Error_message(),
                 "WISP_Allreduce: a function of the program has thrown what is no std::exception");
  }
  WISP_Comm_free(&in_c);
  MPI_Op_free(&add);
}

TEST(OperationTest, OfAnOperatorThatIsNothingIsAnError) {
  const Comm comm = world();
  int sum = 0;
  int one = 1;
  for (const Operator& nothing : {Operator::on_whole_vectors(MPI_OP_NULL), Operator::on_bytes({}),
                                  Operator::on<int>(std::function<int(int, int)>())}) {
    EXPECT_THROW(comm.allreduce(buffer_of(one), buffer_of(sum), nothing), Error);
  }
  // One that cannot be copied, and changes.
  const auto count = Operator::on<int>([calls = std::make_unique<int>(0), again = 0](int a, int b) mutable {
    return a + b + ++again * *calls;
  });
  comm.allreduce(item(std::as_const(one)), item(sum), count);
  EXPECT_EQ(sum, comm.size());
}

TEST(OperationTest, OfAnEmptyCommunicatorIsAnError) {
  Comm moved = world();
  const Comm other = std::move(moved);
  const Chain chain;
  int value = 0;
  EXPECT_THROW(moved.barrier(), Error);  // NOLINT(bugprone-use-after-move)
  EXPECT_THROW(chain.bcast(buffer_of(value), 0), Error);
  other.barrier();
}

TEST(OperationTest, ChecksArgumentsWhenItIsMade) {
  const Comm comm = world();
  int value = 0;
  try {
    std::optional<Operation>(bcast(comm, buffer_of(value), comm.size()));
    ADD_FAILURE() << "an operation with a wrong root";
  } catch (const Error& error) {
    EXPECT_EQ(error.error_class(), MPI_ERR_ROOT);
  }
}

}  // namespace
}  // namespace wisp
