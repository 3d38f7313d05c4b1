/* Asks for several threads, which the preload leaves to MPI. */
#include <mpi.h>

int main(int argc, char** argv) {
  int provided, i;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  for (i = 0; i < 40; ++i) MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
