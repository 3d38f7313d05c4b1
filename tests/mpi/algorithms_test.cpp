#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "wisp/collectives.hpp"

// Every named algorithm on real ranks, with short and long vectors, beside MPI's result.

namespace wisp {
namespace {

class NamedAlgorithmsTest : public testing::Test {
 protected:
  /// `native(in, out, n)` and `named(in, out, options)` for vectors of `blocks_in` and `blocks_out` times n.
  void compare(const std::string& operation, int blocks_in, int blocks_out,
               const std::function<void(const double*, double*, int)>& native,
               const std::function<Request(const std::vector<double>&, std::vector<double>&,
                                           const CollectiveOptions&)>& named) const {
    for (const int n : {1, 17, 1500, 40000}) {
      std::vector<double> in(static_cast<std::size_t>(n * blocks_in));
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = comm.rank() * 7 + static_cast<double>(i % 11);
      const std::vector<double> room(static_cast<std::size_t>(n * blocks_out), comm.rank());
      std::vector<double> expected = room;
      native(in.data(), expected.data(), n);
      for (const std::string_view algorithm : algorithms_of(operation)) {
        std::vector<double> out = room;
        named(in, out, {.algorithm = algorithm}).wait();
        EXPECT_EQ(out, expected) << operation << " by " << algorithm << ", n = " << n;
      }
    }
  }

  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  const int p = comm.size();
  const int root = comm.size() / 2;
};

constexpr auto type = [] { return MPI_DOUBLE; };

TEST_F(NamedAlgorithmsTest, Bcast) {
  compare(
      "bcast", 1, 1,
      [&](const double*, double* out, int n) { MPI_Bcast(out, n, type(), root, MPI_COMM_WORLD); },
      [&](const auto&, auto& out, const auto& options) { return comm.ibcast(out, root, options); });
}

TEST_F(NamedAlgorithmsTest, Reductions) {
  compare(
      "reduce", 1, 1,
      [&](const double* in, double* out, int n) {
        MPI_Reduce(in, out, n, type(), MPI_SUM, root, MPI_COMM_WORLD);
      },
      [&](const auto& in, auto& out, const auto& options) {
        return comm.ireduce(in, out, MPI_SUM, root, options);
      });
  compare(
      "allreduce", 1, 1,
      [&](const double* in, double* out, int n) {
        MPI_Allreduce(in, out, n, type(), MPI_SUM, MPI_COMM_WORLD);
      },
      [&](const auto& in, auto& out, const auto& options) {
        return comm.iallreduce(in, out, MPI_SUM, options);
      });
  compare(
      "scan", 1, 1,
      [&](const double* in, double* out, int n) { MPI_Scan(in, out, n, type(), MPI_SUM, MPI_COMM_WORLD); },
      [&](const auto& in, auto& out, const auto& options) { return comm.iscan(in, out, MPI_SUM, options); });
  compare(
      "reduce_scatter", p, 1,
      [&](const double* in, double* out, int n) {
        MPI_Reduce_scatter_block(in, out, n, type(), MPI_SUM, MPI_COMM_WORLD);
      },
      [&](const auto& in, auto& out, const auto& options) {
        return comm.ireduce_scatter_block(in, out, MPI_SUM, options);
      });
}

TEST_F(NamedAlgorithmsTest, GatherScatterAndAlltoall) {
  compare(
      "gather", 1, p,
      [&](const double* in, double* out, int n) {
        MPI_Gather(in, n, type(), out, n, type(), root, MPI_COMM_WORLD);
      },
      [&](const auto& in, auto& out, const auto& options) { return comm.igather(in, out, root, options); });
  compare(
      "allgather", 1, p,
      [&](const double* in, double* out, int n) {
        MPI_Allgather(in, n, type(), out, n, type(), MPI_COMM_WORLD);
      },
      [&](const auto& in, auto& out, const auto& options) { return comm.iallgather(in, out, options); });
  compare(
      "scatter", p, 1,
      [&](const double* in, double* out, int n) {
        MPI_Scatter(in, n, type(), out, n, type(), root, MPI_COMM_WORLD);
      },
      [&](const auto& in, auto& out, const auto& options) { return comm.iscatter(in, out, root, options); });
  compare(
      "alltoall", p, p,
      [&](const double* in, double* out, int n) {
        MPI_Alltoall(in, n, type(), out, n, type(), MPI_COMM_WORLD);
      },
      [&](const auto& in, auto& out, const auto& options) { return comm.ialltoall(in, out, options); });
}

}  // namespace
}  // namespace wisp
