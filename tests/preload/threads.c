/* A program that calls MPI_Init and then MPI from another thread, as some do though MPI does not allow it. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static void* broadcasts(void* sum) {
  for (int i = 0; i < 50; ++i) {
    int value = i;
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    *(int*)sum += value;
  }
  return sum;
}

int main(int argc, char** argv) {
  int rank, sum = 0;
  pthread_t thread;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_create(&thread, NULL, broadcasts, &sum);
  pthread_join(thread, NULL);
  broadcasts(&sum);
  printf("%d: %d\n", rank, sum);
  MPI_Finalize();
  return 0;
}
