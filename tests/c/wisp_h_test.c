/* Every function of wisp.h, from C99, on real ranks: results beside MPI's own, and errors. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "wisp/wisp.h"

#define MOST_RANKS 64
#define COUNT 5

/* Buffers of all collectives: filled anew before each call, compared with what MPI gives. */
static int in[MOST_RANKS * COUNT];
static int result[MOST_RANKS * COUNT];
static int result_too[MOST_RANKS * COUNT];
static int expected[MOST_RANKS * COUNT];
static int expected_too[MOST_RANKS * COUNT];

static void reset(void) {
  int i;
  for (i = 0; i < MOST_RANKS * COUNT; ++i) {
    in[i] = 1000 * rank + i;
    result[i] = rank;
    result_too[i] = -1;
  }
}
static void keep_expected(void) {
  memcpy(expected, result, sizeof expected);
  memcpy(expected_too, result_too, sizeof expected_too);
}
static int is_right(void) {
  return memcmp(result, expected, sizeof expected) == 0 &&
         memcmp(result_too, expected_too, sizeof expected_too) == 0;
}

#define LIST(...) __VA_ARGS__

/* All forms of one collective with one kind of counts. */
#define FORMS(blocking, nonblocking, persistent, arguments)        \
  do {                                                             \
    WISP_Request request = WISP_REQUEST_NULL;                      \
    int run;                                                       \
    reset();                                                       \
    OK(blocking(LIST arguments, comm));                            \
    EXPECT(is_right());                                            \
    reset();                                                       \
    OK(nonblocking(LIST arguments, comm, &request));               \
    OK(WISP_Wait(&request, MPI_STATUS_IGNORE));                    \
    EXPECT(request == WISP_REQUEST_NULL);                          \
    EXPECT(is_right());                                            \
    OK(persistent(LIST arguments, comm, MPI_INFO_NULL, &request)); \
    for (run = 0; run < 2; ++run) {                                \
      reset();                                                     \
      OK(WISP_Start(&request));                                    \
      OK(WISP_Wait(&request, MPI_STATUS_IGNORE));                  \
      EXPECT(is_right());                                          \
    }                                                              \
    OK(WISP_Request_free(&request));                               \
  } while (0)

