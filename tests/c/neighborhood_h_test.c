/* Every function of wisp/neighborhood.h and wisp/iso.h, from C99, on real ranks. */
#define _POSIX_C_SOURCE 200112L /* setenv */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "wisp/iso.h"
#include "wisp/wisp.h"

#define S 5
#define COUNT 2

static WISP_Neighborhood neighborhood = WISP_NEIGHBORHOOD_NULL;
static MPI_Comm isocomm = MPI_COMM_NULL;

/* On a ring: repeated, zero, both sides, longer than the ring. */
static const int offsets[S] = {1, -1, 0, 2, 1};

static int in[S * COUNT];
static int out[S * COUNT];

static void reset(void) {
  int i;
  for (i = 0; i < S * COUNT; ++i) {
    in[i] = 1000 * rank + i;
    out[i] = -1;
  }
}
/* Block i comes from the rank at minus offset i; it is its block i, or (allgather) its block 0. */
static int is_right(int is_allgather) {
  int i;
  int e;
  for (i = 0; i < S; ++i) {
    const int source = ((rank - offsets[i]) % size + size) % size;
    for (e = 0; e < COUNT; ++e) {
      if (out[i * COUNT + e] != 1000 * source + (is_allgather ? 0 : i * COUNT) + e) return 0;
    }
  }
  return 1;
}

#define LIST(...) __VA_ARGS__

#define FORMS(blocking, nonblocking, persistent, arguments, is_allgather)  \
  do {                                                                     \
    WISP_Request request = WISP_REQUEST_NULL;                              \
    int run;                                                               \
    reset();                                                               \
    OK(blocking(LIST arguments, neighborhood));                            \
    EXPECT(is_right(is_allgather));                                        \
    reset();                                                               \
    OK(nonblocking(LIST arguments, neighborhood, &request));               \
    OK(WISP_Wait(&request, MPI_STATUS_IGNORE));                            \
    EXPECT(is_right(is_allgather));                                        \
    OK(persistent(LIST arguments, neighborhood, MPI_INFO_NULL, &request)); \
    for (run = 0; run < 2; ++run) {                                        \
      reset();                                                             \
      OK(WISP_Start(&request));                                            \
      OK(WISP_Wait(&request, MPI_STATUS_IGNORE));                          \
      EXPECT(is_right(is_allgather));                                      \
    }                                                                      \
    OK(WISP_Request_free(&request));                                       \
  } while (0)

