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

/// As the program knows what is put in order.
constexpr ArrayNames received_arrays{"recvcounts", "rdispls", "recvtypes"};

template <class Count, class Use>
void exchange(Use use, Form form, const Topology& on, const void* sendbuf, Count sendcount,
              MPI_Datatype sendtype, void* recvbuf, Count recvcount, MPI_Datatype recvtype) {
  const Neighborhood* stencil = on.stencil();
  const Neighborhood& neighbors = stencil != nullptr ? *stencil : on.lists();
  const ConstBuffer send = all_blocks(sent_on(neighbors), sendbuf, sendcount, sendtype, "sendcount");
  if (stencil == nullptr && !on.orders(form).is_some_ranks) {
    use(neighbor_alltoall(neighbors, send,
                          all_blocks(received_on(neighbors), recvbuf, recvcount, recvtype, "recvcount")));
    return;
  }
  std::vector<int> in_turn(static_cast<std::size_t>(sent_on(neighbors).size()));
  std::iota(in_turn.begin(), in_turn.end(), 0);
  const Placed sent(in_turn, sendcount);
  const Placed received(stencil != nullptr ? on.orders(form).places : on.orders(form).alltoall, recvcount);
  use(neighbor_alltoallv(neighbors, sent.in(const_cast<void*>(sendbuf), sendtype),
                         received.in(recvbuf, recvtype)));
}

/// Of one rank all blocks are the same.
template <class Count, class Use>
void collect(Use use, Form form, const Topology& on, const void* sendbuf, Count sendcount,
             MPI_Datatype sendtype, void* recvbuf, Count recvcount, MPI_Datatype recvtype) {
  const ConstBuffer send = to_send(sendbuf, sendcount, sendtype, "sendcount");
  if (on.stencil() == nullptr) {
    use(neighbor_allgather(on.lists(), send,
                           all_blocks(received_on(on.lists()), recvbuf, recvcount, recvtype, "recvcount")));
    return;
  }
  const Placed received(on.orders(form).places, recvcount);
  use(neighbor_allgatherv(*on.stencil(), send, received.in(recvbuf, recvtype)));
}

}  // namespace

// What wisp does with the arguments. Blocks of any sizes go by lists; nobody knows all of their sizes.
#define WISP_RUN_neighbor_alltoall \
  exchange(use, form, on, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype)
#define WISP_RUN_neighbor_allgather \
  collect(use, form, on, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype)
#define WISP_RUN_neighbor_alltoallv                                               \
  const InOrder counts(on.orders(form).alltoallv, recvcounts);                    \
  const InOrder begins(on.orders(form).alltoallv, rdispls);                       \
  use(neighbor_alltoallv(                                                         \
      lists, WISP_BLOCKS(sent_on(lists), sendbuf, sendcounts, sdispls, sendtype), \
      blocks(received_on(lists), recvbuf, counts.get(), begins.get(), recvtype, received_arrays)))
#define WISP_RUN_neighbor_alltoallw                                                \
  const InOrder counts(on.orders(form).alltoallv, recvcounts);                     \
  const InOrder begins(on.orders(form).alltoallv, rdispls);                        \
  const InOrder types(on.orders(form).alltoallv, recvtypes);                       \
  use(neighbor_alltoallw(                                                          \
      lists, WISP_BLOCKS(sent_on(lists), sendbuf, sendcounts, sdispls, sendtypes), \
      blocks(received_on(lists), recvbuf, counts.get(), begins.get(), types.get(), received_arrays)))
#define WISP_RUN_neighbor_allgatherv                                                 \
  use(neighbor_allgatherv(lists, to_send(sendbuf, sendcount, sendtype, "sendcount"), \
                          WISP_BLOCKS(received_on(lists), recvbuf, recvcounts, rdispls, recvtype)))
#define WISP_BYTES_neighbor_alltoall bytes_of(recvcount, recvtype)
#define WISP_BYTES_neighbor_allgather bytes_of(recvcount, recvtype)
#define WISP_BYTES_neighbor_alltoallv 0
#define WISP_BYTES_neighbor_alltoallw 0
#define WISP_BYTES_neighbor_allgatherv 0

#define WISP_ONLY_OF_MPI
#define WISP_FACES(Name, name, parameters, arguments)                                                        \
  WISP_FORMS(N##Name, In##Name, name, parameters, WISP_BYTES_##name, const Topology& on = served.topology(); \
             [[maybe_unused]] const Neighborhood& lists = on.lists(); WISP_RUN_##name)

extern "C" {

#define WISP_MPI(name) MPI_##name
#define WISP_PMPI(name) PMPI_##name
#define WISP_TEXT(name) "MPI_" #name
#define WISP_COUNT int
#define WISP_DISPLACEMENT int
#include "c/neighbor_faces.inc"
#undef WISP_MPI
#undef WISP_PMPI
#undef WISP_TEXT
#undef WISP_COUNT
#undef WISP_DISPLACEMENT

#if MPI_VERSION >= 4
#define WISP_MPI(name) MPI_##name##_c
#define WISP_PMPI(name) PMPI_##name##_c
#define WISP_TEXT(name) "MPI_" #name "_c"
#define WISP_COUNT MPI_Count
#define WISP_DISPLACEMENT MPI_Aint
#include "c/neighbor_faces.inc"
#endif

}  // extern "C"
