/* Communicators that come and go, each with a nonblocking call: whether memory in use grows with their
 * number. */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>

static void repeat(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    MPI_Comm own;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Barrier(own);
    MPI_Ibarrier(own, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&own);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = 300;
  repeat(rounds);
  size_t before = mallinfo2().uordblks;
  /* What MPI keeps for later is taken now and then and stays; what grows with the number grows each time. */
  int is_more = 1;
  for (int i = 0; i < 6; ++i) {
    repeat(rounds);
    const size_t after = mallinfo2().uordblks;
    is_more = is_more && after > before + 100 * (size_t)rounds;
    before = after;
  }
  int ranks_with_more = 0;
  MPI_Reduce(&is_more, &ranks_with_more, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("more on %d ranks\n", ranks_with_more);
  MPI_Finalize();
  return 0;
}
