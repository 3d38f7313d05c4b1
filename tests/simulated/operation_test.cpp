// Operations as values on simulated ranks: awaited, more than once, or never.

#include <gtest/gtest.h>

#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "clusters.hpp"
#include "noncommutative.hpp"
#include "wisp/collectives.hpp"
#include "wisp/simulate.hpp"

namespace wisp {
namespace {

using test::Affine;
using test::cluster_of;

std::vector<Affine> products(int first, int last, std::size_t count) {
  std::vector<Affine> data(count);
  for (int rank = first; rank <= last; ++rank) {
    for (std::size_t i = 0; i < count; ++i) data[i] = data[i] * Affine{affine_of_rank(rank).factor, i};
  }
  return data;
}

/// A function of one's own over items of 16 bytes, of vectors that would go in pieces.
Task<> reduce_items(Comm comm, std::size_t count) {
  // It owns something: copies must be as many as are dropped.
  const Operator op = Operator::on<Affine>(
      [one = std::make_shared<Affine>()](const Affine& a, const Affine& b) { return a * *one * b; });
  const int rank = comm.rank();
  const int size = comm.size();
  const std::vector<Affine> mine = products(rank, rank, count);
  const std::vector<Affine> all = products(0, size - 1, count);
  std::vector<Affine> result(count), total(count);
  const ConstBuffer send = items(std::span(mine));
  const Buffer receive = items(std::span(result));
  for (const int root : {0, size / 2}) {
    co_await reduce(comm, send, receive, op, root);
    if (rank == root) {
      EXPECT_EQ(result, all);
    }
  }
  co_await allreduce(comm, send, receive, op);
  EXPECT_EQ(result, all);
  co_await scan(comm, send, receive, op);
  EXPECT_EQ(result, products(0, rank, count));
  co_await exscan(comm, send, receive, op);
  EXPECT_EQ(result, products(0, rank == 0 ? 0 : rank - 1, count));
  co_await scan_and_bcast(comm, send, receive, items(std::span(total)), op);
  EXPECT_EQ(result, products(0, rank, count));
  EXPECT_EQ(total, all);
  const std::size_t own = count / static_cast<std::size_t>(size);
  const std::size_t used = own * static_cast<std::size_t>(size);
  co_await reduce_scatter_block(comm, items(std::span(mine).first(used)), items(std::span(total).first(own)),
                                op);
  for (std::size_t i = 0; i < own; ++i) EXPECT_EQ(total[i], all[static_cast<std::size_t>(rank) * own + i]);
}

TEST(OperationTest, IsAwaitedAsOftenAsOneLikes) {
  for (int p = 1; p <= 9; ++p) {
    simulate(cluster_of(p, 0), [](Comm comm) -> Task<> {
      int sum = 0;
      int mine = 1;
      const Operation operation = allreduce(comm, buffer_of(std::as_const(mine)), buffer_of(sum), MPI_SUM);
      for (mine = 1; mine < 4; ++mine) {
        co_await operation;
        EXPECT_EQ(sum, mine * comm.size());
      }
    });
  }
}

TEST(OperationTest, SendsNothingBeforeItIsAwaited) {
  const SimulationReport report = simulate(cluster_of(5, 0), [](Comm comm) -> Task<> {
    int value = 0;
    std::vector<Operation> never;
    for (int i = 0; i < 3; ++i) never.push_back(bcast(comm, buffer_of(value), 0));
    co_return;
  });
  EXPECT_EQ(report.messages, 0U);
}

TEST(OperationTest, SeveralAreAwaitedTogether) {
  simulate(cluster_of(6, 1), [](Comm comm) -> Task<> {
    int a = comm.rank() == 0 ? 1 : 0;
    int b = comm.rank() == 5 ? 2 : 0;
    std::vector<Task<>> tasks;
    tasks.push_back(bcast(comm, buffer_of(a), 0));
    tasks.push_back(bcast(comm, buffer_of(b), 5));
    co_await when_all(std::move(tasks));
    EXPECT_EQ(a, 1);
    EXPECT_EQ(b, 2);
  });
}

TEST(OperationTest, TakesFunctionsOfOnesOwn) {
  for (int p = 1; p <= 17; ++p) {
    for (const std::size_t count : {0u, 1u, 40u, 5000u}) {
      simulate(cluster_of(p, 0), [count](Comm comm) { return reduce_items(comm, count); });
    }
  }
}

TEST(OperationTest, RefusesPartsOfItems) {
  simulate(cluster_of(2, 0), [](Comm comm) -> Task<> {
    const Operator op = Operator::on<Affine>([](const Affine& a, const Affine& b) { return a * b; });
    std::vector<std::byte> half(sizeof(Affine) / 2), whole(sizeof(Affine));
    const auto error_of = [](auto call) {
      try {
        call();
      } catch (const Error& error) {
        return std::string(error.what());
      }
      return std::string();
    };
    EXPECT_NE(error_of([&] { std::ignore = allreduce(comm, half, half, op); }).find("items of 16"),
              std::string::npos);
    // Two blocks of half an item are a whole one.
    EXPECT_NE(
        error_of([&] { std::ignore = reduce_scatter_block(comm, whole, half, op); }).find("items of 16"),
        std::string::npos);
    EXPECT_NE(error_of([&] {
                std::ignore = scan(comm, whole, whole, op, {.algorithm = "two_tree"});
              }).find("two_tree"),
              std::string::npos);
    co_return;
  });
}

}  // namespace
}  // namespace wisp
