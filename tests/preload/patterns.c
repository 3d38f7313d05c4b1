/* A program that knows nothing of wisp, with one pattern of communication over and over, as simulation codes
   have them; it writes a number that depends on all that was received, and how long one step takes. patterns
   gather|scatter|alltoallv|neighbors STEPS gather: every rank has some blocks of results for rank 0, few have
   many. alltoallv: a few bytes to everybody. neighbors: 26 ghost regions of a three-dimensional torus, of 64
   bytes each. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static unsigned long long sum_of(const int* data, int count) {
  unsigned long long sum = 0;
  for (int i = 0; i < count; ++i) sum = sum * 31 + (unsigned)data[i];
  return sum;
}

static int* ints(int count) {
  int* made = malloc(sizeof(int) * (size_t)(count + 1));
  for (int i = 0; i < count; ++i) made[i] = rank * 1000 + i;
  return made;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* pattern = argc > 1 ? argv[1] : "gather";
  const int steps = argc > 2 ? atoi(argv[2]) : 100;

  int* counts = ints(ranks);
  int* begins = ints(ranks);
  int all = 0;
  for (int r = 0; r < ranks; ++r) {
    counts[r] = strcmp(pattern, "alltoallv") == 0 ? 2 : r % 5 == 0 ? 40 : r % 3;
    begins[r] = all;
    all += counts[r];
  }
  int* mine = ints(all + 26 * 16);
  int* received = ints(all + 26 * 16);
  memset(received, 0, sizeof(int) * (size_t)(all + 26 * 16));

  MPI_Comm torus = MPI_COMM_NULL;
  if (strcmp(pattern, "neighbors") == 0) {
    int dims[3] = {0, 0, 0}, periods[3] = {1, 1, 1}, me[3], sources[26], targets[26], ones[26], n = 0;
    MPI_Comm cart;
    MPI_Dims_create(ranks, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &cart);
    MPI_Cart_coords(cart, rank, 3, me);
    for (int code = 0; code < 27; ++code) {
      const int offset[3] = {code / 9 - 1, code / 3 % 3 - 1, code % 3 - 1};
      int there[3], from[3];
      if (code == 13) continue;
      for (int j = 0; j < 3; ++j) {
        there[j] = me[j] + offset[j];
        from[j] = me[j] - offset[j];
      }
      MPI_Cart_rank(cart, there, &targets[n]);
      MPI_Cart_rank(cart, from, &sources[n]);
      ones[n++] = 1;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, sources, ones, n, targets, ones, MPI_INFO_NULL, 0,
                                   &torus);
    MPI_Comm_free(&cart);
  }

  unsigned long long sum = 0;
  double begin = 0;
  const int warm_up = 20;
  for (int step = -warm_up; step < steps; ++step) {
    if (step == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
      begin = MPI_Wtime();
    }
    const int root = 0;
    if (strcmp(pattern, "gather") == 0) {
      MPI_Gatherv(mine, counts[rank], MPI_INT, received, counts, begins, MPI_INT, root, MPI_COMM_WORLD);
    } else if (strcmp(pattern, "scatter") == 0) {
      MPI_Scatterv(mine, counts, begins, MPI_INT, received, counts[rank], MPI_INT, root, MPI_COMM_WORLD);
    } else if (strcmp(pattern, "alltoallv") == 0) {
      MPI_Alltoallv(mine, counts, begins, MPI_INT, received, counts, begins, MPI_INT, MPI_COMM_WORLD);
    } else {
      MPI_Neighbor_alltoall(mine, 16, MPI_INT, received, 16, MPI_INT, torus);
    }
    sum += sum_of(received, all);
  }
  double seconds = (MPI_Wtime() - begin) / steps, slowest;
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  printf("%d %llx\n", rank, sum);
  if (rank == 0) fprintf(stderr, "%s: %.2f microseconds a step\n", pattern, slowest * 1e6);
  if (torus != MPI_COMM_NULL) MPI_Comm_free(&torus);
  MPI_Finalize();
  return 0;
}
