// MPI's neighborhood collectives. Those of one block size go by the stencil, if the neighbors are one; else
// all blocks between two ranks go as one message.

#include <numeric>
#include <vector>

#include "c/block_arguments.hpp"
#include "preload/calls.hpp"
#include "preload/names.inc"

using namespace wisp;
using namespace wisp::c;
using namespace wisp::preload;

namespace {

/// Blocks of `count` elements, block k at place `places[k]`.
class Placed {
 public:
  template <class Count>
  Placed(std::span<const int> places, Count count)
      : counts_(places.size(), static_cast<std::int64_t>(count)) {
    for (const int place : places) begins_.push_back(place * static_cast<std::int64_t>(count));
  }
  Blocks in(void* address, MPI_Datatype type) const { return {address, counts_, begins_, type}; }

 private:
  std::vector<std::int64_t> counts_;
  std::vector<std::int64_t> begins_;
};

/// An array with one value for each block that MPI receives, in wisp's order.
template <class Value>
class InOrder {
 public:
  InOrder(const std::vector<int>& order, const Value* given) : given_(given) {
    if (given == nullptr) return;
    for (const int place : order) ordered_.push_back(given[place]);
  }
  const Value* get() const { return ordered_.empty() ? given_ : ordered_.data(); }

 private:
  const Value* given_;
  std::vector<Value> ordered_;
};

template <class Count>
void exchange(const Topology& on, const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
              Count recvcount, MPI_Datatype recvtype) {
  const Neighborhood* stencil = on.stencil();
  const Neighborhood& neighbors = stencil != nullptr ? *stencil : on.lists();
  const ConstBuffer send = all_blocks(sent_on(neighbors), sendbuf, sendcount, sendtype, "sendcount");
  if (stencil == nullptr && on.orders().alltoall.empty()) {
    neighbors.neighbor_alltoall(
        send, all_blocks(received_on(neighbors), recvbuf, recvcount, recvtype, "recvcount"));
    return;
  }
  std::vector<int> in_turn(static_cast<std::size_t>(sent_on(neighbors).size()));
  std::iota(in_turn.begin(), in_turn.end(), 0);
  const Placed sent(in_turn, sendcount);
  const Placed received(stencil != nullptr ? on.places() : std::span(on.orders().alltoall), recvcount);
  neighbors.neighbor_alltoallv(sent.in(const_cast<void*>(sendbuf), sendtype), received.in(recvbuf, recvtype));
}

/// Of one rank all blocks are the same.
template <class Count>
void collect(const Topology& on, const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             Count recvcount, MPI_Datatype recvtype) {
  const ConstBuffer send = to_send(sendbuf, sendcount, sendtype, "sendcount");
  if (on.stencil() == nullptr) {
    on.lists().neighbor_allgather(
        send, all_blocks(received_on(on.lists()), recvbuf, recvcount, recvtype, "recvcount"));
    return;
  }
  const Placed received(on.places(), recvcount);
  on.stencil()->neighbor_allgatherv(send, received.in(recvbuf, recvtype));
}

}  // namespace

// What wisp does with the arguments. Blocks of any sizes go by lists; nobody knows all of their sizes.
#define WISP_RUN_neighbor_alltoall exchange(on, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype)
#define WISP_RUN_neighbor_allgather collect(on, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype)
#define WISP_RUN_neighbor_alltoallv                                                         \
  lists.neighbor_alltoallv(                                                                 \
      blocks(sent_on(lists), sendbuf, sendcounts, sdispls, sendtype),                       \
      blocks(received_on(lists), recvbuf, InOrder(on.orders().alltoallv, recvcounts).get(), \
             InOrder(on.orders().alltoallv, rdispls).get(), recvtype))
#define WISP_RUN_neighbor_alltoallw                                                         \
  lists.neighbor_alltoallw(                                                                 \
      blocks(sent_on(lists), sendbuf, sendcounts, sdispls, sendtypes),                      \
      blocks(received_on(lists), recvbuf, InOrder(on.orders().alltoallw, recvcounts).get(), \
             InOrder(on.orders().alltoallw, rdispls).get(),                                 \
             InOrder(on.orders().alltoallw, recvtypes).get()))
#define WISP_RUN_neighbor_allgatherv                                            \
  lists.neighbor_allgatherv(to_send(sendbuf, sendcount, sendtype, "sendcount"), \
                            blocks(received_on(lists), recvbuf, recvcounts, rdispls, recvtype))
#define WISP_BYTES_neighbor_alltoall bytes_of(recvcount, recvtype)
#define WISP_BYTES_neighbor_allgather bytes_of(recvcount, recvtype)
#define WISP_BYTES_neighbor_alltoallv 0
#define WISP_BYTES_neighbor_alltoallw 0
#define WISP_BYTES_neighbor_allgatherv 0

#define WISP_ONLY_OF_MPI
#define WISP_LIST(...) __VA_ARGS__
#define WISP_FACES(Name, name, parameters, arguments)                          \
  int WISP_MPI(Name)(WISP_LIST parameters MPI_Comm comm) {                     \
    static const auto native = next_of(WISP_TEXT(Name), &WISP_PMPI(Name));     \
    return blocking(                                                           \
        Call::name, comm, [&]() -> std::int64_t { return WISP_BYTES_##name; }, \
        [&](Served& served) {                                                  \
          const Topology& on = served.topology();                              \
          [[maybe_unused]] const Neighborhood& lists = on.lists();             \
          WISP_RUN_##name;                                                     \
        },                                                                     \
        [&] { return native(WISP_NAMES_##name comm); });                       \
  }

extern "C" {

#define WISP_MPI(name) MPI_N##name
#define WISP_PMPI(name) PMPI_N##name
#define WISP_TEXT(name) "MPI_N" #name
#define WISP_COUNT int
#define WISP_DISPLACEMENT int
#include "c/neighbor_faces.inc"
#undef WISP_MPI
#undef WISP_PMPI
#undef WISP_TEXT
#undef WISP_COUNT
#undef WISP_DISPLACEMENT

#if MPI_VERSION >= 4
#define WISP_MPI(name) MPI_N##name##_c
#define WISP_PMPI(name) PMPI_N##name##_c
#define WISP_TEXT(name) "MPI_N" #name "_c"
#define WISP_COUNT MPI_Count
#define WISP_DISPLACEMENT MPI_Aint
#include "c/neighbor_faces.inc"
#endif

}  // extern "C"