#define BOTH(Name, name, arguments, arguments_c, is_allgather)                      \
  FORMS(WISP_N##Name, WISP_In##Name, WISP_N##Name##_init, arguments, is_allgather); \
  FORMS(WISP_N##Name##_c, WISP_In##Name##_c, WISP_N##Name##_init_c, arguments_c, is_allgather)

static void test_collectives(void) {
  int counts[S];
  int displs[S];
  MPI_Count counts_c[S];
  MPI_Aint displs_c[S];
  MPI_Aint bytes[S];
  MPI_Datatype types[S];
  int i;
  for (i = 0; i < S; ++i) {
    counts[i] = COUNT;
    counts_c[i] = COUNT;
    displs[i] = i * COUNT;
    displs_c[i] = i * COUNT;
    bytes[i] = i * COUNT * (MPI_Aint)sizeof(int);
    types[i] = MPI_INT;
  }
  BOTH(eighbor_alltoall, neighbor_alltoall, (in, COUNT, MPI_INT, out, COUNT, MPI_INT),
       (in, COUNT, MPI_INT, out, COUNT, MPI_INT), 0);
  BOTH(eighbor_alltoallv, neighbor_alltoallv, (in, counts, displs, MPI_INT, out, counts, displs, MPI_INT),
       (in, counts_c, displs_c, MPI_INT, out, counts_c, displs_c, MPI_INT), 0);
  BOTH(eighbor_alltoallw, neighbor_alltoallw, (in, counts, bytes, types, out, counts, bytes, types),
       (in, counts_c, bytes, types, out, counts_c, bytes, types), 0);
  BOTH(eighbor_allgather, neighbor_allgather, (in, COUNT, MPI_INT, out, COUNT, MPI_INT),
       (in, COUNT, MPI_INT, out, COUNT, MPI_INT), 1);
  BOTH(eighbor_allgatherv, neighbor_allgatherv, (in, COUNT, MPI_INT, out, counts, displs, MPI_INT),
       (in, COUNT, MPI_INT, out, counts_c, displs_c, MPI_INT), 1);
  BOTH(eighbor_allgatherw, neighbor_allgatherw, (in, COUNT, MPI_INT, out, counts, bytes, types),
       (in, COUNT, MPI_INT, out, counts_c, bytes, types), 1);
}

static void test_infos(void) {
  static const char* const algorithms[] = {"straightforward", "direct", "torus", "torus-direct", "basis"};
  int i;
  for (i = 0; i < 5; ++i) {
    MPI_Info info = MPI_INFO_NULL;
    WISP_Request request = WISP_REQUEST_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "wisp_algorithm", algorithms[i]);
    MPI_Info_set(info, "wisp_ports", "2");
    MPI_Info_set(info, "wisp_copying", i % 2 == 0 ? "pack" : "datatypes");
    reset();
    OK(WISP_Neighbor_alltoall_init(in, COUNT, MPI_INT, out, COUNT, MPI_INT, neighborhood, info, &request));
    OK(WISP_Start(&request));
    OK(WISP_Wait(&request, MPI_STATUS_IGNORE));
    EXPECT(is_right(0));
    OK(WISP_Request_free(&request));
    MPI_Info_set(info, "wisp_ports", "many");
    EXPECT(WISP_Neighbor_alltoall_init(in, COUNT, MPI_INT, out, COUNT, MPI_INT, neighborhood, info,
                                       &request) == MPI_ERR_INFO_VALUE);
    EXPECT(strcmp(WISP_Error_message(), "WISP_Neighbor_alltoall_init: wisp_ports = many is not a number") ==
           0);
    MPI_Info_free(&info);
  }
}

static void test_queries(void) {
  int d = 0;
  int s = 0;
  int sources[S];
  int targets[S];
  int weights[S] = {0};
  int back[S] = {0};
  int index = 0;
  int source = 0;
  int target = 0;
  int i;
  int offset = size + 1;
  char text[4000];
  OK(WISP_Neighborhood_count(neighborhood, &d, &s));
  EXPECT(d == 1 && s == S);
  OK(WISP_Neighborhood_count(neighborhood, NULL, NULL));
  OK(WISP_Neighborhood_get(neighborhood, S, sources, targets, weights));
  OK(WISP_Neighborhood_get(neighborhood, S, NULL, NULL, NULL));
  OK(WISP_Neighborhood_get_relative(neighborhood, S, back, NULL));
  for (i = 0; i < S; ++i) {
    EXPECT(targets[i] == ((rank + offsets[i]) % size + size) % size);
    EXPECT(sources[i] == ((rank - offsets[i]) % size + size) % size);
    EXPECT(weights[i] == 10 * i);
    EXPECT(back[i] == offsets[i]);
  }
  OK(WISP_Neighborhood_find_offset(neighborhood, &offset, &index));
  EXPECT(index == 0);
  OK(WISP_Neighborhood_find_rank(neighborhood, size, &index));
  EXPECT(index == MPI_UNDEFINED);
  OK(WISP_Neighborhood_shift(neighborhood, &offset, &source, &target));
  EXPECT(source == (rank + size - 1) % size && target == (rank + 1) % size);
  OK(WISP_Neighborhood_relative_rank(neighborhood, &offset, &target));
  EXPECT(target == (rank + 1) % size);
  OK(WISP_Neighborhood_relative_offset(neighborhood, (rank + 1) % size, &offset));
  EXPECT((offset % size + size) % size == 1 % size);
  OK(WISP_Neighborhood_describe(neighborhood, 0, 8, text, (int)sizeof text));
  EXPECT(strstr(text, "straightforward") != NULL && strstr(text, "chosen") != NULL);
  OK(WISP_Neighborhood_describe(neighborhood, 1, 8, text, 4));
  EXPECT(strlen(text) == 3);
  OK(WISP_Neighborhood_check_operations(neighborhood, 1));
  reset();
  OK(WISP_Neighbor_alltoall(in, COUNT, MPI_INT, out, COUNT, MPI_INT, neighborhood));
  EXPECT(is_right(0));
  OK(WISP_Neighborhood_check_operations(neighborhood, 0));
}

static void test_offsets(void) {
  static const int radii[] = {1, 3};
  int list[200];
  int s = 0;
  OK(WISP_Offsets_moore(2, 1, 100, list, &s));
  EXPECT(s == 8 && list[0] == -1 && list[15] == 1);
  OK(WISP_Offsets_moore(3, 3, 0, NULL, &s));
  EXPECT(s == 342);
  OK(WISP_Offsets_von_neumann(3, 1, 60, list, &s));
  EXPECT(s == 6);
  OK(WISP_Offsets_octant(3, 1, 60, list, &s));
  EXPECT(s == 7);
  OK(WISP_Offsets_shales(2, 2, radii, 100, list, &s));
  EXPECT(s == 8 + 24);
}

static void test_empty(void) {
  WISP_Neighborhood empty = WISP_NEIGHBORHOOD_NULL;
  OK(WISP_Neighborhood_create(comm, 1, &size, NULL, 0, NULL, NULL, &empty));
  OK(WISP_Neighbor_alltoall(NULL, 1, MPI_INT, NULL, 1, MPI_INT, empty));
  OK(WISP_Neighbor_alltoallv(NULL, NULL, NULL, MPI_INT, NULL, NULL, NULL, MPI_INT, empty));
  OK(WISP_Neighbor_alltoallw(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, empty));
  OK(WISP_Neighbor_allgatherw(NULL, 0, MPI_INT, NULL, NULL, NULL, NULL, empty));
  OK(WISP_Neighborhood_free(&empty));
  EXPECT(empty == WISP_NEIGHBORHOOD_NULL);
}

/* Two blocks to the next rank and one to oneself, on lists and on MPI's graph of them. */
static void test_lists(void) {
  int rank = 0, size = 0, kind, i, in_degree = 0, out_degree = 0;
  const int ones[3] = {1, 1, 1};
  int targets[3], sources[3], send[3], receive[3];
  WISP_Neighborhood wrong;
  MPI_Comm graph = MPI_COMM_NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  targets[0] = targets[2] = (rank + 1) % size;
  targets[1] = rank;
  sources[0] = rank;
  sources[1] = sources[2] = (rank + size - 1) % size;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, sources, ones, 3, targets, ones, MPI_INFO_NULL, 0,
                                 &graph);
  for (kind = 0; kind < 2; ++kind) {
    WISP_Neighborhood lists;
    WISP_Request request;
    if (kind == 0) {
      WISP_Comm comm;
      OK(WISP_Comm_duplicate(MPI_COMM_WORLD, &comm));
      OK(WISP_Neighborhood_create_adjacent(comm, 3, sources, 3, targets, &lists));
      OK(WISP_Comm_free(&comm));
    } else {
      OK(WISP_Neighborhood_create_graph(graph, &lists));
    }
    OK(WISP_Neighborhood_degrees(lists, &in_degree, &out_degree));
    EXPECT(in_degree == 3 && out_degree == 3);
    receive[0] = -1; /* there are no weights */
    OK(WISP_Neighborhood_get(lists, 3, send, NULL, receive));
    EXPECT(send[0] == sources[0] && receive[0] == -1);
    for (i = 0; i < 3; ++i) send[i] = 10 * rank + i;
    OK(WISP_Neighbor_alltoall_init(send, 1, MPI_INT, receive, 1, MPI_INT, lists, MPI_INFO_NULL, &request));
    for (i = 0; i < 2; ++i) {
      receive[0] = receive[1] = receive[2] = -1;
      OK(WISP_Start(&request));
      OK(WISP_Wait(&request, MPI_STATUS_IGNORE));
      if (size > 1) {
        EXPECT(receive[0] == send[1]);
        EXPECT(receive[1] == 10 * sources[1] && receive[2] == 10 * sources[1] + 2);
      } else {
        EXPECT(receive[0] == 0 && receive[1] == 1 && receive[2] == 2);
      }
    }
    OK(WISP_Request_free(&request));
    EXPECT(WISP_Neighborhood_count(lists, &i, &i) == MPI_ERR_TOPOLOGY);
    OK(WISP_Neighborhood_free(&lists));
  }
  EXPECT(WISP_Neighborhood_create_graph(MPI_COMM_WORLD, &wrong) == MPI_ERR_TOPOLOGY);
  MPI_Comm_free(&graph);
}

