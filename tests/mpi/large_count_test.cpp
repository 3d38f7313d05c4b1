#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>

#include "effort.hpp"
#include "wisp/collectives.hpp"
#include "wisp/wisp.h"

namespace wisp {
namespace {

bool all_have_memory(const Comm& comm, double bytes) {
  const double free_here =
      static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  const int enough = free_here > bytes * comm.size() ? 1 : 0;
  int all = 0;
  comm.allreduce(buffer_of(enough), buffer_of(all), MPI_MIN);
  return all != 0;
}

/// More than 2 GiB and more than 2^31 elements in one message, once.
TEST(LargeCountTest, OneTransferOfMoreThanTwoGibibytes) {
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  if (comm.size() != 2) GTEST_SKIP() << "two ranks are enough";
  if (test::is_quick()) GTEST_SKIP() << "takes ten seconds";
  constexpr std::size_t count = (std::size_t{1} << 31) + 4099;
  if (!all_have_memory(comm, 2.5 * count)) GTEST_SKIP() << "needs more memory";
  const std::unique_ptr<char[]> data(new char[count]());
  if (comm.rank() == 0) {
    data[0] = 1;
    data[count / 2] = 2;
    data[count - 1] = 3;
  }
  comm.bcast({data.get(), count, MPI_CHAR}, 0, {.algorithm = "binomial"});
  EXPECT_EQ(data[0], 1);
  EXPECT_EQ(data[count / 2], 2);
  EXPECT_EQ(data[count - 1], 3);
  // And by the C form with MPI_Count, the status saying how much.
  WISP_Comm c_comm = WISP_COMM_NULL;
  ASSERT_EQ(WISP_Comm_duplicate(MPI_COMM_WORLD, &c_comm), MPI_SUCCESS);
  const auto c_count = static_cast<MPI_Count>(count);
  if (comm.rank() == 0) {
    data[7] = 9;
    EXPECT_EQ(WISP_Send_c(data.get(), c_count, MPI_CHAR, 1, 5, c_comm), MPI_SUCCESS);
  } else {
    MPI_Status status;
    EXPECT_EQ(WISP_Recv_c(data.get(), c_count, MPI_CHAR, 0, 5, c_comm, &status), MPI_SUCCESS);
    MPI_Count elements = 0;
    MPI_Get_elements_x(&status, MPI_CHAR, &elements);
    EXPECT_EQ(elements, c_count);
    EXPECT_EQ(data[7], 9);
  }
  EXPECT_EQ(WISP_Comm_free(&c_comm), MPI_SUCCESS);
}

}  // namespace
}  // namespace wisp
