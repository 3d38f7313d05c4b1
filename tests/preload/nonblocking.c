/* A program that knows nothing of wisp: nonblocking collectives, several at a time and among messages of its
   own, waited for in every way that MPI has, with other calls in between. The numbers that it writes are the
   same whoever carries them out. nonblocking SEED STEPS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "same_on_all.h"

enum { most = 4, room = 2048, ranks_at_most = 40 };
static int in[most][room], out[most][room];
static int counts[most][ranks_at_most], places[most][ranks_at_most];

static void start(int slot, MPI_Comm comm, MPI_Request* request) {
  int rank, p, topology;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &p);
  MPI_Topo_test(comm, &topology);
  const int root = (int)pick((unsigned)p);
  const int n = (int)pick(8);
  int end = 0;
  int* a = in[slot];
  int* b = out[slot];
  for (int i = 0; i < room; ++i) {
    a[i] = rank * 37 + slot * 11 + i % 53;
    b[i] = -1;
  }
  for (int r = 0; r < p; ++r) {
    counts[slot][r] = (r + n) % 4;
    places[slot][r] = end;
    end += counts[slot][r] + r % 2;
  }
  const int mine = counts[slot][rank];
  int* of = counts[slot];
  int* at = places[slot];
  switch (pick(topology == MPI_UNDEFINED ? 13 : 15)) {
    case 0:
      MPI_Ibarrier(comm, request);
      break;
    case 1:
      MPI_Ibcast(rank == root ? a : b, n, MPI_INT, root, comm, request);
      break;
    case 2:
      MPI_Ireduce(a, b, n, MPI_INT, MPI_SUM, root, comm, request);
      break;
    case 3:
      MPI_Iallreduce(a, b, n, MPI_INT, MPI_MAX, comm, request);
      break;
    case 4:
      MPI_Iscan(a, b, n, MPI_INT, MPI_SUM, comm, request);
      break;
    case 5:
      MPI_Ireduce_scatter_block(a, b, n, MPI_INT, MPI_SUM, comm, request);
      break;
    case 6:
      MPI_Igather(a, n, MPI_INT, b, n, MPI_INT, root, comm, request);
      break;
    case 7:
      MPI_Igatherv(a, mine, MPI_INT, b, of, at, MPI_INT, root, comm, request);
      break;
    case 8:
      MPI_Iallgather(a, n, MPI_INT, b, n, MPI_INT, comm, request);
      break;
    case 9:
      MPI_Iallgatherv(a, mine, MPI_INT, b, of, at, MPI_INT, comm, request);
      break;
    case 10:
      MPI_Iscatter(a, n, MPI_INT, b, n, MPI_INT, root, comm, request);
      break;
    case 11:
      MPI_Iscatterv(a, of, at, MPI_INT, b, mine, MPI_INT, root, comm, request);
      break;
    case 12:
      MPI_Ialltoall(a, n, MPI_INT, b, n, MPI_INT, comm, request);
      break;
    case 13:
      MPI_Ineighbor_alltoall(a, n, MPI_INT, b, n, MPI_INT, comm, request);
      break;
    default:
      MPI_Ineighbor_allgather(a, n, MPI_INT, b, n, MPI_INT, comm, request);
      break;
  }
}

/* An attribute of MPI_COMM_SELF, which nobody duplicates. */
static int copies = 0;
static int count_copy(MPI_Comm comm, int key, void* extra, void* value, void* copied, int* flag) {
  (void)comm, (void)key, (void)extra, (void)value, (void)copied;
  ++copies;
  *flag = 0;
  return MPI_SUCCESS;
}

