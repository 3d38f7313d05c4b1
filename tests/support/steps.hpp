#pragma once

#include <functional>
#include <string>
#include <vector>

#include "wisp/detail/as_size.hpp"
#include "wisp/wisp.hpp"

// Steps of a program in which one rank waits for others.

namespace wisp::test {

struct Step {
  std::string name;
  std::function<Task<>(Comm)> run;
};

/// Each waits for everybody, for some, or for one.
inline const std::vector<Step>& steps() {
  static const std::vector<Step> all = {
      {"bcast",
       [](Comm comm) -> Task<> {
         std::vector<int> data(100, comm.rank());
         co_await bcast(comm, data, comm.size() / 2);
       }},
      {"a long bcast",
       [](Comm comm) -> Task<> {
         std::vector<int> data(50000, comm.rank());
         co_await bcast(comm, data, 0);
       }},
      {"reduce",
       [](Comm comm) -> Task<> {
         const int value = comm.rank();
         int sum = 0;
         co_await reduce(comm, buffer_of(value), buffer_of(sum), MPI_SUM, comm.size() - 1);
       }},
      {"allreduce",
       [](Comm comm) -> Task<> {
         std::vector<int> data(3000, 1);
         co_await allreduce(comm, in_place(), data, MPI_SUM);
       }},
      {"allgather",
       [](Comm comm) -> Task<> {
         const std::vector<int> one(7, comm.rank());
         std::vector<int> all(7 * detail::as_size(comm.size()));
         co_await allgather(comm, one, all);
       }},
      {"alltoall",
       [](Comm comm) -> Task<> {
         const std::vector<int> out(4 * detail::as_size(comm.size()), comm.rank());
         std::vector<int> in(out.size());
         co_await alltoall(comm, out, in);
       }},
      {"scan",
       [](Comm comm) -> Task<> {
         int value = comm.rank();
         co_await scan(comm, in_place(), buffer_of(value), MPI_SUM);
       }},
      {"barrier", [](Comm comm) -> Task<> { co_await barrier(comm); }},
      {"sort",
       [](Comm comm) -> Task<> {
         std::vector<int> numbers(detail::as_size(5 * (comm.rank() % 3)), -comm.rank());
         co_await async_sort(comm, numbers, std::less<>(),
                             {.algorithm = comm.size() % 2 == 0 ? "janus" : ""});
       }},
      {"halves",
       [](Comm comm) -> Task<> {
         const int middle = (comm.size() - 1) / 2;
         const Comm half =
             comm.rank() <= middle ? comm.range(0, middle) : comm.range(middle + 1, comm.size() - 1);
         int value = 1;
         co_await allreduce(half, in_place(), buffer_of(value), MPI_SUM);
       }},
      {"messages in a ring", [](Comm comm) -> Task<> {
         const int p = comm.size();
         int out = comm.rank();
         int in = 0;
         co_await sendrecv(comm, buffer_of(out), (comm.rank() + 1) % p, 3, buffer_of(in),
                           (comm.rank() + p - 1) % p, 3);
       }}};
  return all;
}

/// Those that are left without one.
inline std::vector<int> ranks_without(int gone, int ranks) {
  std::vector<int> left;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank != gone) left.push_back(rank);
  }
  return left;
}

}  // namespace wisp::test