/* `arguments` with int counts, `arguments_c` with MPI_Count. */
#define ALL_FORMS(Name, name, arguments, arguments_c)                            \
  do {                                                                           \
    WISP_Request range_request = WISP_REQUEST_NULL;                              \
    keep_expected();                                                             \
    FORMS(WISP_##Name, WISP_I##name, WISP_##Name##_init, arguments);             \
    FORMS(WISP_##Name##_c, WISP_I##name##_c, WISP_##Name##_init_c, arguments_c); \
    reset();                                                                     \
    OK(WISP_I##name##_range(LIST arguments, comm, &range_request, 0, size - 1)); \
    OK(WISP_Wait(&range_request, MPI_STATUS_IGNORE));                            \
    EXPECT(is_right());                                                          \
  } while (0)

static void merge_ints(void* first, void* first_end, void* second, void* second_end, void* to) {
  const int *a = first, *a_end = first_end, *b = second, *b_end = second_end;
  int* out = to;
  while (a != a_end || b != b_end) {
    if (b == b_end || (a != a_end && *a <= *b)) {
      *out++ = *a++;
    } else {
      *out++ = *b++;
    }
  }
}

static void test_regular(void) {
  const int root = size / 2;
  reset();
  MPI_Bcast(result, COUNT, MPI_INT, root, MPI_COMM_WORLD);
  ALL_FORMS(Bcast, bcast, (result, COUNT, MPI_INT, root), (result, COUNT, MPI_INT, root));
  reset();
  MPI_Reduce(in, result, COUNT, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
  ALL_FORMS(Reduce, reduce, (in, result, COUNT, MPI_INT, MPI_SUM, root),
            (in, result, COUNT, MPI_INT, MPI_SUM, root));
  reset();
  MPI_Allreduce(in, result, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  ALL_FORMS(Allreduce, allreduce, (in, result, COUNT, MPI_INT, MPI_SUM),
            (in, result, COUNT, MPI_INT, MPI_SUM));
  reset();
  MPI_Scan(in, result, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  ALL_FORMS(Scan, scan, (in, result, COUNT, MPI_INT, MPI_SUM), (in, result, COUNT, MPI_INT, MPI_SUM));
  MPI_Allreduce(in, result_too, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  ALL_FORMS(Scan_and_bcast, scan_and_bcast, (in, result, result_too, COUNT, MPI_INT, MPI_SUM),
            (in, result, result_too, COUNT, MPI_INT, MPI_SUM));
  reset();
  MPI_Exscan(in, result, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) reset();
  ALL_FORMS(Exscan, exscan, (in, result, COUNT, MPI_INT, MPI_SUM), (in, result, COUNT, MPI_INT, MPI_SUM));
  reset();
  MPI_Reduce_scatter_block(in, result, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  ALL_FORMS(Reduce_scatter_block, reduce_scatter_block, (in, result, COUNT, MPI_INT, MPI_SUM),
            (in, result, COUNT, MPI_INT, MPI_SUM));
  reset();
  MPI_Gather(in, COUNT, MPI_INT, result, COUNT, MPI_INT, root, MPI_COMM_WORLD);
  ALL_FORMS(Gather, gather, (in, COUNT, MPI_INT, result, COUNT, MPI_INT, root),
            (in, COUNT, MPI_INT, result, COUNT, MPI_INT, root));
  /* Ranks have ascending numbers, so merging is gathering. */
  ALL_FORMS(Gatherm, gatherm, (in, COUNT, MPI_INT, result, COUNT * size, root, merge_ints),
            (in, COUNT, MPI_INT, result, COUNT * size, root, merge_ints));
  reset();
  MPI_Allgather(in, COUNT, MPI_INT, result, COUNT, MPI_INT, MPI_COMM_WORLD);
  ALL_FORMS(Allgather, allgather, (in, COUNT, MPI_INT, result, COUNT, MPI_INT),
            (in, COUNT, MPI_INT, result, COUNT, MPI_INT));
  ALL_FORMS(Allgatherm, allgatherm, (in, COUNT, MPI_INT, result, COUNT * size, merge_ints),
            (in, COUNT, MPI_INT, result, COUNT * size, merge_ints));
  reset();
  MPI_Scatter(in, COUNT, MPI_INT, result, COUNT, MPI_INT, root, MPI_COMM_WORLD);
  ALL_FORMS(Scatter, scatter, (in, COUNT, MPI_INT, result, COUNT, MPI_INT, root),
            (in, COUNT, MPI_INT, result, COUNT, MPI_INT, root));
  reset();
  MPI_Alltoall(in, COUNT, MPI_INT, result, COUNT, MPI_INT, MPI_COMM_WORLD);
  ALL_FORMS(Alltoall, alltoall, (in, COUNT, MPI_INT, result, COUNT, MPI_INT),
            (in, COUNT, MPI_INT, result, COUNT, MPI_INT));
}

static void test_irregular(void) {
  const int root = size - 1;
  int counts[MOST_RANKS], displs[MOST_RANKS], byte_displs[MOST_RANKS], same[MOST_RANKS];
  MPI_Count counts_c[MOST_RANKS], same_c[MOST_RANKS];
  MPI_Aint displs_c[MOST_RANKS], byte_displs_c[MOST_RANKS];
  MPI_Datatype types[MOST_RANKS];
  int i;
  for (i = 0; i < size; ++i) {
    counts[i] = i % 3;
    displs[i] = COUNT * (size - 1 - i); /* backwards, with gaps */
    same[i] = (i + rank) % 3;
    byte_displs[i] = displs[i] * (int)sizeof(int);
    counts_c[i] = counts[i];
    displs_c[i] = displs[i];
    same_c[i] = same[i];
    byte_displs_c[i] = byte_displs[i];
    types[i] = MPI_INT;
  }
  reset();
  MPI_Gatherv(in, counts[rank], MPI_INT, result, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
  ALL_FORMS(Gatherv, gatherv, (in, counts[rank], MPI_INT, result, counts, displs, MPI_INT, root),
            (in, counts[rank], MPI_INT, result, counts_c, displs_c, MPI_INT, root));
  reset();
  MPI_Allgatherv(in, counts[rank], MPI_INT, result, counts, displs, MPI_INT, MPI_COMM_WORLD);
  ALL_FORMS(Allgatherv, allgatherv, (in, counts[rank], MPI_INT, result, counts, displs, MPI_INT),
            (in, counts[rank], MPI_INT, result, counts_c, displs_c, MPI_INT));
  reset();
  MPI_Scatterv(in, counts, displs, MPI_INT, result, counts[rank], MPI_INT, root, MPI_COMM_WORLD);
  ALL_FORMS(Scatterv, scatterv, (in, counts, displs, MPI_INT, result, counts[rank], MPI_INT, root),
            (in, counts_c, displs_c, MPI_INT, result, counts[rank], MPI_INT, root));
  reset();
  MPI_Reduce_scatter(in, result, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  ALL_FORMS(Reduce_scatter, reduce_scatter, (in, result, counts, MPI_INT, MPI_SUM),
            (in, result, counts_c, MPI_INT, MPI_SUM));
  reset();
  MPI_Alltoallv(in, same, displs, MPI_INT, result, same, displs, MPI_INT, MPI_COMM_WORLD);
  ALL_FORMS(Alltoallv, alltoallv, (in, same, displs, MPI_INT, result, same, displs, MPI_INT),
            (in, same_c, displs_c, MPI_INT, result, same_c, displs_c, MPI_INT));
  ALL_FORMS(Alltoallw, alltoallw, (in, same, byte_displs, types, result, same, byte_displs, types),
            (in, same_c, byte_displs_c, types, result, same_c, byte_displs_c, types));
}

/* A block to the next rank, and two to the one after it: of one element, the third, and of none. */
static void test_exchange(void) {
  int destinations[3], counts[3] = {COUNT, 1, 0}, displs[3] = {0, 2, 0}, i, blocks = 0, source = -1;
  int round = 0, of_one = 0, of_none = 0;
  MPI_Count counts_c[3] = {COUNT, 1, 0}, bytes = 0;
  MPI_Aint displs_c[3] = {0, 2, 0};
  const void* data = NULL;
  WISP_Arrivals arrivals = WISP_ARRIVALS_NULL;
  WISP_Request request = WISP_REQUEST_NULL;
  reset();
  for (i = 0; i < 3; ++i) destinations[i] = (rank + (i == 0 ? 1 : 2)) % size;
  EXPECT(WISP_Exchange(3, destinations, in, counts, displs, MPI_INT, arrivals, comm) == MPI_ERR_ARG);
  OK(WISP_Arrivals_create(&arrivals));
#define CHECK_ARRIVALS(call)                                                        \
  OK(call);                                                                         \
  OK(WISP_Arrivals_count(arrivals, &blocks));                                       \
  EXPECT(blocks == 3);                                                              \
  of_one = of_none = 0;                                                             \
  for (i = 0; i < 3; ++i) {                                                         \
    const int before = source;                                                      \
    int way, j;                                                                     \
    OK(WISP_Arrivals_block(arrivals, i, &source, &data, &bytes));                   \
    EXPECT(i == 0 || before <= source);                                             \
    way = bytes == COUNT * (MPI_Count)sizeof(int) ? 1 : 2;                          \
    EXPECT(way == 1 || bytes <= (MPI_Count)sizeof(int));                            \
    of_one += bytes == (MPI_Count)sizeof(int);                                      \
    of_none += bytes == 0;                                                          \
    EXPECT((source + way) % size == rank);                                          \
    for (j = 0; j < (int)(bytes / (MPI_Count)sizeof(int)); ++j)                     \
      EXPECT(((const int*)data)[j] == 1000 * source + j + way * (way - 1) + round); \
  }                                                                                 \
  EXPECT(of_one == 1 && of_none == 1);                                              \
  ++round;                                                                          \
  for (i = 0; i < COUNT; ++i) ++in[i]
  CHECK_ARRIVALS(WISP_Exchange(3, destinations, in, counts, displs, MPI_INT, arrivals, comm));
  CHECK_ARRIVALS(WISP_Exchange_c(3, destinations, in, counts_c, displs_c, MPI_INT, arrivals, comm));
  OK(WISP_Iexchange(3, destinations, in, counts, displs, MPI_INT, arrivals, comm, &request));
  CHECK_ARRIVALS(WISP_Wait(&request, MPI_STATUS_IGNORE));
  OK(WISP_Iexchange_c(3, destinations, in, counts_c, displs_c, MPI_INT, arrivals, comm, &request));
  CHECK_ARRIVALS(WISP_Wait(&request, MPI_STATUS_IGNORE));
  OK(WISP_Iexchange_range(3, destinations, in, counts, displs, MPI_INT, arrivals, comm, &request, 0,
                          size - 1));
  CHECK_ARRIVALS(WISP_Wait(&request, MPI_STATUS_IGNORE));
  OK(WISP_Exchange_init(3, destinations, in, counts, displs, MPI_INT, arrivals, comm, MPI_INFO_NULL,
                        &request));
  OK(WISP_Start(&request));
  CHECK_ARRIVALS(WISP_Wait(&request, MPI_STATUS_IGNORE));
  OK(WISP_Start(&request));
  CHECK_ARRIVALS(WISP_Wait(&request, MPI_STATUS_IGNORE));
  OK(WISP_Request_free(&request));
  OK(WISP_Exchange_init_c(3, destinations, in, counts_c, displs_c, MPI_INT, arrivals, comm, MPI_INFO_NULL,
                          &request));
  OK(WISP_Start(&request));
  CHECK_ARRIVALS(WISP_Wait(&request, MPI_STATUS_IGNORE));
  OK(WISP_Request_free(&request));
  EXPECT(WISP_Arrivals_block(arrivals, 3, &source, &data, &bytes) == MPI_ERR_ARG);
  EXPECT(strcmp(WISP_Error_message(), "WISP_Arrivals_block: i = 3, but 3 blocks have arrived") == 0);
  EXPECT(WISP_Exchange(3, destinations, in, counts, displs, MPI_DATATYPE_NULL, arrivals, comm) ==
         MPI_ERR_TYPE);
  EXPECT(WISP_Exchange(3, destinations, MPI_IN_PLACE, counts, displs, MPI_INT, arrivals, comm) !=
         MPI_SUCCESS);
  EXPECT(WISP_Exchange(3, destinations, NULL, counts, displs, MPI_INT, arrivals, comm) == MPI_ERR_BUFFER);
  counts[0] = counts[1] = -1;
  EXPECT(WISP_Exchange(3, destinations, in, counts, displs, MPI_INT, arrivals, comm) == MPI_ERR_COUNT);
  displs_c[1] = (MPI_Aint)1 << 62; /* as many bytes as none */
  EXPECT(WISP_Exchange_c(3, destinations, in, counts_c, displs_c, MPI_INT, arrivals, comm) == MPI_ERR_ARG);
  EXPECT(
      strcmp(WISP_Error_message(),
             "WISP_Exchange_c: displacement 4611686018427387904 of block 1 of sendbuf is further than memory "
             "reaches") == 0);
  const WISP_Arrivals freed = arrivals;
  OK(WISP_Arrivals_free(&arrivals));
  EXPECT(WISP_Arrivals_create(NULL) == MPI_ERR_ARG); /* makes none in its place */
  EXPECT(WISP_Arrivals_count(freed, &blocks) == MPI_ERR_ARG);
  EXPECT(arrivals == WISP_ARRIVALS_NULL);
}

/* Each collective that may be in place, at the ranks where it may. */
static void test_in_place(void) {
  const int root = size / 2;
  const void* const at_root = rank == root ? MPI_IN_PLACE : in;
  void* const from_root = rank == root ? MPI_IN_PLACE : result;
  int counts[MOST_RANKS], displs[MOST_RANKS], i;
  MPI_Count counts_c[MOST_RANKS];
  MPI_Aint displs_c[MOST_RANKS];
  MPI_Datatype types[MOST_RANKS];
  for (i = 0; i < size; ++i) {
    counts_c[i] = counts[i] = i % COUNT;
    displs_c[i] = displs[i] = COUNT * (size - 1 - i);
    types[i] = MPI_INT;
  }
  reset();
  MPI_Reduce(at_root, result, COUNT, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
  ALL_FORMS(Reduce, reduce, (at_root, result, COUNT, MPI_INT, MPI_SUM, root),
            (at_root, result, COUNT, MPI_INT, MPI_SUM, root));
  reset();
  MPI_Allreduce(MPI_IN_PLACE, result, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  ALL_FORMS(Allreduce, allreduce, (MPI_IN_PLACE, result, COUNT, MPI_INT, MPI_SUM),
            (MPI_IN_PLACE, result, COUNT, MPI_INT, MPI_SUM));
  reset();
  MPI_Scan(MPI_IN_PLACE, result, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  ALL_FORMS(Scan, scan, (MPI_IN_PLACE, result, COUNT, MPI_INT, MPI_SUM),
            (MPI_IN_PLACE, result, COUNT, MPI_INT, MPI_SUM));
  reset();
  MPI_Exscan(MPI_IN_PLACE, result, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  ALL_FORMS(Exscan, exscan, (MPI_IN_PLACE, result, COUNT, MPI_INT, MPI_SUM),
            (MPI_IN_PLACE, result, COUNT, MPI_INT, MPI_SUM));
  reset();
  MPI_Gather(at_root, COUNT, MPI_INT, result, COUNT, MPI_INT, root, MPI_COMM_WORLD);
  ALL_FORMS(Gather, gather, (at_root, COUNT, MPI_INT, result, COUNT, MPI_INT, root),
            (at_root, COUNT, MPI_INT, result, COUNT, MPI_INT, root));
  reset();
  MPI_Gatherv(at_root, counts[rank], MPI_INT, result, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
  ALL_FORMS(Gatherv, gatherv, (at_root, counts[rank], MPI_INT, result, counts, displs, MPI_INT, root),
            (at_root, counts[rank], MPI_INT, result, counts_c, displs_c, MPI_INT, root));
  reset();
  MPI_Scatter(in, COUNT, MPI_INT, from_root, COUNT, MPI_INT, root, MPI_COMM_WORLD);
  ALL_FORMS(Scatter, scatter, (in, COUNT, MPI_INT, from_root, COUNT, MPI_INT, root),
            (in, COUNT, MPI_INT, from_root, COUNT, MPI_INT, root));
  reset();
  MPI_Scatterv(in, counts, displs, MPI_INT, from_root, counts[rank], MPI_INT, root, MPI_COMM_WORLD);
  ALL_FORMS(Scatterv, scatterv, (in, counts, displs, MPI_INT, from_root, counts[rank], MPI_INT, root),
            (in, counts_c, displs_c, MPI_INT, from_root, counts[rank], MPI_INT, root));
  reset();
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, result, COUNT, MPI_INT, MPI_COMM_WORLD);
  ALL_FORMS(Allgather, allgather, (MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, result, COUNT, MPI_INT),
            (MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, result, COUNT, MPI_INT));
  reset();
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, result, counts, displs, MPI_INT, MPI_COMM_WORLD);
  ALL_FORMS(Allgatherv, allgatherv, (MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, result, counts, displs, MPI_INT),
            (MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, result, counts_c, displs_c, MPI_INT));
  reset();
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, result, COUNT, MPI_INT, MPI_COMM_WORLD);
  ALL_FORMS(Alltoall, alltoall, (MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, result, COUNT, MPI_INT),
            (MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, result, COUNT, MPI_INT));
  /* Between two ranks blocks have one size, as what is sent lies where something is received. */
  for (i = 0; i < size; ++i) {
    counts_c[i] = counts[i] = (i + rank) % COUNT;
    displs_c[i] = displs[i] = COUNT * (size - 1 - i);
  }
  reset();
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, result, counts, displs, MPI_INT, MPI_COMM_WORLD);
  ALL_FORMS(Alltoallv, alltoallv,
            (MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, result, counts, displs, MPI_INT),
            (MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, result, counts_c, displs_c, MPI_INT));
  for (i = 0; i < size; ++i) displs_c[i] = displs[i] = displs[i] * (int)sizeof(int);
  reset();
  MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, result, counts, displs, types, MPI_COMM_WORLD);
  ALL_FORMS(Alltoallw, alltoallw, (MPI_IN_PLACE, NULL, NULL, NULL, result, counts, displs, types),
            (MPI_IN_PLACE, NULL, NULL, NULL, result, counts_c, displs_c, types));
  reset();
  MPI_Reduce_scatter_block(MPI_IN_PLACE, result, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  keep_expected();
  reset();
  OK(WISP_Reduce_scatter_block(MPI_IN_PLACE, result, COUNT, MPI_INT, MPI_SUM, comm));
  EXPECT(memcmp(result, expected, COUNT * sizeof(int)) == 0);
  reset();
  for (i = 0; i < size; ++i) counts[i] = i % COUNT;
  MPI_Reduce_scatter(MPI_IN_PLACE, result, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  keep_expected();
  reset();
  OK(WISP_Reduce_scatter(MPI_IN_PLACE, result, counts, MPI_INT, MPI_SUM, comm));
  EXPECT(memcmp(result, expected, (size_t)counts[rank] * sizeof(int)) == 0);
}

static void test_barrier_and_algorithm(void) {
  const int in = 1;
  int sum = 0;
  WISP_Request request = WISP_REQUEST_NULL;
  MPI_Info info = MPI_INFO_NULL;
  OK(WISP_Barrier(comm));
  OK(WISP_Ibarrier(comm, &request));
  OK(WISP_Wait(&request, MPI_STATUS_IGNORE));
  OK(WISP_Ibarrier_range(comm, &request, 0, size - 1));
  OK(WISP_Wait(&request, MPI_STATUS_IGNORE));
  MPI_Info_create(&info);
  MPI_Info_set(info, "wisp_algorithm", "tree");
  OK(WISP_Barrier_init(comm, info, &request));
  OK(WISP_Start(&request));
  OK(WISP_Wait(&request, MPI_STATUS_IGNORE));
  OK(WISP_Request_free(&request));
  MPI_Info_set(info, "wisp_algorithm", "nonsense");
  EXPECT(WISP_Barrier_init(comm, info, &request) == MPI_ERR_ARG);
  EXPECT(strcmp(WISP_Error_message(),
                "WISP_Barrier_init: algorithm = nonsense is not one of dissemination, tree, two_level") == 0);
  MPI_Info_delete(info, "wisp_algorithm");
  MPI_Info_set(info, "wisp_reproducible", "perhaps");
  EXPECT(WISP_Allreduce_init(&in, &sum, 1, MPI_INT, MPI_SUM, comm, info, &request) == MPI_ERR_INFO_VALUE);
  MPI_Info_set(info, "wisp_reproducible", "true");
  OK(WISP_Allreduce_init(&in, &sum, 1, MPI_INT, MPI_SUM, comm, info, &request));
  OK(WISP_Start(&request));
  OK(WISP_Wait(&request, MPI_STATUS_IGNORE));
  EXPECT(sum == size);
  OK(WISP_Request_free(&request));
  MPI_Info_set(info, "wisp_algorithm", "tree");
  EXPECT(WISP_Allreduce_init(&in, &sum, 1, MPI_INT, MPI_SUM, comm, info, &request) == MPI_ERR_ARG);
  MPI_Info_free(&info);
}

static void test_messages(void) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  int out = rank, got = -1, count = 0, flag = 0, i;
  MPI_Status status;
  WISP_Request requests[2];
  OK(WISP_Sendrecv(&out, 1, MPI_INT, next, 3, &got, 1, MPI_INT, previous, 3, comm, &status));
  EXPECT(got == previous && status.MPI_SOURCE == previous && status.MPI_TAG == 3);
  MPI_Get_count(&status, MPI_INT, &count);
  EXPECT(count == 1);
  got = -1;
  got = out;
  OK(WISP_Sendrecv_replace(&got, 1, MPI_INT, next, 3, previous, 3, comm, &status));
  EXPECT(got == previous && status.MPI_SOURCE == previous);
  OK(WISP_Sendrecv_replace_c(&got, 1, MPI_INT, previous, 3, next, 3, comm, MPI_STATUS_IGNORE));
  EXPECT(got == out);
  OK(WISP_Sendrecv_c(&out, 1, MPI_INT, next, 3, &got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
                     &status));
  EXPECT(got == previous);

#define EXCHANGE(isend, irecv)                                  \
  got = -1;                                                     \
  OK(irecv(&got, 1, MPI_INT, previous, 4, comm, &requests[0])); \
  OK(isend(&out, 1, MPI_INT, next, 4, comm, &requests[1]));     \
  OK(WISP_Waitall(2, requests, MPI_STATUSES_IGNORE));           \
  EXPECT(got == previous && requests[0] == WISP_REQUEST_NULL)
  EXCHANGE(WISP_Isend, WISP_Irecv);
  EXCHANGE(WISP_Issend, WISP_Irecv);
  EXCHANGE(WISP_Isend_c, WISP_Irecv_c);
  EXCHANGE(WISP_Issend_c, WISP_Irecv_c);

#define BLOCKING(send, recv)                                         \
  got = -1;                                                          \
  OK(WISP_Irecv(&got, 1, MPI_INT, previous, 5, comm, &requests[0])); \
  OK(send(&out, 1, MPI_INT, next, 5, comm));                         \
  OK(WISP_Wait(&requests[0], &status));                              \
  EXPECT(got == previous);                                           \
  got = -1;                                                          \
  OK(WISP_Isend(&out, 1, MPI_INT, next, 6, comm, &requests[0]));     \
  OK(WISP_Probe(previous, 6, comm, &status));                        \
  EXPECT(status.MPI_SOURCE == previous);                             \
  OK(WISP_Iprobe(MPI_ANY_SOURCE, 6, comm, &flag, &status));          \
  EXPECT(flag == 1);                                                 \
  OK(recv(&got, 1, MPI_INT, previous, 6, comm, MPI_STATUS_IGNORE));  \
  OK(WISP_Wait(&requests[0], MPI_STATUS_IGNORE));                    \
  EXPECT(got == previous)
  BLOCKING(WISP_Send, WISP_Recv);
  BLOCKING(WISP_Ssend, WISP_Recv);
  BLOCKING(WISP_Send_c, WISP_Recv_c);
  BLOCKING(WISP_Ssend_c, WISP_Recv_c);

#define PERSISTENT(send_init, recv_init)                            \
  OK(recv_init(&got, 1, MPI_INT, previous, 8, comm, &requests[0])); \
  OK(send_init(&out, 1, MPI_INT, next, 8, comm, &requests[1]));     \
  for (i = 0; i < 3; ++i) {                                         \
    got = -1;                                                       \
    OK(WISP_Startall(2, requests));                                 \
    OK(WISP_Waitall(2, requests, MPI_STATUSES_IGNORE));             \
    EXPECT(got == previous);                                        \
  }                                                                 \
  OK(WISP_Request_free(&requests[0]));                              \
  OK(WISP_Request_free(&requests[1]))
  OK(WISP_Recv_init(&got, 1, MPI_INT, previous, 8, comm, &requests[0]));
  requests[1] = requests[0];
  EXPECT(WISP_Startall(2, requests) == MPI_ERR_REQUEST);
  EXPECT(strcmp(WISP_Error_message(), "WISP_Startall: requests: one is there twice") == 0);
  OK(WISP_Request_free(&requests[0]));
  PERSISTENT(WISP_Send_init, WISP_Recv_init);
  PERSISTENT(WISP_Ssend_init, WISP_Recv_init);
  PERSISTENT(WISP_Send_init_c, WISP_Recv_init_c);
  PERSISTENT(WISP_Ssend_init_c, WISP_Recv_init_c);

  OK(WISP_Isendrecv(&out, 1, MPI_INT, next, 3, &got, 1, MPI_INT, previous, 3, comm, &requests[0]));
  {
    int replaced[] = {rank, rank + 100};
    WISP_Request both[] = {WISP_REQUEST_NULL, WISP_REQUEST_NULL};
    OK(WISP_Isendrecv_replace(&replaced[0], 1, MPI_INT, next, 11, previous, 11, comm, &both[0]));
    OK(WISP_Isendrecv_replace_c(&replaced[1], 1, MPI_INT, next, 12, previous, 12, comm, &both[1]));
    OK(WISP_Waitall(2, both, MPI_STATUSES_IGNORE));
    EXPECT(replaced[0] == previous && replaced[1] == previous + 100);
  }
  OK(WISP_Isendrecv_c(&out, 1, MPI_INT, next, 9, &count, 1, MPI_INT, previous, 9, comm, &requests[1]));
  OK(WISP_Waitall(2, requests, MPI_STATUSES_IGNORE));
  EXPECT(got == previous && count == previous);
  OK(WISP_Send(&out, 1, MPI_INT, MPI_PROC_NULL, 0, comm));
  EXPECT(WISP_Recv(&got, 1, MPI_INT, MPI_PROC_NULL, -7, comm, MPI_STATUS_IGNORE) == MPI_ERR_TAG);
}

/* As MPI has it: of no message, and MPI_ERROR stays what it was. */
static int is_empty(MPI_Status status) {
  int count = -1;
  MPI_Get_count(&status, MPI_BYTE, &count);
  return status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG && count == 0 &&
         status.MPI_ERROR == 12345;
}

static MPI_Status other_status(void) {
  MPI_Status status;
  memset(&status, 0, sizeof status);
  status.MPI_SOURCE = status.MPI_TAG = 77;
  status.MPI_ERROR = 12345;
  return status;
}

static void test_completion(void) {
  WISP_Request requests[4];
  MPI_Status statuses[4];
  int values[4], i, flag = 0, index = -1, done = 0, indices[4], outcount = 0;
#define START_FOUR()                                                       \
  for (i = 0; i < 4; ++i) {                                                \
    values[i] = rank == i % size ? 10 + i : -1;                            \
    OK(WISP_Ibcast(&values[i], 1, MPI_INT, i % size, comm, &requests[i])); \
  }
  START_FOUR();
  for (flag = 0; !flag;) OK(WISP_Testall(4, requests, &flag, statuses));
  EXPECT(values[3] == 13 && requests[3] == WISP_REQUEST_NULL);
  START_FOUR();
  for (i = 0; i < 4; ++i) {
    OK(WISP_Waitany(4, requests, &index, &statuses[0]));
    EXPECT(index >= 0 && index < 4 && requests[index] == WISP_REQUEST_NULL);
  }
  statuses[0] = other_status();
  OK(WISP_Waitany(4, requests, &index, &statuses[0]));
  EXPECT(index == MPI_UNDEFINED && is_empty(statuses[0]));
  START_FOUR();
  for (done = 0; done < 4;) {
    OK(WISP_Testany(4, requests, &index, &flag, &statuses[0]));
    done += flag ? 1 : 0;
  }
  statuses[0] = other_status();
  OK(WISP_Testany(4, requests, &index, &flag, &statuses[0]));
  EXPECT(flag == 1 && index == MPI_UNDEFINED && is_empty(statuses[0]));
  START_FOUR();
  for (done = 0; done < 2;) {
    OK(WISP_Testsome(4, requests, &outcount, indices, statuses));
    done += outcount;
  }
  while (done < 4) {
    OK(WISP_Waitsome(4, requests, &outcount, indices, statuses));
    done += outcount;
  }
  OK(WISP_Waitsome(4, requests, &outcount, indices, statuses));
  EXPECT(outcount == MPI_UNDEFINED);
  EXPECT(WISP_Waitsome(4, requests, &outcount, NULL, statuses) == MPI_ERR_ARG);
  EXPECT(WISP_Testsome(4, requests, &outcount, NULL, statuses) == MPI_ERR_ARG);
  START_FOUR();
  for (i = 0; i < 4; ++i) {
    for (flag = 0; !flag;) OK(WISP_Test(&requests[i], &flag, MPI_STATUS_IGNORE));
  }
  EXPECT(values[0] == 10 && values[3] == 13);
  OK(WISP_Wait(&requests[0], MPI_STATUS_IGNORE)); /* null: done */
}

/* What has ended well is not lost behind what has failed. */
static void test_completion_with_an_error(void) {
  int received[2] = {-1, -1};
  int two[2] = {5, 6};
  int errors = 0;
  int ends = 0;
  int count = 0;
  int indices[2];
  MPI_Status statuses[2];
  WISP_Request requests[2];
  int round;
  const int left = (rank + size - 1) % size;
  const int right = (rank + 1) % size;
  if (size == 1) return; /* of a message to oneself, Open MPI does not tell that it is too long */
  for (round = 0; round < 2; ++round) {
    OK(WISP_Irecv(&received[0], 1, MPI_INT, left, 6, comm, &requests[0]));
    OK(WISP_Irecv(&received[1], 1, MPI_INT, left, 7, comm, &requests[1]));
    OK(WISP_Send(two, 1, MPI_INT, right, 6, comm));
    OK(WISP_Send(two, 2, MPI_INT, right, 7, comm));
    OK(WISP_Barrier(comm)); /* both have ended */
    if (round == 0) {
      while (requests[0] != WISP_REQUEST_NULL || requests[1] != WISP_REQUEST_NULL) {
        if (WISP_Waitsome(2, requests, &count, indices, statuses) == MPI_SUCCESS) {
          ends += count;
        } else {
          ++errors;
        }
      }
      EXPECT(errors == 1 && ends == 1 && received[0] == 5);
    } else {
      statuses[0].MPI_TAG = -1;
      EXPECT(WISP_Waitall(2, requests, statuses) == MPI_ERR_TRUNCATE);
      EXPECT(statuses[0].MPI_TAG == 6);
    }
  }
}

static void test_communicators(void) {
  WISP_Comm half = WISP_COMM_NULL, other = WISP_COMM_NULL, none = comm;
  WISP_Request request = WISP_REQUEST_NULL;
  MPI_Group world_group, group;
  MPI_Comm made = MPI_COMM_NULL;
  int value = 0, i, ranks[MOST_RANKS], one = 1;
  char name[MPI_MAX_OBJECT_NAME];
  const int middle = size / 2;
  OK(WISP_Comm_range(comm, rank < middle ? 0 : middle, rank < middle ? middle - 1 : size - 1, 1, &half));
  OK(WISP_Comm_size(half, &value));
  EXPECT(value == (rank < middle ? middle : size - middle));
  OK(WISP_Comm_rank(half, &value));
  EXPECT(value == (rank < middle ? rank : rank - middle));
  OK(WISP_Comm_translate(half, 0, comm, &value));
  EXPECT(value == (rank < middle ? 0 : middle));
  OK(WISP_Comm_translate(half, 0, WISP_COMM_NULL, &value));
  EXPECT(value == MPI_UNDEFINED);
  OK(WISP_Comm_tag_ub(half, &value));
  EXPECT(value >= 31);
  OK(WISP_Comm_set_name(half, "half"));
  OK(WISP_Comm_get_name(half, name, &value));
  EXPECT(value == 4 && strcmp(name, "half") == 0);
  EXPECT(WISP_Comm_get_name(half, NULL, &value) == MPI_ERR_ARG);
  EXPECT(WISP_Comm_get_name(half, name, NULL) == MPI_ERR_ARG && strcmp(name, "half") == 0);
  OK(WISP_Comm_get_failed(half, 0, NULL, &value));
  EXPECT(value == 0);
  EXPECT(WISP_Comm_get_failed(half, -1, NULL, &value) == MPI_ERR_COUNT);
  EXPECT(WISP_Comm_get_failed(half, 1, NULL, &value) == MPI_ERR_ARG);
  OK(WISP_Comm_range(comm, 1, 0, 1, &none));
  EXPECT(none == WISP_COMM_NULL);
  { /* A range of ranks calls alone, and the root counts in it. */
    const int first = rank < middle ? 0 : middle;
    const int last = rank < middle ? middle - 1 : size - 1;
    int told = rank, sum = 0;
    OK(WISP_Ibcast_range(&told, 1, MPI_INT, last - first, comm, &request, first, last));
    OK(WISP_Wait(&request, MPI_STATUS_IGNORE));
    EXPECT(told == last);
    OK(WISP_Ireduce_range(&one, &sum, 1, MPI_INT, MPI_SUM, last - first, comm, &request, first, last));
    OK(WISP_Wait(&request, MPI_STATUS_IGNORE));
    EXPECT(sum == (rank == last ? last - first + 1 : 0));
  }
  { /* Several communicators of MPI below, asked for in the first call. */
    MPI_Comm below = MPI_COMM_NULL;
    WISP_Comm several = WISP_COMM_NULL;
    int sum = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &below);
    EXPECT(WISP_Comm_duplicate_with(below, 0, &several) == MPI_ERR_ARG);
    OK(WISP_Comm_duplicate_with(below, 3, &several));
    OK(WISP_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, several));
    EXPECT(sum == size);
    OK(WISP_Comm_free(&several));
    EXPECT(WISP_Comm_duplicate_with(below, 4, &several) == MPI_ERR_ARG && several == WISP_COMM_NULL);
    OK(WISP_Comm_duplicate_with(below, 2, &several));
    OK(WISP_Comm_free(&several));
    MPI_Comm_free(&below);
  }
  {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group of_made = MPI_GROUP_NULL;
    MPI_Comm of_group = MPI_COMM_NULL;
    int compared = MPI_UNEQUAL;
    OK(WISP_Comm_group(half, &group));
    OK(WISP_Comm_to_mpi(half, &of_group));
    MPI_Comm_group(of_group, &of_made);
    MPI_Group_compare(group, of_made, &compared);
    EXPECT(compared == MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&of_made);
    MPI_Comm_free(&of_group);
    EXPECT(WISP_Comm_group(half, NULL) == MPI_ERR_ARG);
    EXPECT(WISP_Comm_group(WISP_COMM_NULL, &group) == MPI_ERR_COMM);
  }
  OK(WISP_Comm_to_mpi(half, &made));
  MPI_Comm_free(&made);
  OK(WISP_Comm_free(&half));
  EXPECT(half == WISP_COMM_NULL);

  for (i = 0; i < size; ++i) ranks[i] = (5 * i + 2) % size;
  if (size % 5 != 0) {
    OK(WISP_Comm_subset(comm, size, ranks, &other));
    value = 0;
    OK(WISP_Allreduce(&one, &value, 1, MPI_INT, MPI_SUM, other));
    EXPECT(value == size);
    OK(WISP_Comm_free(&other));
  }
  {
    WISP_Comm node, leaders;
    int sum = 0, nodes = 0;
    OK(WISP_Comm_node(comm, &node));
    OK(WISP_Comm_node_leaders(comm, &leaders));
    OK(WISP_Comm_rank(node, &value));
    EXPECT((value == 0) == (leaders != WISP_COMM_NULL));
    OK(WISP_Comm_size(node, &value));
    if (leaders != WISP_COMM_NULL) {
      OK(WISP_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, leaders));
      EXPECT(sum == size);
      OK(WISP_Comm_size(leaders, &nodes));
      EXPECT(nodes >= 1 && nodes <= size);
      OK(WISP_Comm_free(&leaders));
    }
    OK(WISP_Comm_free(&node));
  }
  /* All ranks, the last first. */
  for (i = 0; i < size; ++i) ranks[i] = size - 1 - i;
  MPI_Comm_group(MPI_COMM_WORLD, &world_group);
  MPI_Group_incl(world_group, size, ranks, &group);
  OK(WISP_Comm_create_group(comm, group, 3, &other));
  OK(WISP_Comm_rank(other, &value));
  EXPECT(value == size - 1 - rank);
  OK(WISP_Comm_free(&other));
  OK(WISP_Comm_icreate_group(comm, group, 4, &other, &request));
  OK(WISP_Wait(&request, MPI_STATUS_IGNORE));
  OK(WISP_Bcast(&value, 1, MPI_INT, 0, other));
  EXPECT(value == 0); /* its rank 0 had that */
  OK(WISP_Comm_free(&other));
  OK(WISP_Comm_icreate(comm, group, &other, &request));
  OK(WISP_Wait(&request, MPI_STATUS_IGNORE));
  OK(WISP_Comm_free(&other));
  MPI_Group_free(&group);
  MPI_Group_free(&world_group);

  OK(WISP_Comm_raw(comm, &other));
  OK(WISP_Barrier(other));
  OK(WISP_Comm_free(&other));
}

static void test_counts_that_disagree(void) {
  int counts[MOST_RANKS], displs[MOST_RANKS], all[2 * MOST_RANKS], mine[2] = {1, 2};
  char sentence[200];
  int i, code;
  if (size == 1) return;
  for (i = 0; i < size; ++i) {
    counts[i] = 2;
    displs[i] = 2 * i;
  }
  /* The last rank has one, but the root expects two of it. */
  code = WISP_Gatherv(mine, rank == size - 1 ? 1 : 2, MPI_INT, all, counts, displs, MPI_INT, 0, comm);
  EXPECT(code == (rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
  snprintf(sentence, sizeof sentence, "rank %d has 4 bytes, but the root's counts give it 8", size - 1);
  EXPECT(rank != 0 || strstr(WISP_Error_message(), sentence) != NULL);
}

/* Blocks with elements, but at NULL, or in place where there is no such thing. */
static void test_blocks_that_are_nowhere(void) {
  int value = 0;
  int* counts = malloc((size_t)size * sizeof *counts);
  int* displs = malloc((size_t)size * sizeof *displs);
  for (int r = 0; r < size; ++r) counts[r] = displs[r] = 1;
  EXPECT(WISP_Gatherv(&value, 1, MPI_INT, NULL, counts, displs, MPI_INT, rank, comm) == MPI_ERR_BUFFER);
  EXPECT(strcmp(WISP_Error_message(), "WISP_Gatherv: receive is null, but its block 0 has 1 elements") == 0);
  EXPECT(WISP_Scatterv(NULL, counts, displs, MPI_INT, &value, 1, MPI_INT, rank, comm) == MPI_ERR_BUFFER);
  EXPECT(WISP_Allgatherv(&value, 1, MPI_INT, NULL, counts, displs, MPI_INT, comm) == MPI_ERR_BUFFER);
  EXPECT(WISP_Alltoallv(NULL, counts, displs, MPI_INT, displs, counts, displs, MPI_INT, comm) ==
         MPI_ERR_BUFFER);
  EXPECT(WISP_Alltoallv(counts, counts, displs, MPI_INT, MPI_IN_PLACE, counts, displs, MPI_INT, comm) ==
         MPI_ERR_BUFFER);
  free(counts);
  free(displs);
}

/* More elements than there are addresses for. */
static void test_counts_that_wrap(void) {
  const MPI_Count many = (MPI_Count)1 << 62;
  int value = 0;
  MPI_Count* counts = malloc((size_t)size * sizeof *counts);
  MPI_Aint* displs = calloc((size_t)size, sizeof *displs);
  for (int r = 0; r < size; ++r) counts[r] = many;
  EXPECT(WISP_Bcast_c(&value, many, MPI_INT, 0, comm) == MPI_ERR_COUNT);
  EXPECT(
      strcmp(WISP_Error_message(),
             "WISP_Bcast_c: buffer has 4611686018427387904 elements of 4 bytes, more than memory can hold") ==
      0);
  EXPECT(WISP_Allgather_c(&value, many, MPI_INT, &value, many, MPI_INT, comm) == MPI_ERR_COUNT);
  EXPECT(WISP_Send_c(&value, many, MPI_INT, rank, 0, comm) == MPI_ERR_COUNT);
  if (rank == 0) {
    EXPECT(WISP_Reduce_scatter_block_c(&value, &value, many / 2, MPI_SIGNED_CHAR, MPI_BOR, comm) ==
           MPI_ERR_COUNT);
  }
  EXPECT(WISP_Allgatherv_c(&value, 1, MPI_INT, &value, counts, displs, MPI_INT, comm) == MPI_ERR_COUNT);
  for (int r = 0; r < size; ++r) counts[r] = 1;
  displs[size - 1] = (MPI_Aint)1 << 62;
  EXPECT(WISP_Allgatherv_c(&value, 1, MPI_INT, &value, counts, displs, MPI_INT, comm) == MPI_ERR_ARG);
  free(counts);
  free(displs);
}

/* Arrays that are not there. */
static void test_arrays_at_null(void) {
  int value = 0;
  char sentence[200];
  int* numbers = calloc((size_t)size, sizeof *numbers);
  WISP_Comm made = WISP_COMM_NULL;
  EXPECT(WISP_Alltoallv(&value, numbers, NULL, MPI_INT, &value, numbers, numbers, MPI_INT, comm) ==
         MPI_ERR_ARG);
  EXPECT(strcmp(WISP_Error_message(), "WISP_Alltoallv: sdispls = NULL") == 0);
  EXPECT(WISP_Alltoallv(&value, numbers, numbers, MPI_INT, &value, NULL, numbers, MPI_INT, comm) ==
         MPI_ERR_ARG);
  EXPECT(strcmp(WISP_Error_message(), "WISP_Alltoallv: recvcounts = NULL") == 0);
  numbers[size - 1] = -3;
  EXPECT(WISP_Reduce_scatter(&value, &value, numbers, MPI_INT, MPI_SUM, comm) == MPI_ERR_COUNT);
  snprintf(sentence, sizeof sentence, "WISP_Reduce_scatter: recvcounts[%d] = -3 is below 0", size - 1);
  EXPECT(strcmp(WISP_Error_message(), sentence) == 0);
  EXPECT(WISP_Waitall(1, NULL, MPI_STATUSES_IGNORE) == MPI_ERR_ARG);
  EXPECT(WISP_Startall(1, NULL) == MPI_ERR_ARG);
  EXPECT(WISP_Comm_subset(comm, 1, NULL, &made) == MPI_ERR_ARG);
  free(numbers);
}

static void test_errors(void) {
  int value = 0;
  WISP_Request request = WISP_REQUEST_NULL;
  WISP_Comm made = WISP_COMM_NULL;
  char sentence[200];
  EXPECT(WISP_Bcast(&value, 1, MPI_INT, size, comm) == MPI_ERR_ROOT);
  snprintf(sentence, sizeof sentence, "WISP_Bcast: root = %d is outside 0..%d", size, size - 1);
  EXPECT(strcmp(WISP_Error_message(), sentence) == 0);
  EXPECT(WISP_Bcast(&value, -1, MPI_INT, 0, comm) == MPI_ERR_COUNT);
  EXPECT(strcmp(WISP_Error_message(), "WISP_Bcast: count = -1 is below 0") == 0);
  EXPECT(WISP_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, comm) == MPI_ERR_TYPE);
  EXPECT(WISP_Bcast(&value, 1, MPI_INT, 0, WISP_COMM_NULL) == MPI_ERR_COMM);
  EXPECT(WISP_Allreduce(&value, &value, 1, MPI_INT, MPI_OP_NULL, comm) == MPI_ERR_OP);
  double number = 1, numbers = 0;
  EXPECT(WISP_Allreduce(&number, &numbers, 1, MPI_DOUBLE, MPI_BXOR, comm) == MPI_ERR_OP);
  EXPECT(WISP_Reduce(&number, &numbers, 1, MPI_DOUBLE, MPI_BXOR, size - 1, comm) == MPI_ERR_OP);
  EXPECT(WISP_Allreduce_init(&number, &numbers, 1, MPI_DOUBLE, MPI_BXOR, comm, MPI_INFO_NULL, &request) ==
         MPI_ERR_OP);
  EXPECT(WISP_Send(&value, 1, MPI_INT, size + 1, 0, comm) == MPI_ERR_RANK);
  EXPECT(WISP_Send(&value, 1, MPI_INT, 0, -5, comm) == MPI_ERR_TAG);
  EXPECT(WISP_Isend(&value, 1, MPI_INT, 0, 0, comm, NULL) == MPI_ERR_ARG);
  EXPECT(WISP_Send(MPI_IN_PLACE, 1, MPI_INT, rank, 0, comm) == MPI_ERR_BUFFER);
  EXPECT(WISP_Ibarrier_range(comm, &request, 1, 0) == MPI_ERR_RANK);
  EXPECT(strcmp(WISP_Error_message(), "WISP_Ibarrier_range: last = 0 is below first = 1") == 0);
  EXPECT(WISP_Comm_range(comm, 0, size, 1, &made) == MPI_ERR_RANK);
  EXPECT(WISP_Start(&request) == MPI_ERR_REQUEST);
  EXPECT(WISP_Comm_free(&made) == MPI_ERR_COMM);
  EXPECT(WISP_Gatherv(&value, 1, MPI_INT, &value, NULL, NULL, MPI_INT, rank, comm) == MPI_ERR_ARG);
  EXPECT(WISP_Comm_duplicate(MPI_COMM_NULL, &made) == MPI_ERR_COMM);
  test_blocks_that_are_nowhere();
  test_counts_that_wrap();
  test_arrays_at_null();
  if (rank == 0) {
    /* Nothing is made, so that nothing is counted on this rank alone. */
    EXPECT(WISP_Comm_range(comm, 0, size - 1, 1, NULL) == MPI_ERR_ARG);
    EXPECT(WISP_Comm_subset(comm, 1, &rank, NULL) == MPI_ERR_ARG);
    EXPECT(WISP_Ibcast_range(&value, 1, MPI_INT, size, comm, &request, 0, size - 1) == MPI_ERR_ROOT);
  }
  /* Nothing was sent. */
  OK(WISP_Barrier(comm));
  OK(WISP_Comm_range(comm, 0, size - 1, 1, &made));
  value = rank == 0 ? 42 : 0;
  OK(WISP_Bcast(&value, 1, MPI_INT, 0, made));
  EXPECT(value == 42);
  OK(WISP_Comm_free(&made));
}

/* What MPI would find only when the message is posted. */
static void test_uncommitted_datatypes(void) {
  int values[6] = {0};
  int one = 1;
  int sum = 0;
  MPI_Datatype pair;
  WISP_Request request = WISP_REQUEST_NULL;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  if (rank == 0) {
    EXPECT(WISP_Bcast(values, 1, pair, 0, comm) == MPI_ERR_TYPE);
    EXPECT(strcmp(WISP_Error_message(), "WISP_Bcast: the datatype of buffer has not been committed") == 0);
    EXPECT(WISP_Allgather(values, 1, pair, values, 1, pair, comm) == MPI_ERR_TYPE);
    EXPECT(WISP_Ibcast_range(values, 1, pair, 0, comm, &request, 0, size - 1) == MPI_ERR_TYPE);
    EXPECT(WISP_Irecv(values, 1, pair, MPI_ANY_SOURCE, 0, comm, &request) == MPI_ERR_TYPE);
    EXPECT(WISP_Send(values, 0, pair, 0, 0, comm) == MPI_ERR_TYPE);
    EXPECT(WISP_Recv_init(values, 1, pair, 0, 0, comm, &request) == MPI_ERR_TYPE);
  }
  OK(WISP_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
  EXPECT(sum == size);
  MPI_Type_commit(&pair);
  values[0] = values[1] = rank == 0 ? 3 : 0;
  OK(WISP_Bcast(values, 1, pair, 0, comm));
  EXPECT(values[0] == 3 && values[1] == 3);
  MPI_Type_free(&pair);
}

/* Handles that were freed, and are used again. */
static void test_freed_handles(void) {
  int value = 0;
  int flag = 0;
  WISP_Comm made = WISP_COMM_NULL;
  WISP_Comm freed_comm;
  WISP_Request request = WISP_REQUEST_NULL;
  WISP_Request freed_request;
  OK(WISP_Comm_range(comm, rank, rank, 1, &made));
  freed_comm = made;
  OK(WISP_Comm_free(&made));
  EXPECT(WISP_Barrier(freed_comm) == MPI_ERR_COMM);
  EXPECT(strcmp(WISP_Error_message(), "WISP_Barrier: comm has been freed") == 0);
  EXPECT(WISP_Comm_free(&freed_comm) == MPI_ERR_COMM);
  OK(WISP_Bcast_init(&value, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &request));
  freed_request = request;
  OK(WISP_Request_free(&request));
  EXPECT(WISP_Start(&freed_request) == MPI_ERR_REQUEST);
  EXPECT(WISP_Wait(&freed_request, MPI_STATUS_IGNORE) == MPI_ERR_REQUEST);
  EXPECT(WISP_Testall(1, &freed_request, &flag, MPI_STATUSES_IGNORE) == MPI_ERR_REQUEST);
  {
    /* One request given twice. */
    WISP_Request twice[2];
    OK(WISP_Ibarrier(comm, &twice[0]));
    twice[1] = twice[0];
    OK(WISP_Waitall(2, twice, MPI_STATUSES_IGNORE));
    /* And one that does not end yet. */
    OK(WISP_Irecv(&value, 1, MPI_INT, rank, 3, comm, &twice[0]));
    twice[1] = twice[0];
    OK(WISP_Testall(2, twice, &flag, MPI_STATUSES_IGNORE));
    EXPECT(!flag);
    value = -1;
    OK(WISP_Send(&rank, 1, MPI_INT, rank, 3, comm));
    OK(WISP_Wait(&twice[0], MPI_STATUS_IGNORE));
    EXPECT(value == rank);
  }
}

int main(int argc, char** argv) {
  int value = 0;
  int flag = 0;
  WISP_Request pending = WISP_REQUEST_NULL;
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#if MPI_VERSION >= 5 /* MPICH 5 tells it, as tests/support/main.cpp says */
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
#endif
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  OK(WISP_Comm_duplicate(MPI_COMM_WORLD, &comm));
  RUN(test_regular);
  RUN(test_irregular);
  RUN(test_exchange);
  RUN(test_in_place);
  RUN(test_barrier_and_algorithm);
  RUN(test_messages);
  RUN(test_completion);
  RUN_WHERE_ERRORS_RETURN(test_completion_with_an_error);
  RUN(test_communicators);
  RUN(test_counts_that_disagree);
  RUN_WHERE_ERRORS_RETURN(test_errors);
  RUN_WHERE_ERRORS_RETURN(test_uncommitted_datatypes);
  RUN(test_freed_handles);
  OK(WISP_Comm_free(&comm));
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  OK(WISP_Comm_attach(own, &comm));
  OK(WISP_Barrier(comm));
  OK(WISP_Comm_free(&comm));
  MPI_Comm_free(&own);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && failures == 0) printf("every function of wisp.h works on %d ranks\n", size);
  /* What is pending when MPI ends is an error afterwards, not the end of the program. */
  OK(WISP_Comm_duplicate(MPI_COMM_WORLD, &comm));
  OK(WISP_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &pending));
  MPI_Finalize();
  EXPECT(WISP_Test(&pending, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS);
  return failures == 0 ? 0 : 1;
}
