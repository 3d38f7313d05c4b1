// MPI's collectives: each asks whether wisp takes the call, and goes on to MPI if not. In the list of
// wisp.h's collectives are the parameters, and what the C++ members get of them.

#include "wisp/collectives.hpp"

#include "c/block_arguments.hpp"
#include "collectives/reduction.hpp"
#include "preload/calls.hpp"
#include "preload/names.inc"

using namespace wisp;
using namespace wisp::c;
using namespace wisp::preload;

namespace {

template <class Count>
std::int64_t bytes_of_all(const Count* counts, MPI_Datatype type, MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  std::int64_t sum = 0;
  for (int rank = 0; counts != nullptr && rank < size; ++rank) {
    if (counts[rank] < 0) return -1;
    sum += static_cast<std::int64_t>(counts[rank]);
  }
  return bytes_of(sum, type);
}

template <class Count>
std::int64_t bytes_of_all(Count count, MPI_Datatype type, MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return bytes_of(static_cast<std::int64_t>(count) * size, type);
}

std::int64_t mean(std::int64_t bytes_of_all, MPI_Comm comm) {
  int size = 1;
  PMPI_Comm_size(comm, &size);
  return bytes_of_all < 0 ? -1 : bytes_of_all / size;
}

/// Whether MPI joins elements of this datatype by this operator; programs repeat themselves.
bool joins(MPI_Datatype type, MPI_Op op) {
  using Pair = std::pair<MPI_Datatype, MPI_Op>;
  static std::array<Pair, 16> latest{};
  if (type == MPI_DATATYPE_NULL || op == MPI_OP_NULL) return false;
  const std::size_t hash = std::hash<MPI_Datatype>()(type) ^ std::hash<MPI_Op>()(op) << 1;
  Pair& kept = latest[(hash ^ hash >> 5 ^ hash >> 8) % latest.size()];
  const Pair asked(type, op);
  if (kept == asked) [[likely]]
    return true;
  if (!detail::is_defined(op, type)) return false;
  kept = asked;
  return true;
}
/// A function of the program's own may take several elements for one item, which works where MPI does not
/// divide the vector; nor does wisp then.
Operator operator_of(MPI_Op op) {
  return detail::is_of_mpi(op) ? Operator(op) : Operator::on_whole_vectors(op);
}
/// A function of the program's own is not called by wisp from the thread that moves nonblocking operations.
std::int64_t of_reduction(std::int64_t bytes, MPI_Datatype type, MPI_Op op, Form form) {
  return (form == Form::blocking || detail::is_of_mpi(op)) && joins(type, op) ? bytes : -1;
}

/// Of a rooted call, whose root alone looks at one of the two sides; each side of a block has as many bytes.
template <class Count>
std::int64_t bytes_at(int root, MPI_Comm comm, Count of_root, MPI_Datatype type_of_root, Count of_others,
                      MPI_Datatype type_of_others) {
  int rank = 0;
  int size = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  if (root < 0 || root >= size) return -1;
  return rank == root ? bytes_of(of_root, type_of_root) : bytes_of(of_others, type_of_others);
}

/// Of irregular blocks nobody knows all.
std::int64_t unknown_at(int root, MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return root < 0 || root >= size ? -1 : 0;
}

}  // namespace

// The size of a call, as all ranks know it.
#define WISP_BYTES_bcast bytes_of(count, datatype)
#define WISP_BYTES_reduce \
  of_reduction(bytes_at(root, comm, count, datatype, count, datatype), datatype, op, form)
#define WISP_BYTES_allreduce of_reduction(bytes_of(count, datatype), datatype, op, form)
#define WISP_BYTES_scan of_reduction(bytes_of(count, datatype), datatype, op, form)
#define WISP_BYTES_exscan of_reduction(bytes_of(count, datatype), datatype, op, form)
#define WISP_BYTES_reduce_scatter_block \
  of_reduction(bytes_of_all(recvcount, datatype, comm), datatype, op, form)
#define WISP_BYTES_reduce_scatter of_reduction(bytes_of_all(recvcounts, datatype, comm), datatype, op, form)
#define WISP_BYTES_gather bytes_at(root, comm, recvcount, recvtype, sendcount, sendtype)
#define WISP_BYTES_gatherv unknown_at(root, comm)
#define WISP_BYTES_allgather bytes_of(recvcount, recvtype)
#define WISP_BYTES_allgatherv mean(bytes_of_all(recvcounts, recvtype, comm), comm)
#define WISP_BYTES_scatter bytes_at(root, comm, sendcount, sendtype, recvcount, recvtype)
#define WISP_BYTES_scatterv unknown_at(root, comm)
#define WISP_BYTES_alltoall bytes_of(recvcount, recvtype)
#define WISP_BYTES_alltoallv 0
#define WISP_BYTES_alltoallw 0

#define WISP_FACES(Name, name, parameters, arguments)                                            \
  WISP_FORMS(Name, I##name, name, parameters, WISP_BYTES_##name, const Comm& on = served.comm(); \
             use(wisp::name(on, WISP_LIST arguments CollectiveOptions())))

#define WISP_OPERATOR(op) operator_of(op)

extern "C" {

#define WISP_MPI(name) MPI_##name
#define WISP_PMPI(name) PMPI_##name
#define WISP_TEXT(name) "MPI_" #name
#define WISP_COUNT int
#define WISP_DISPLACEMENT int
#define WISP_NAMES_barrier
#define WISP_BYTES_barrier 0
WISP_FACES(Barrier, barrier, (), ())
#include "c/collective_faces.inc"
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
#include "c/collective_faces.inc"
#endif

}  // extern "C"
