#pragma once

#include <mpi.h>

#include <numeric>
#include <vector>

#include "wisp/detail/as_size.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {

/// A group that is freed at the end: that of a communicator, or one that MPI has made.
class OwnedGroup {
 public:
  OwnedGroup() = default;
  explicit OwnedGroup(MPI_Comm comm) { check_mpi(MPI_Comm_group(comm, &group_), "MPI_Comm_group"); }
  OwnedGroup(const OwnedGroup&) = delete;
  OwnedGroup& operator=(const OwnedGroup&) = delete;
  ~OwnedGroup() {
    if (group_ != MPI_GROUP_NULL && group_ != MPI_GROUP_EMPTY) MPI_Group_free(&group_);
  }

  MPI_Group get() const noexcept { return group_; }
  MPI_Group* put() noexcept { return &group_; }

 private:
  MPI_Group group_ = MPI_GROUP_NULL;
};

/// The ranks in `comm` of a group's processes, MPI_UNDEFINED for those that it has not. Local, O(size).
inline std::vector<int> ranks_in(MPI_Comm comm, MPI_Group group) {
  int size = 0;
  check_mpi(MPI_Group_size(group, &size), "MPI_Group_size");
  std::vector<int> in_group(as_size(size));
  std::vector<int> in_comm(in_group.size());
  std::iota(in_group.begin(), in_group.end(), 0);
  check_mpi(MPI_Group_translate_ranks(group, size, in_group.data(), OwnedGroup(comm).get(), in_comm.data()),
            "MPI_Group_translate_ranks");
  return in_comm;
}

}  // namespace wisp::detail
