/* The C interface: the two halves of all ranks broadcast at the same time. */

#include <stdio.h>
#include <wisp/wisp.h>

static void check(int code) {
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "%s\n", WISP_Error_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  WISP_Comm world, half;
  WISP_Request request;
  int rank, size, middle, rank_in_half;
  double value = 0;
  MPI_Init(&argc, &argv);
  check(WISP_Comm_duplicate(MPI_COMM_WORLD, &world));
  check(WISP_Comm_rank(world, &rank));
  check(WISP_Comm_size(world, &size));
  middle = size / 2;
  /* Local: no message, no synchronization. */
  check(WISP_Comm_range(world, rank < middle ? 0 : middle, rank < middle ? middle - 1 : size - 1, 1, &half));
  check(WISP_Comm_rank(half, &rank_in_half));
  if (rank_in_half == 0) value = rank < middle ? 1.5 : 2.5;
  check(WISP_Ibcast(&value, 1, MPI_DOUBLE, 0, half, &request));
  /* ... other work ... */
  check(WISP_Wait(&request, MPI_STATUS_IGNORE));
  printf("rank %d of %d: rank %d of its half has %.1f\n", rank, size, rank_in_half, value);
  check(WISP_Comm_free(&half));
  check(WISP_Comm_free(&world));
  MPI_Finalize();
  return 0;
}
