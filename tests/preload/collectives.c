/* A program that knows nothing of wisp: random collectives of MPI, all that there are and can block, whose
   results it writes as one number a rank. The numbers are the same whoever carries them out. collectives SEED
   STEPS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "same_on_all.h"

/* Products of matrices modulo a prime: associative, but not commutative. A matrix is four elements, which a
   vector that is divided anywhere would tear apart: MPI does not where its programs look. */
static void multiply(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count / 4; ++i) {
    const int* a = (int*)in + 4 * i;
    int* b = (int*)inout + 4 * i;
    const int c[4] = {(a[0] * b[0] + a[1] * b[2]) % 9973, (a[0] * b[1] + a[1] * b[3]) % 9973,
                      (a[2] * b[0] + a[3] * b[2]) % 9973, (a[2] * b[1] + a[3] * b[3]) % 9973};
    memcpy(b, c, sizeof c);
  }
}

enum { room = 4096, most = 40, looked_at = 3000, longest = 6000 };
static int in[most * room], out[most * room];
static int counts[64], places[64], other_counts[64];

static void fill(int rank, int step) {
  for (int i = 0; i < longest; ++i) {
    in[i] = (rank * 31 + step * 17 + i * 7) % 97 + 1;
    out[i] = -1;
  }
}

/* Blocks of p sizes one after the other, with gaps. */
static int lay_out(int p, int unit, int* sizes, int* begins, unsigned salt) {
  int end = 0;
  for (int r = 0; r < p; ++r) {
    sizes[r] = (int)((salt * 2654435761u + (unsigned)r * 40503u) >> 13) % 6 * unit;
    begins[r] = end;
    end += sizes[r] + (r % 2 == 0 ? unit : 0);
  }
  return end;
}

static void step_on(MPI_Comm comm, int step, MPI_Op matrices, MPI_Datatype pairs) {
  int rank, p, topology;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &p);
  MPI_Topo_test(comm, &topology);
  const int root = (int)pick((unsigned)p);
  const int n = (int)(pick(5) == 0 ? 0 : pick(4) == 0 ? pick(60) : pick(6)) * 4;
  const int in_place = pick(3) == 0;
  const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_BXOR, matrices};
  const MPI_Op op = ops[pick(4)];
  const unsigned salt = pick(1000);
  const int joined = pick(8) == 0 ? (int)pick(longest / 4) * 4 : n;
  fill(rank, step);
  switch (pick(topology == MPI_UNDEFINED ? 16 : 21)) {
    case 0:
      MPI_Barrier(comm);
      break;
    case 1:
      MPI_Bcast(rank == root ? in : out, n, MPI_INT, root, comm);
      break;
    case 2:
      MPI_Bcast(rank == root ? in : out, n / 2, rank % 2 ? pairs : MPI_2INT, root, comm);
      break;
    case 3: {
      const int at_root = in_place && rank == root && joined == n; /* MPICH 4.0.2 falls over longer ones */
      if (at_root) memcpy(out, in, sizeof(int) * (size_t)joined);
      MPI_Reduce(at_root ? MPI_IN_PLACE : in, out, joined, MPI_INT, op, root, comm);
      break;
    }
    case 4:
      if (in_place) memcpy(out, in, sizeof(int) * (size_t)joined);
      MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, joined, MPI_INT, op, comm);
      break;
    case 5:
      if (in_place) memcpy(out, in, sizeof(int) * (size_t)joined);
      MPI_Scan(in_place ? MPI_IN_PLACE : in, out, joined, MPI_INT, op, comm);
      break;
    case 6:
#ifdef OPEN_MPI /* MPICH wants an address even where nothing is written */
      MPI_Exscan(in, rank == 0 && in_place ? NULL : out, joined, MPI_INT, op, comm);
#else
      MPI_Exscan(in, out, joined, MPI_INT, op, comm);
