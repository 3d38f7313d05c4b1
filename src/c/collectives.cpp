#include <array>
#include <string>

#include "c/shims.hpp"

// Collectives of wisp.h: each has a blocking, a nonblocking and a persistent form, and one on a range of
// ranks. The list of all is collective_faces.inc, which is read twice: with int counts, and with MPI_Count.

using namespace wisp;
using namespace wisp::c;

namespace {

/// Where only the root's argument counts, that of others is not looked at.
bool is_at_root(const Comm& comm, int root) {
  return comm.rank() == root;
}

/// A buffer with one block of `count` elements for each rank.
template <class Count>
Buffer all_blocks(const Comm& comm, void* address, Count count, MPI_Datatype type, const char* count_name) {
  Buffer buffer = to_receive(address, count, type, count_name);
  buffer.count *= static_cast<std::size_t>(comm.size());
  return buffer;
}
template <class Count>
ConstBuffer all_blocks(const Comm& comm, const void* address, Count count, MPI_Datatype type,
                       const char* count_name) {
  ConstBuffer buffer = to_send(address, count, type, count_name);
  buffer.count *= static_cast<std::size_t>(comm.size());
  return buffer;
}

template <class Int>
Integers integers(const Comm& comm, const Int* first, const char* name) {
  if (first == nullptr) throw Error(MPI_ERR_ARG, std::string(name) + " = NULL");
  return std::span<const Int>(first, static_cast<std::size_t>(comm.size()));
}

template <class Count, class Displacement>
Blocks blocks(const Comm& comm, void* address, const Count* counts, const Displacement* displs,
              MPI_Datatype type) {
  return {address, integers(comm, counts, "recvcounts"), integers(comm, displs, "displs"), type};
}
template <class Count, class Displacement>
ConstBlocks blocks(const Comm& comm, const void* address, const Count* counts, const Displacement* displs,
                   MPI_Datatype type) {
  if (address == MPI_IN_PLACE) return blocks_in_place();
  return {address, integers(comm, counts, "sendcounts"), integers(comm, displs, "displs"), type};
}
template <class Count, class Displacement>
Blocks blocks(const Comm& comm, void* address, const Count* counts, const Displacement* displs,
              const MPI_Datatype* types) {
  return {address, integers(comm, counts, "recvcounts"), integers(comm, displs, "rdispls"),
          std::span(&out(types, "recvtypes"), static_cast<std::size_t>(comm.size()))};
}
template <class Count, class Displacement>
ConstBlocks blocks(const Comm& comm, const void* address, const Count* counts, const Displacement* displs,
                   const MPI_Datatype* types) {
  if (address == MPI_IN_PLACE) return blocks_in_place();
  return {address, integers(comm, counts, "sendcounts"), integers(comm, displs, "sdispls"),
          std::span(&out(types, "sendtypes"), static_cast<std::size_t>(comm.size()))};
}

/// In place, the whole input is in the output buffer.
template <class Count>
Buffer reduce_scatter_output(const Comm& comm, const void* sendbuf, void* recvbuf, Count count,
                             MPI_Datatype type) {
  return sendbuf == MPI_IN_PLACE ? all_blocks(comm, recvbuf, count, type, "recvcount")
                                 : to_receive(recvbuf, count, type, "recvcount");
}

template <class Count>
std::size_t sum_of(const Comm& comm, const Count* counts) {
  const Integers all = integers(comm, counts, "recvcounts");
  std::size_t sum = 0;
  for (std::size_t rank = 0; rank < all.size(); ++rank) sum += checked_count(all[rank], "recvcounts[i]");
  return sum;
}
template <class Count>
Buffer reduce_scatter_output(const Comm& comm, const void* sendbuf, void* recvbuf, const Count* counts,
                             MPI_Datatype type) {
  const std::size_t sum = sum_of(comm, counts);
  if (sendbuf == MPI_IN_PLACE) return {recvbuf, sum, type};
  const int rank = comm.is_member() ? comm.rank() : 0;
  return {recvbuf, static_cast<std::size_t>(counts[rank]), type};
}
template <class Count>
ConstBuffer reduce_scatter_input(const Comm& comm, const void* sendbuf, const Count* counts,
                                 MPI_Datatype type) {
  if (sendbuf == MPI_IN_PLACE) return in_place();
  return {sendbuf, sum_of(comm, counts), type};
}

Merge merge_of(WISP_Merge merge) {
  return merge == nullptr ? Merge() : Merge(merge);
}

/// The options that an info holds; the name of an algorithm lives as long as this.
class InfoOptions {
 public:
  explicit InfoOptions(MPI_Info info) {
    if (info == MPI_INFO_NULL) return;
    int found = 0;
    detail::check_mpi(
        MPI_Info_get(info, "wisp_algorithm", static_cast<int>(name_.size()) - 1, name_.data(), &found),
        "MPI_Info_get");
    if (found != 0) options_.algorithm = name_.data();
  }
  const CollectiveOptions& get() const { return options_; }