static void test_errors(void) {
  WISP_Neighborhood made = WISP_NEIGHBORHOOD_NULL;
  int wrong = size + 1;
  char sentence[200];
  EXPECT(WISP_Neighborhood_create(comm, 1, &wrong, NULL, S, offsets, NULL, &made) == MPI_ERR_DIMS);
  snprintf(sentence, sizeof sentence,
           "WISP_Neighborhood_create: the torus %d has %d ranks, but the communicator %d", wrong, wrong,
           size);
  EXPECT(strcmp(WISP_Error_message(), sentence) == 0);
  EXPECT(WISP_Neighborhood_create(comm, 1, &size, NULL, S, NULL, NULL, &made) == MPI_ERR_ARG);
  EXPECT(WISP_Neighborhood_create(comm, 1, &size, NULL, -1, offsets, NULL, &made) == MPI_ERR_COUNT);
  EXPECT(WISP_Neighborhood_create_cart(MPI_COMM_WORLD, S, offsets, NULL, &made) == MPI_ERR_TOPOLOGY);
  EXPECT(WISP_Neighborhood_create_cart(MPI_COMM_NULL, S, offsets, NULL, &made) == MPI_ERR_COMM);
  EXPECT(strcmp(WISP_Error_message(), "WISP_Neighborhood_create_cart: cart = MPI_COMM_NULL") == 0);
  EXPECT(WISP_Neighborhood_create_graph(MPI_COMM_NULL, &made) == MPI_ERR_COMM);
  EXPECT(WISP_Neighbor_alltoall(in, COUNT, MPI_INT, out, COUNT, MPI_INT, WISP_NEIGHBORHOOD_NULL) ==
         MPI_ERR_ARG);
  EXPECT(WISP_Neighbor_alltoall(in, COUNT, MPI_INT, out, COUNT + 1, MPI_INT, neighborhood) ==
         MPI_ERR_TRUNCATE);
  EXPECT(WISP_Neighbor_alltoallv(in, NULL, NULL, MPI_INT, out, NULL, NULL, MPI_INT, neighborhood) ==
         MPI_ERR_ARG);
  EXPECT(WISP_Neighborhood_free(&made) == MPI_ERR_ARG);
}