#if MPI_VERSION >= 4
/* Persistent ones, started twice, and once more together with the others. */
static void repeat(MPI_Comm comm, MPI_Comm ring) {
  int rank, p, one = 1, sum = 0, from_root = -1, of_neighbors[2] = {-1, -1}, mine[2];
  static int ours[ranks_at_most], all[ranks_at_most];
  MPI_Request requests[4];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &p);
  const int root = (int)pick((unsigned)p);
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
  MPI_Bcast_init(&from_root, 1, MPI_INT, root, comm, MPI_INFO_NULL, &requests[1]);
  /* (MPICH 4.0.2's MPI_Gather_init sends what was there when it was made.) */
  MPI_Alltoall_init(ours, 1, MPI_INT, all, 1, MPI_INT, comm, MPI_INFO_NULL, &requests[2]);
  MPI_Neighbor_alltoall_init(mine, 1, MPI_INT, of_neighbors, 1, MPI_INT, ring, MPI_INFO_NULL, &requests[3]);
  for (int round = 0; round < 3; ++round) {
    one = rank + round;
    if (rank == root) from_root = 100 + round;
    mine[0] = rank + 10 * round;
    mine[1] = -rank - 10 * round;
    for (int r = 0; r < p; ++r) ours[r] = rank + 100 * r + round;
    memset(all, 0, sizeof all);
    if (round < 2) {
      MPI_Startall(4, requests);
      MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    } else {
      for (int i = 0; i < 4; ++i) MPI_Start(&requests[i]);
      for (int i = 3; i >= 0; --i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    MPI_Wait(&requests[round], MPI_STATUS_IGNORE); /* an inactive one */
    look_at(&sum, sizeof sum);
    look_at(&from_root, sizeof from_root);
    look_at(all, sizeof all);
    look_at(of_neighbors, sizeof of_neighbors);
  }
  for (int i = 0; i < 4; ++i) MPI_Request_free(&requests[i]);

  /* One that lives longer than its communicator. */
  MPI_Comm freed;
  MPI_Comm_dup(comm, &freed);
  MPI_Barrier(freed);
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, freed, MPI_INFO_NULL, &requests[0]);
  MPI_Comm_free(&freed);
  MPI_Start(&requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  look_at(&sum, sizeof sum);
  MPI_Request_free(&requests[0]);
}
#endif

#if MPI_VERSION >= 4
/* Often, and at all times, so that operations end while the program is about to wait for them in MPI. */
static void wait_often(MPI_Comm comm) {
  enum { several = 3 };
  int rank, p, one = 1, sums[several] = {0};
  MPI_Request requests[several];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &p);
  for (int i = 0; i < several; ++i)
    MPI_Allreduce_init(&one, &sums[i], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[i]);
  for (int round = 0; round < 20000 / p; ++round) {
    MPI_Startall(several, requests);
    const double begin = MPI_Wtime();
    while (MPI_Wtime() < begin + (round * (rank + 1) * 7 % 100) * 1e-6) {
    }
    MPI_Waitall(several, requests, MPI_STATUSES_IGNORE);
  }
  look_at(sums, sizeof sums);
  for (int i = 0; i < several; ++i) MPI_Request_free(&requests[i]);
}
#endif

