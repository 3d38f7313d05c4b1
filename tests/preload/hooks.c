/* A function that MPI_Finalize calls, as libraries have them to close their files: it makes a communicator
   and uses it, and waits for what is in flight. Another attribute is deleted before. */
#include <mpi.h>
#include <stdio.h>

static MPI_Request late;
static int late_sum;

static int at_end(MPI_Comm self, int keyval, void* value, void* state) {
  MPI_Wait(&late, MPI_STATUS_IGNORE);
  printf("%d came late\n", late_sum);
  MPI_Comm own;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  int sum = 0;
  int one = 1;
  for (int i = 0; i < 20; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, own);
  MPI_Request request;
  MPI_Ibarrier(own, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&own);
  printf("at the end of %d\n", sum);
  fflush(stdout);
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int keyval, other;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &keyval, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &other, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
  int sum = 0;
  int one = 1;
  for (int i = 0; i < 20; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_set_attr(MPI_COMM_SELF, other, NULL);
  MPI_Iallreduce(&one, &late_sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &late);
  MPI_Finalize();
  return 0;
}