/* With checking on, what is wrong on one rank is an error on all. */
static void test_checked_creation(void) {
  WISP_Neighborhood made = WISP_NEIGHBORHOOD_NULL;
  MPI_Comm cart = MPI_COMM_NULL;
  const int odd = size - 1, zero = 0, nobody = MPI_PROC_NULL, periodic = 1;
  char sentence[200];
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &cart);
  setenv("WISP_CHECK", "1", 1);
  EXPECT(WISP_Neighborhood_create(comm, 1, &size, NULL, rank == odd ? -1 : S, offsets, NULL, &made) ==
         MPI_ERR_COUNT);
  snprintf(sentence, sizeof sentence, "WISP_Neighborhood_create: s = -1 is below 0 (on rank %d)", odd);
  EXPECT(strcmp(WISP_Error_message(), sentence) == 0);
  EXPECT(WISP_Neighborhood_create(comm, 1, rank == odd ? &zero : &size, NULL, S, offsets, NULL, &made) ==
         MPI_ERR_DIMS);
  EXPECT(WISP_Neighborhood_create_cart(cart, S, rank == odd ? NULL : offsets, NULL, &made) == MPI_ERR_ARG);
  EXPECT(WISP_Neighborhood_create_adjacent(comm, 1, rank == odd ? &size : &nobody, 1, &nobody, &made) ==
         MPI_ERR_RANK);
  EXPECT(WISP_Neighborhood_create_adjacent(comm, 1, &nobody, 1, rank == odd ? NULL : &nobody, &made) ==
         MPI_ERR_ARG);
  EXPECT(WISP_Neighborhood_create_adjacent(comm, rank == odd, &rank, 0, NULL, &made) == MPI_ERR_ARG);
  EXPECT(made == WISP_NEIGHBORHOOD_NULL);
  OK(WISP_Neighborhood_create_adjacent(comm, 1, &nobody, 1, &nobody, &made));
  OK(WISP_Neighborhood_free(&made));
  unsetenv("WISP_CHECK");
  MPI_Comm_free(&cart);
}

/* Beyond the border nobody is, and what would come from there stays as it is. */
static void test_mesh(void) {
  static const int both[] = {1, -1};
  static const int periods[] = {0};
  const int sent[] = {10 * rank, 10 * rank + 1};
  int got[] = {-7, -7}, sources[2], targets[2], weights[2];
  WISP_Neighborhood mesh = WISP_NEIGHBORHOOD_NULL;
  OK(WISP_Neighborhood_create(comm, 1, &size, periods, 2, both, NULL, &mesh));
  OK(WISP_Neighborhood_get(mesh, 2, sources, targets, weights));
  EXPECT(sources[0] == (rank > 0 ? rank - 1 : MPI_PROC_NULL) && targets[1] == sources[0]);
  EXPECT(targets[0] == (rank + 1 < size ? rank + 1 : MPI_PROC_NULL) && sources[1] == targets[0]);
  OK(WISP_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, mesh));
  EXPECT(got[0] == (rank > 0 ? 10 * (rank - 1) : -7));
  EXPECT(got[1] == (rank + 1 < size ? 10 * (rank + 1) + 1 : -7));
  OK(WISP_Neighborhood_free(&mesh));
}