/* MPI's own requests for files, some of which only a wait for them moves, beside collectives. */
static void write_beside(MPI_Comm comm, const char* program) {
  char name[1024];
  int rank, sum = 0, there = -1;
  MPI_File file;
  MPI_Request requests[2];
  MPI_Comm_rank(comm, &rank);
  snprintf(name, sizeof name, "%s.%d", program, rank);
  MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  for (int round = 0; round < 4; ++round) {
    const int is_first = round % 2;
    MPI_File_iwrite_at(file, 0, &rank, 1, MPI_INT, &requests[is_first]);
    MPI_Iallreduce(&round, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[1 - is_first]);
    if (round < 2) {
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
      for (int i = 0; i < 2; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    MPI_File_read_at(file, 0, &there, 1, MPI_INT, MPI_STATUS_IGNORE);
    if (there != rank) printf("%d is in the file of rank %d\n", there, rank);
    look_at(&sum, sizeof sum);
  }
  int p, token = 0;
  MPI_Comm_size(comm, &p);
  if (p > 1) {
    /* And while one is in flight that cannot end before. */
    if (rank == 1) MPI_Recv(&token, 1, MPI_INT, 0, 10, comm, MPI_STATUS_IGNORE);
    MPI_Ibarrier(comm, &requests[1]);
    if (rank == 0) {
      MPI_File_iwrite_at(file, 0, &rank, 1, MPI_INT, &requests[0]);
      MPI_Waitall(1, requests, MPI_STATUSES_IGNORE);
      MPI_Send(&token, 1, MPI_INT, 1, 10, comm);
    }
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  }
  MPI_File_close(&file);
}

/* Until all are done; `requests` may hold null ones. */
static void finish(int count, MPI_Request* requests) {
  MPI_Status statuses[most + 3];
  int indices[most + 3], ended, flag = 0;
  switch (pick(7)) {
    case 0:
      MPI_Waitall(count, requests, statuses);
      break;
    case 1:
      for (int i = 0; i < count; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      break;
    case 2:
      for (int i = count - 1; i >= 0; --i) MPI_Wait(&requests[i], &statuses[0]);
      break;
    case 3:
      do {
        MPI_Waitany(count, requests, &ended, &statuses[0]);
      } while (ended != MPI_UNDEFINED);
      break;
    case 4:
      do {
        MPI_Waitsome(count, requests, &ended, indices, statuses);
      } while (ended != MPI_UNDEFINED);
      break;
    case 5:
      while (!flag) MPI_Testall(count, requests, &flag, statuses);
      break;
    default:
      for (int i = 0; i < count; ++i) {
        for (flag = requests[i] == MPI_REQUEST_NULL; !flag;)
          MPI_Request_get_status(requests[i], &flag, &statuses[0]);
        for (flag = 0; !flag;) MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
      }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  shared_state = strtoull(argv[1], NULL, 10);
  const int steps = argc > 2 ? atoi(argv[2]) : 50;
  int rank, p, window_memory[4] = {0, 0, 0, 0};
  MPI_Comm comms[3];
  MPI_Win window = MPI_WIN_NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  int periods[1] = {1}, dims[1] = {p};
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[1]);
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comms[2]);
  if (p > 1)
    MPI_Win_create(window_memory, sizeof window_memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  int key;
  MPI_Comm_create_keyval(count_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  /* A blocking call comes first on each. */
  for (int i = 0; i < 3; ++i) {
    int one = 1, sum[2];
    MPI_Allreduce(&one, sum, 1, MPI_INT, MPI_SUM, comms[i]);
    look_at(sum, sizeof(int));
    if (i == 2) MPI_Neighbor_allgather(&rank, 1, MPI_INT, sum, 1, MPI_INT, comms[i]);
  }

  for (int step = 0; step < steps; ++step) {
    MPI_Request requests[most + 3];
    int count = 0, got = -1;
    const int sent = rank * 100 + step;
    const int collectives = 1 + (int)pick(most);
    for (int slot = 0; slot < collectives; ++slot) start(slot, comms[pick(3)], &requests[count++]);
    requests[count++] = MPI_REQUEST_NULL;
    MPI_Irecv(&got, 1, MPI_INT, (rank + p - 1) % p, 7, MPI_COMM_WORLD, &requests[count++]);
    MPI_Isend(&sent, 1, MPI_INT, (rank + 1) % p, 7, MPI_COMM_WORLD, &requests[count++]);
    switch (pick(6)) {
      case 0:
        if (p > 1) MPI_Win_fence(0, window); /* Open MPI 4.1 has no windows for one rank */
        break;
      case 1:
        MPI_Barrier(MPI_COMM_WORLD);
        break;
      case 2: {
        int from_right = -1;
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + p - 1) % p, 8, &from_right, 1, MPI_INT, (rank + 1) % p, 8,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        look_at(&from_right, sizeof from_right);
        break;
      }
      case 3: {
        /* Whoever is late is waited for in a receive that knows nothing of collectives. */
        int token = 0;
        if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 0 || rank + 1 < p) ++token;
        if (rank + 1 < p) MPI_Send(&token, 1, MPI_INT, rank + 1, 9, MPI_COMM_WORLD);
        break;
      }
      default:
        break;
    }
    /* The ranks wait for different ones first. */
    if (rank % 2 == 1 && p < ranks_at_most) {
      for (int i = 0; i < count / 2; ++i) {
        const MPI_Request swapped = requests[i];
        requests[i] = requests[count - 1 - i];
        requests[count - 1 - i] = swapped;
      }
    }
    finish(count, requests);
    for (int i = 0; i < count; ++i) {
      if (requests[i] != MPI_REQUEST_NULL) printf("a request is left\n");
    }
    look_at(&got, sizeof got);
    for (int slot = 0; slot < collectives; ++slot) look_at(out[slot], sizeof out[slot]);
#if MPI_VERSION >= 4
    if (pick(4) == 0) repeat(comms[pick(2)], comms[2]);
#endif
  }
  if (copies > 0) printf("%d copies of an attribute of MPI_COMM_SELF\n", copies);
#if MPI_VERSION >= 4
  wait_often(comms[0]);
#endif
  write_beside(comms[0], argv[0]);
  MPI_Comm_free_keyval(&key);
  if (p > 1) MPI_Win_free(&window);
  for (int i = 0; i < 3; ++i) MPI_Comm_free(&comms[i]);
  printf("%d %016llx\n", rank, (unsigned long long)result);
  MPI_Finalize();
  return 0;
}
