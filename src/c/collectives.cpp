#include <vector>

#include "c/block_arguments.hpp"
#include "c/shims.hpp"
#include "collectives/block_list.hpp"
#include "collectives/checks.hpp"
#include "comm/comm_access.hpp"

// Collectives of wisp.h: each has a blocking, a nonblocking and a persistent form, and one on a range of
// ranks. The lists of all are read twice: with int counts, and with MPI_Count.

using namespace wisp;
using namespace wisp::c;

namespace {

template <class Count, class Displacement>
std::vector<Outgoing> outgoing(int count, const int* destinations, const void* sendbuf,
                               const Count* sendcounts, const Displacement* sdispls, MPI_Datatype type) {
  std::vector<Outgoing> messages(checked_count(count, "count"));
  const std::span<const int> ranks = array_of(destinations, messages.size(), "destinations");
  const ConstBlocks blocks(sendbuf, array_of(sendcounts, messages.size(), "sendcounts"),
                           array_of(sdispls, messages.size(), "sdispls"), type);
  if (messages.empty()) return messages;
  detail::check_irregular(count, "messages", "wisp::exchange", "sendbuf", blocks);
  const detail::BlockList list = detail::BlockList::irregular(blocks, count);
  for (std::size_t i = 0; i < messages.size(); ++i) messages[i] = {ranks[i], list(static_cast<int>(i))};
  return messages;
}

Arrivals& arrivals_of(WISP_Arrivals arrivals) {
  if (arrivals == WISP_ARRIVALS_NULL) throw Error(MPI_ERR_ARG, "arrivals = WISP_ARRIVALS_NULL");
  return alive(arrivals, MPI_ERR_ARG, "arrivals").arrivals;
}

Merge merge_of(WISP_Merge merge) {
  return merge == nullptr ? Merge() : Merge(merge);
}

/// The options that an info holds; the name of an algorithm lives as long as this.
class InfoOptions {
 public:
  explicit InfoOptions(MPI_Info info) : algorithm_(info, "wisp_algorithm") {
    const InfoValue reproducible(info, "wisp_reproducible");
    const std::string_view text = reproducible.get();
    if (!text.empty() && text != "true" && text != "false") {
      detail::throw_error(MPI_ERR_INFO_VALUE, "wisp_reproducible = {} is neither true nor false", text);
    }
    options_ = {{}, algorithm_.get(), text == "true"};
  }
  const CollectiveOptions& get() const { return options_; }

 private:
  InfoValue algorithm_;
  CollectiveOptions options_;
};

/// Of one rank or more.
Comm range_of(WISP_Comm comm, int first, int last) {
  if (last < first) detail::throw_error(MPI_ERR_RANK, "last = {} is below first = {}", last, first);
  return comm_of(comm).range(first, last);
}

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
      put_request(request, [&] {                                                                           \
        const Comm& on = comm_of(comm);                                                                    \
        return on.i##name(WISP_LIST arguments CollectiveOptions());                                        \
      });                                                                                                  \
    });                                                                                                    \
  }                                                                                                        \
  int WISP_NAME(Name##_init)(WISP_LIST parameters WISP_Comm comm, MPI_Info info, WISP_Request * request) { \
    return guarded(WISP_TEXT(Name##_init), [&] {                                                           \
      put_request(request, [&] {                                                                           \
        const Comm& on = comm_of(comm);                                                                    \
        return on.name##_init(WISP_LIST arguments InfoOptions(info).get());                                \
      });                                                                                                  \
    });                                                                                                    \
  }                                                                                                        \
  WISP_RANGE_FACE(name, parameters, arguments)

extern "C" {

#define WISP_OPERATOR(op) op
#define WISP_NAME(name) WISP_##name
#define WISP_TEXT(name) "WISP_" #name
#define WISP_COUNT int
#define WISP_DISPLACEMENT int
#define WISP_RANGE_FACE(name, parameters, arguments)                                              \
  int WISP_I##name##_range(WISP_LIST parameters WISP_Comm comm, WISP_Request* request, int first, \
                           int last) {                                                            \
    return guarded("WISP_I" #name "_range", [&] {                                                 \
      put_request(request, [&] {                                                                  \
        const Comm on = range_of(comm, first, last);                                              \
        try {                                                                                     \
          return on.i##name(WISP_LIST arguments CollectiveOptions());                             \
        } catch (...) {                                                                           \
          detail::CommAccess::uncount(on);                                                        \
          throw;                                                                                  \
        }                                                                                         \
      });                                                                                         \
    });                                                                                           \
  }
WISP_FACES(Barrier, barrier, (), ())
#include "c/collective_faces.inc"
#include "c/own_faces.inc"
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
#include "c/own_faces.inc"

int WISP_Arrivals_create(WISP_Arrivals* arrivals) {
  return guarded("WISP_Arrivals_create", [&] {
    WISP_Arrivals& made = out(arrivals, "arrivals");
    made = new WISP_Arrivals_object;
  });
}

int WISP_Arrivals_count(WISP_Arrivals arrivals, int* count) {
  return guarded("WISP_Arrivals_count",
                 [&] { out(count, "count") = static_cast<int>(arrivals_of(arrivals).size()); });
}

int WISP_Arrivals_block(WISP_Arrivals arrivals, int i, int* source, const void** data, MPI_Count* bytes) {
  return guarded("WISP_Arrivals_block", [&] {
    const Arrivals& all = arrivals_of(arrivals);
    if (i < 0 || as_size(i) >= all.size()) {
      detail::throw_error(MPI_ERR_ARG, "i = {}, but {} blocks have arrived", i, all.size());
    }
    const Arrivals::Block& block = all[as_size(i)];
    out(source, "source") = block.source;
    out(data, "data") = block.bytes.data();
    out(bytes, "bytes") = static_cast<MPI_Count>(block.bytes.size());
  });
}

int WISP_Arrivals_free(WISP_Arrivals* arrivals) {
  return guarded("WISP_Arrivals_free", [&] {
    arrivals_of(out(arrivals, "arrivals"));
    delete *arrivals;
    *arrivals = WISP_ARRIVALS_NULL;
  });
}

}  // extern "C"