/* The names of the paper, on a Cartesian communicator. */
static void test_iso(void) {
  MPI_Comm cart = MPI_COMM_NULL;
  const int periodic = 1;
  int counts[S];
  MPI_Aint displs[S];
  MPI_Aint bytes[S];
  MPI_Datatype types[S];
  Iso_request requests[6];
  int i;
  int k;
  int run;
  for (i = 0; i < S; ++i) {
    counts[i] = COUNT;
    displs[i] = i * COUNT;
    bytes[i] = i * COUNT * (MPI_Aint)sizeof(int);
    types[i] = MPI_INT;
  }
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &cart);
  EXPECT(Iso_neighborhood_create(MPI_COMM_WORLD, S, offsets, &isocomm) == MPI_ERR_TOPOLOGY);
  setenv("WISP_CHECK", "1", 1);
  EXPECT(Iso_neighborhood_create(cart, rank == 0 ? -1 : S, offsets, &isocomm) != MPI_SUCCESS);
  EXPECT(Iso_neighborhood_create(cart, S, rank == size - 1 ? NULL : offsets, &isocomm) != MPI_SUCCESS);
  EXPECT(isocomm == MPI_COMM_NULL);
  unsetenv("WISP_CHECK");
  OK(Iso_neighborhood_create(cart, S, offsets, &isocomm));
  {
    WISP_Neighborhood of_cart = WISP_NEIGHBORHOOD_NULL;
    OK(WISP_Neighborhood_create_cart(cart, S, offsets, NULL, &of_cart));
    reset();
    OK(WISP_Neighbor_alltoall(in, COUNT, MPI_INT, out, COUNT, MPI_INT, of_cart));
    EXPECT(is_right(0));
    OK(WISP_Neighborhood_free(&of_cart));
  }
  MPI_Comm_free(&cart);
  OK(Iso_neighbor_alltoall_init(in, COUNT, MPI_INT, out, COUNT, MPI_INT, isocomm, &requests[0]));
  OK(Iso_neighbor_alltoallv_init(in, counts, displs, MPI_INT, out, counts, displs, MPI_INT, isocomm,
                                 &requests[1]));
  OK(Iso_neighbor_alltoallw_init(in, counts, bytes, types, out, counts, bytes, types, isocomm, &requests[2]));
  OK(Iso_neighbor_allgather_init(in, COUNT, MPI_INT, out, COUNT, MPI_INT, isocomm, &requests[3]));
  OK(Iso_neighbor_allgatherv_init(in, COUNT, MPI_INT, out, counts, displs, MPI_INT, isocomm, &requests[4]));
  OK(Iso_neighbor_allgatherw_init(in, COUNT, MPI_INT, out, counts, bytes, types, isocomm, &requests[5]));
  for (run = 0; run < 2; ++run) {
    for (k = 0; k < 6; ++k) {
      reset();
      OK(Iso_start(&requests[k]));
      EXPECT(is_right(k >= 3));
      OK(Iso_wait(&requests[k]));
    }
  }
  /* Initiated only, as WISP_Start does it. */
  reset();
  OK(WISP_Start(&requests[0]));
  OK(Iso_wait(&requests[0]));
  EXPECT(is_right(0));
  for (k = 0; k < 6; ++k) OK(Iso_request_free(&requests[k]));
  EXPECT(Iso_neighbor_alltoall_init(in, COUNT, MPI_INT, out, COUNT, MPI_INT, MPI_COMM_WORLD, &requests[0]) ==
         MPI_ERR_COMM);
  MPI_Comm_free(&isocomm);
}

int main(int argc, char** argv) {
  static const int weights[S] = {0, 10, 20, 30, 40};
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  OK(WISP_Comm_duplicate(MPI_COMM_WORLD, &comm));
  OK(WISP_Neighborhood_create(comm, 1, &size, NULL, S, offsets, weights, &neighborhood));
  RUN(test_collectives);
  RUN(test_infos);
  RUN(test_queries);
  RUN(test_offsets);
  RUN(test_empty);
  RUN(test_lists);
  RUN(test_errors);
  RUN(test_checked_creation);
  RUN(test_mesh);
  RUN(test_iso);
  OK(WISP_Neighborhood_free(&neighborhood));
  OK(WISP_Comm_free(&comm));
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && failures == 0) printf("every function of wisp/neighborhood.h works on %d ranks\n", size);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
