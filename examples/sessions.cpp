// A program that never calls MPI_Init: it has a session (MPI-4), and a communicator that it makes of that.

#include <cstdio>
#include <vector>
#include <wisp/wisp.hpp>

#ifdef MPI_SESSION_NULL

int main() {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Group everybody = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &everybody);
  MPI_Comm_create_from_group(everybody, "example", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Group_free(&everybody);

  int failed = 0;
  {
    const wisp::Comm world = wisp::Comm::duplicate(comm);
    const wisp::Comm upper = world.range(world.size() / 2, world.size() - 1);
    std::vector<int> numbers = {world.rank(), -world.rank()};
    wisp::sort(world, numbers);
    if (upper.is_member()) {
      std::vector<int> ranks(static_cast<std::size_t>(upper.size()));
      const int mine = world.rank();
      upper.allgather(wisp::buffer_of(mine), ranks);
      if (ranks.front() != world.size() / 2) failed = 1;
    }
    // Rows of a matrix: a datatype with gaps.
    std::vector<double> matrix(6, world.rank());
    world.bcast(wisp::Strided(matrix.data(), 2, 3, 2), 0);
    if (matrix[4] != 0 || matrix[5] != world.rank()) failed = 1;
    const wisp::Comm attached = wisp::Comm::attach(comm);
    attached.barrier();
    if (world.rank() == 0)
      std::printf("%d ranks of a session; the smallest number is %d\n", world.size(), numbers[0]);
  }
  MPI_Comm_free(&comm);  // what wisp keeps for it goes with it
  MPI_Session_finalize(&session);
  return failed;
}

#else

int main() {
  std::puts("this MPI has no sessions");
}

#endif
