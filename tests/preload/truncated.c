/* A program that makes an error that only the wait for a nonblocking collective finds: the last rank has too
   little room for a broadcast. Each rank writes what it hears of it, and goes on. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, p, error_class, values[8] = {0}, one = 1, sum = 0;
  MPI_Comm comm;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* of which MPICH 5 takes some errors to be */
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Ibcast(values, rank == p - 1 ? 4 : 8, MPI_INT, 0, comm, &requests[0]);
  MPI_Ibarrier(comm, &requests[1]);
  const int code = MPI_Waitall(2, requests, statuses);
  if (code == MPI_SUCCESS) {
    printf("%d: MPI_SUCCESS\n", rank);
  } else {
    MPI_Error_class(statuses[0].MPI_ERROR, &error_class);
    printf("%d: %s, %s, then %s\n", rank, code == MPI_ERR_IN_STATUS ? "MPI_ERR_IN_STATUS" : "another",
           error_class == MPI_ERR_TRUNCATE ? "MPI_ERR_TRUNCATE" : "another",
           statuses[1].MPI_ERROR == MPI_SUCCESS ? "MPI_SUCCESS" : "another");
  }
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  if (sum != p) printf("%d: the sum is %d\n", rank, sum);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