 private:
  std::array<char, MPI_MAX_INFO_VAL + 1> name_{};
  CollectiveOptions options_;
};

}  // namespace

#define WISP_LIST(...) __VA_ARGS__

// `arguments` are those of the C++ member, in terms of the communicator `on`.
#define WISP_FACES(Name, name, parameters, arguments)                                                      \
  int WISP_NAME(Name)(WISP_LIST parameters WISP_Comm comm) {                                               \
    return guarded(WISP_TEXT(Name), [&] {                                                                  \
      const Comm& on = comm_of(comm);                                                                      \
      on.name(WISP_LIST arguments CollectiveOptions());                                                    \
    });                                                                                                    \
  }                                                                                                        \
  int WISP_NAME(I##name)(WISP_LIST parameters WISP_Comm comm, WISP_Request * request) {                    \
    return guarded(WISP_TEXT(I##name), [&] {                                                               \
      const Comm& on = comm_of(comm);                                                                      \
      out(request, "request");                                                                             \
      put_request(request, on.i##name(WISP_LIST arguments CollectiveOptions()));                           \
    });                                                                                                    \
  }                                                                                                        \
  int WISP_NAME(Name##_init)(WISP_LIST parameters WISP_Comm comm, MPI_Info info, WISP_Request * request) { \
    return guarded(WISP_TEXT(Name##_init), [&] {                                                           \
      const Comm& on = comm_of(comm);                                                                      \
      out(request, "request");                                                                             \
      put_request(request, on.name##_init(WISP_LIST arguments InfoOptions(info).get()));                   \
    });                                                                                                    \
  }                                                                                                        \
  WISP_RANGE_FACE(name, parameters, arguments)

extern "C" {

#define WISP_NAME(name) WISP_##name
#define WISP_TEXT(name) "WISP_" #name
#define WISP_COUNT int
#define WISP_DISPLACEMENT int
#define WISP_RANGE_FACE(name, parameters, arguments)                                              \
  int WISP_I##name##_range(WISP_LIST parameters WISP_Comm comm, WISP_Request* request, int first, \
                           int last) {                                                            \
    return guarded("WISP_I" #name "_range", [&] {                                                 \
      out(request, "request");                                                                    \
      const Comm on = comm_of(comm).range(first, last);                                           \
      put_request(request, on.i##name(WISP_LIST arguments CollectiveOptions()));                  \
    });                                                                                           \
  }
WISP_FACES(Barrier, barrier, (), ())
#include "c/collective_faces.inc"
#undef WISP_NAME
#undef WISP_TEXT
#undef WISP_COUNT
#undef WISP_DISPLACEMENT
#undef WISP_RANGE_FACE

#define WISP_NAME(name) WISP_##name##_c
#define WISP_TEXT(name) "WISP_" #name "_c"
#define WISP_COUNT MPI_Count
#define WISP_DISPLACEMENT MPI_Aint
#define WISP_RANGE_FACE(name, parameters, arguments)
#include "c/collective_faces.inc"

}  // extern "C"
