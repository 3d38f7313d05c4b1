#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "wisp/collectives.hpp"

namespace wisp::test {

/// Communicators of `world` that overlap at random: ranges, strides, ranges of ranges, subsets. Every rank
/// makes the same ones, in the same order.
inline std::vector<Comm> random_communicators(const Comm& world, int count, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  const auto below = [&](int bound) { return static_cast<int>(random() % static_cast<unsigned>(bound)); };
  std::vector<Comm> comms;
  for (int i = 0; i < count; ++i) {
    if (below(4) == 0) {
      std::vector<int> ranks(static_cast<std::size_t>(world.size()));
      std::iota(ranks.begin(), ranks.end(), 0);
      std::shuffle(ranks.begin(), ranks.end(), random);
      ranks.resize(static_cast<std::size_t>(1 + below(world.size())));
      comms.push_back(world.subset(ranks));
      continue;
    }
    // Often the one made last is cut again.
    const Comm parent = !comms.empty() && below(3) == 0 ? comms.back() : world;
    const int a = below(parent.size());
    const int b = below(parent.size());
    comms.push_back(parent.range(std::min(a, b), std::max(a, b), 1 + below(3)));
  }
  return comms;
}

/// One operation of this rank, with what it must give.
struct Operation {
  Comm comm;
  int kind = 0;
  int number = 0;
  int in = 0;
  int out = -1;
  int expected = -1;
  Request request;

  void start() {
    switch (kind) {
      case 0:
        out = comm.rank() == number % comm.size() ? 5000 + number : -1;
        request = comm.ibcast(buffer_of(out), number % comm.size());
        break;
      case 1:
        request = comm.iallreduce(buffer_of(std::as_const(in)), buffer_of(out), MPI_SUM);
        break;
      case 2:
        request = comm.iscan(buffer_of(std::as_const(in)), buffer_of(out), MPI_SUM);
        break;
      default: {
        const int next = (comm.rank() + 1) % comm.size();
        const int previous = (comm.rank() + comm.size() - 1) % comm.size();
        request = comm.isendrecv(buffer_of(std::as_const(in)), next, 7, buffer_of(out),
                                 number % 2 == 0 ? previous : any_source, 7);
      }
    }
  }
  bool is_right() const { return out == expected; }
  void check(int seed) const {
    EXPECT_EQ(out, expected) << "operation " << number << " of kind " << kind << ", seed " << seed;
  }
};

/// One operation on each communicator that this rank is a member of.
inline std::vector<Operation> operations_on(const std::vector<Comm>& comms, int world_rank, int seed) {
  std::vector<Operation> operations;
  for (std::size_t i = 0; i < comms.size(); ++i) {
    if (!comms[i].is_member()) continue;
    const Comm& comm = comms[i];
    Operation operation;
    operation.comm = comm;
    operation.number = static_cast<int>(i);
    operation.kind = (operation.number + seed) % 4;
    const auto input_of = [&](int rank) { return 100 * operation.number + comm.group().to_world(rank); };
    operation.in = input_of(comm.rank());
    EXPECT_EQ(operation.in, 100 * operation.number + world_rank);
    if (operation.kind == 0) operation.expected = 5000 + operation.number;
    if (operation.kind == 1 || operation.kind == 2) {
      operation.expected = 0;
      const int last = operation.kind == 1 ? comm.size() - 1 : comm.rank();
      for (int r = 0; r <= last; ++r) operation.expected += input_of(r);
    }
    if (operation.kind == 3) operation.expected = input_of((comm.rank() + comm.size() - 1) % comm.size());
    operations.push_back(std::move(operation));
  }
  return operations;
}

inline std::vector<std::size_t> order_of(std::size_t count, int rank, int seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(1000 * seed + rank)));
  return order;
}

}  // namespace wisp::test
