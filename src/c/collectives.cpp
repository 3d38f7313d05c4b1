#include <string>

#include "c/block_arguments.hpp"
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
  return {recvbuf, as_size(counts[rank]), type};
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
  explicit InfoOptions(MPI_Info info) : algorithm_(info, "wisp_algorithm"), options_{{}, algorithm_.get()} {}
  const CollectiveOptions& get() const { return options_; }

 private:
  InfoValue algorithm_;
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
