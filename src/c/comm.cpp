#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "c/shims.hpp"

// Communicators of wisp.h.

using namespace wisp;
using namespace wisp::c;

extern "C" {

int WISP_Comm_duplicate(MPI_Comm comm, WISP_Comm* newcomm) {
  return guarded("WISP_Comm_duplicate", [&] { put_comm(newcomm, [&] { return Comm::duplicate(comm); }); });
}

int WISP_Comm_duplicate_with(MPI_Comm comm, int mpi_communicators, WISP_Comm* newcomm) {
  return guarded("WISP_Comm_duplicate_with",
                 [&] { put_comm(newcomm, [&] { return Comm::duplicate(comm, {mpi_communicators}); }); });
}

int WISP_Comm_attach(MPI_Comm comm, WISP_Comm* newcomm) {
  return guarded("WISP_Comm_attach", [&] { put_comm(newcomm, [&] { return Comm::attach(comm); }); });
}

int WISP_Comm_range(WISP_Comm comm, int first, int last, int stride, WISP_Comm* newcomm) {
  return guarded("WISP_Comm_range",
                 [&] { put_comm(newcomm, [&] { return comm_of(comm).range(first, last, stride); }); });
}

int WISP_Comm_subset(WISP_Comm comm, int count, const int ranks[], WISP_Comm* newcomm) {
  return guarded("WISP_Comm_subset", [&] {
    const std::span<const int> members = array_of(ranks, checked_count(count, "count"), "ranks");
    put_comm(newcomm, [&] { return comm_of(comm).subset(members); });
  });
}

int WISP_Comm_node(WISP_Comm comm, WISP_Comm* newcomm) {
  return guarded("WISP_Comm_node", [&] { put_comm(newcomm, [&] { return comm_of(comm).node(); }); });
}

int WISP_Comm_node_leaders(WISP_Comm comm, WISP_Comm* newcomm) {
  return guarded("WISP_Comm_node_leaders",
                 [&] { put_comm(newcomm, [&] { return comm_of(comm).node_leaders(); }); });
}

int WISP_Comm_create_group(WISP_Comm comm, MPI_Group group, int tag, WISP_Comm* newcomm) {
  return guarded("WISP_Comm_create_group",
                 [&] { put_comm(newcomm, [&] { return comm_of(comm).create_group(group, tag); }); });
}

int WISP_Comm_icreate_group(WISP_Comm comm, MPI_Group group, int tag, WISP_Comm* newcomm,
                            WISP_Request* request) {
  return guarded("WISP_Comm_icreate_group", [&] {
    out(newcomm, "newcomm");
    Comm made;
    put_request(request, [&] { return comm_of(comm).icreate_group(group, tag, made); });
    *newcomm = new_comm(std::move(made));
  });
}

int WISP_Comm_icreate(WISP_Comm comm, MPI_Group group, WISP_Comm* newcomm, WISP_Request* request) {
  return guarded("WISP_Comm_icreate", [&] {
    out(newcomm, "newcomm");
    Comm made;
    put_request(request, [&] { return comm_of(comm).icreate(group, made); });
    *newcomm = new_comm(std::move(made));
  });
}

int WISP_Comm_raw(WISP_Comm comm, WISP_Comm* newcomm) {
  return guarded("WISP_Comm_raw", [&] { put_comm(newcomm, [&] { return comm_of(comm).raw(); }); });
}

int WISP_Comm_group(WISP_Comm comm, MPI_Group* group) {
  return guarded("WISP_Comm_group", [&] {
    out(group, "group");
    *group = comm_of(comm).mpi_group();
  });
}

int WISP_Comm_to_mpi(WISP_Comm comm, MPI_Comm* newcomm) {
  return guarded("WISP_Comm_to_mpi", [&] {
    out(newcomm, "newcomm");
    *newcomm = comm_of(comm).to_mpi();
  });
}

int WISP_Comm_free(WISP_Comm* comm) {
  return guarded("WISP_Comm_free", [&] {
    WISP_Comm& handle = out(comm, "comm");
    free_handle(handle, detail::CommAccess::context(comm_of(handle)));
  });
}

int WISP_Comm_rank(WISP_Comm comm, int* rank) {
  return guarded("WISP_Comm_rank", [&] { out(rank, "rank") = comm_of(comm).rank(); });
}

int WISP_Comm_size(WISP_Comm comm, int* size) {
  return guarded("WISP_Comm_size", [&] { out(size, "size") = comm_of(comm).size(); });
}

int WISP_Comm_translate(WISP_Comm comm, int rank, WISP_Comm other, int* translated) {
  return guarded("WISP_Comm_translate", [&] {
    const Comm none;
    out(translated, "translated") = comm_of(comm).translate(
        rank, other == WISP_COMM_NULL ? none : alive(other, MPI_ERR_COMM, "other").comm);
  });
}

int WISP_Comm_get_name(WISP_Comm comm, char* name, int* resultlen) {
  return guarded("WISP_Comm_get_name", [&] {
    char& first = out(name, "name");
    int& length = out(resultlen, "resultlen");
    std::string text = comm_of(comm).describe();
    if (text.size() >= MPI_MAX_OBJECT_NAME) {
      std::size_t end = MPI_MAX_OBJECT_NAME - 1;
      while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
        --end;  // not inside of a letter
      text.resize(end);
    }
    std::memcpy(&first, text.c_str(), text.size() + 1);
    length = static_cast<int>(text.size());
  });
}

int WISP_Comm_set_name(WISP_Comm comm, const char* name) {
  return guarded("WISP_Comm_set_name", [&] { comm_of(comm).set_name(&out(name, "name")); });
}

int WISP_Comm_get_failed(WISP_Comm comm, int maxranks, int ranks[], int* count) {
  return guarded("WISP_Comm_get_failed", [&] {
    const std::span<int> first = array_of(ranks, checked_count(maxranks, "maxranks"), "ranks");
    const std::vector<int> failed = comm_of(comm).failed();
    out(count, "count") = static_cast<int>(failed.size());
    std::copy_n(failed.begin(), std::min(failed.size(), first.size()), first.begin());
  });
}

int WISP_Comm_tag_ub(WISP_Comm comm, int* tag_ub) {
  return guarded("WISP_Comm_tag_ub", [&] { out(tag_ub, "tag_ub") = comm_of(comm).tag_upper_bound(); });
}

}  // extern "C"