#endif
      if (rank == 0) memset(out, 0, sizeof(int) * (size_t)joined); /* what rank 0 has is anything */
      break;
    case 7:
      MPI_Reduce_scatter_block(in, out, n, MPI_INT, op, comm);
      break;
    case 8:
      lay_out(p, 4, counts, places, salt);
      MPI_Reduce_scatter(in, out, counts, MPI_INT, op, comm);
      break;
    case 9:
      MPI_Gather(in, n, MPI_INT, out, n / 2, pairs, root, comm);
      break;
    case 10:
      lay_out(p, 2, counts, places, salt);
      if (in_place && rank == root) memcpy(out + places[rank], in, sizeof(int) * (size_t)counts[rank]);
      MPI_Gatherv(in_place && rank == root ? MPI_IN_PLACE : in, counts[rank], MPI_INT, out, counts, places,
                  MPI_INT, root, comm);
      break;
    case 11:
      MPI_Scatter(in, n, MPI_INT, out, n / 2, MPI_2INT, root, comm);
      break;
    case 12:
      lay_out(p, 2, counts, places, salt);
      MPI_Scatterv(in, counts, places, MPI_INT, out, counts[rank], MPI_INT, root, comm);
      break;
    case 13:
      lay_out(p, 2, counts, places, salt);
      if (pick(2)) {
        MPI_Allgatherv(in, counts[rank] / 2, pairs, out, counts, places, MPI_INT, comm);
      } else {
        if (in_place) memcpy(out + (size_t)rank * (size_t)n, in, sizeof(int) * (size_t)n);
        MPI_Allgather(in_place ? MPI_IN_PLACE : in, n, MPI_INT, out, n, MPI_INT, comm);
      }
      break;
    case 14:
      if (in_place) memcpy(out, in, sizeof(int) * (size_t)(n * p));
      MPI_Alltoall(in_place ? MPI_IN_PLACE : in, n, MPI_INT, out, n, MPI_INT, comm);
      break;
    case 15: {
      /* Rank r sends (r + s) % 5 pairs to rank s, and gets as many. */
      MPI_Datatype types[64];
      int at = 0;
      for (int r = 0; r < p; ++r) {
        counts[r] = (rank + r + (int)salt) % 5 * 2;
        places[r] = at;
        other_counts[r] = counts[r];
        at += counts[r] + r % 3;
      }
      if (pick(2)) {
        MPI_Alltoallv(in, counts, places, MPI_INT, out, other_counts, places, MPI_INT, comm);
      } else {
        for (int r = 0; r < p; ++r) {
          types[r] = MPI_INT;
          places[r] *= (int)sizeof(int);
        }
        MPI_Alltoallw(in, counts, places, types, out, other_counts, places, types, comm);
      }
      break;
    }
    default: {
      int degrees[2] = {0, 0}, weighted;
      MPI_Datatype types[16];
      MPI_Aint far_places[16];
      if (topology == MPI_CART) {
        MPI_Cartdim_get(comm, &degrees[0]);
        degrees[0] = degrees[1] = 2 * degrees[0];
      } else {
        MPI_Dist_graph_neighbors_count(comm, &degrees[0], &degrees[1], &weighted);
      }
      const int most_degree = degrees[0] > degrees[1] ? degrees[0] : degrees[1];
      for (int i = 0; i < most_degree; ++i) {
        counts[i] = n / 4;
        places[i] = i * (n / 4 + 1);
        types[i] = MPI_INT;
        far_places[i] = places[i] * (MPI_Aint)sizeof(int);
      }
      /* Only in one direction, each rank may send another size than it receives. */
#ifdef OPEN_MPI /* which refuses it */
      const int is_one_way = 0;
#else
      const int is_one_way = topology == MPI_DIST_GRAPH && degrees[0] == 1 && degrees[1] == 1;
#endif
      const int more_sent = is_one_way ? 2 * (rank % 3) : 0;
      const int more_received = is_one_way ? 2 * ((rank + p - 1) % p % 3) : 0;
      switch (pick(5)) {
        case 0:
          MPI_Neighbor_alltoall(in, n + more_sent, MPI_INT, out, n + more_received, MPI_INT, comm);
          break;
        case 1:
          MPI_Neighbor_allgather(in, n + more_sent, MPI_INT, out, (n + more_received) / 2, MPI_2INT, comm);
          break;
        case 2:
          MPI_Neighbor_alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm);
          break;
        case 3:
          /* MPICH 4.0.2 loses the blocks of ranks that send and receive different numbers of them. */
          if (most_degree < 4) break;
          MPI_Neighbor_alltoallw(in, counts, far_places, types, out, counts, far_places, types, comm);
          break;
        default:
          MPI_Neighbor_allgatherv(in, n / 4, MPI_INT, out, counts, places, MPI_INT, comm);
          break;
      }
    }
  }
  look_at(out, sizeof(int) * (size_t)(joined > looked_at ? joined : looked_at));
}

/* The last call of a communicator comes while it is freed. */
static int call_once_more(MPI_Comm comm, int key, void* value, void* extra) {
  int one = 1, sum = 0;
  (void)key, (void)value, (void)extra;
  const int code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  look_at(&sum, sizeof sum);
  return code;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  shared_state = strtoull(argv[1], NULL, 10);
  const int steps = atoi(argv[2]);
  int rank, p;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);

  MPI_Op matrices;
  MPI_Datatype pairs;
  MPI_Op_create(multiply, 0, &matrices);
  MPI_Type_contiguous(2, MPI_INT, &pairs);
  MPI_Type_commit(&pairs);

  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, call_once_more, &key, NULL);

  enum { kinds = 7 };
  MPI_Comm comms[kinds];
  for (int round = 0; round < 3; ++round) {
    int dims[2] = {0, 0}, periods[2] = {1, round % 2}, offsets[8] = {1, 2, -1, -2, 3, 1, 0, -1};
    int sources[8], targets[8], weights[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    MPI_Dims_create(p, 2, dims);
    for (int i = 0; i < 8; ++i) {
      targets[i] = ((rank + offsets[i]) % p + p) % p;
      sources[i] = ((rank - offsets[i]) % p + p) % p;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank < (p + 1) / 2, rank, &comms[2]);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comms[3]);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 8, sources, weights, 8, targets, weights, MPI_INFO_NULL, 0,
                                   &comms[4]);
    /* A graph that looks different from each rank: rank r has r % 3 blocks for the next. */
    int out_degree = rank % 3, in_degree = (rank + p - 1) % p % 3;
    for (int i = 0; i < 3; ++i) {
      targets[i] = (rank + 1) % p;
      sources[i] = (rank + p - 1) % p;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in_degree, sources, weights, out_degree, targets, weights,
                                   MPI_INFO_NULL, 0, &comms[5]);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, weights, 1, targets, weights, MPI_INFO_NULL, 0,
                                   &comms[6]);
    for (int i = 0; i < kinds; ++i) MPI_Comm_set_attr(comms[(i + round) % kinds], key, NULL);
    for (int step = 0; step < steps; ++step) step_on(comms[pick(kinds)], step, matrices, pairs);
    for (int i = 0; i < kinds; ++i) MPI_Comm_free(&comms[i]);
  }
  MPI_Comm_free_keyval(&key);
  MPI_Op_free(&matrices);
  MPI_Type_free(&pairs);
  printf("%d %016llx\n", rank, (unsigned long long)result);
  MPI_Finalize();
  return 0;
}
