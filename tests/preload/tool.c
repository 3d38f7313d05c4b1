/* A tool of the kind that MPI's profiling interface is for: says at the end how many broadcasts it saw. */
#include <mpi.h>
#include <stdio.h>

static int broadcasts;
static int has_begun;

int MPI_Init(int* argc, char*** argv) {
  has_begun = 1;
  return PMPI_Init(argc, argv);
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  ++broadcasts;
  return PMPI_Bcast(buffer, count, datatype, root, comm);
}

int MPI_Finalize(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && has_begun) fprintf(stderr, "the tool saw %d broadcasts\n", broadcasts);
  return PMPI_Finalize();
}
