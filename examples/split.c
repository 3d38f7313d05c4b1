/* Groups by any data, from C: the ranks that will write one file, ordered by where in the file they write. */

#include <stdio.h>
#include <wisp/wisp.h>

static void check(int code) {
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "%s\n", WISP_Error_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  WISP_Comm world;
  WISP_Chain all;
  WISP_Chain writers;
  char file[32];
  int rank;
  int size;
  int place;
  int length;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check(WISP_Comm_duplicate(MPI_COMM_WORLD, &world));
  check(WISP_Chain_of_comm(world, &all));

  length = snprintf(file, sizeof file, "output-%d.dat", rank % 2);
  {
    /* The color is text, the key a number; neither needs a comparison of one's own. */
    const long long offset = 1000LL * (size - rank);
    check(WISP_Split(all, file, length, MPI_CHAR, NULL, &offset, 1, MPI_LONG_LONG, NULL, MPI_INFO_NULL,
                     &writers));
  }
  check(WISP_Chain_rank(writers, &place));
  check(WISP_Chain_size(writers, &size));
  printf("rank %d writes part %d of %d of %s\n", rank, place, size, file);

  check(WISP_Chain_free(&writers));
  check(WISP_Chain_free(&all));
  check(WISP_Comm_free(&world));
  MPI_Finalize();
  return 0;
}
