/* Every function of wisp/chain.h, from C99, on real ranks. */
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "wisp/wisp.h"

static WISP_Chain chain = WISP_CHAIN_NULL;

static int wait_for(WISP_Request* request) {
  return WISP_Wait(request, MPI_STATUS_IGNORE);
}

static void test_places(void) {
  WISP_Chain odd = WISP_CHAIN_NULL;
  WISP_Chain turned = WISP_CHAIN_NULL;
  int r = -1;
  int s = -1;
  int address = -1;
  int left = -1;
  int right = -1;
  OK(WISP_Chain_rank(chain, &r));
  OK(WISP_Chain_size(chain, &s));
  OK(WISP_Chain_neighbors(chain, &address, &left, &right));
  EXPECT(r == rank && s == size && address == rank);
  EXPECT(left == (rank > 0 ? rank - 1 : MPI_PROC_NULL));
  EXPECT(right == (rank + 1 < size ? rank + 1 : MPI_PROC_NULL));
  OK(WISP_Chain_of_range(comm, 0, size - 1, 2, &odd));
  EXPECT((odd == WISP_CHAIN_NULL) == (rank % 2 == 1));
  if (odd != WISP_CHAIN_NULL) OK(WISP_Chain_free(&odd));
  OK(WISP_Chain_of_neighbors(comm, right, left, size - 1 - rank, size, 0, &turned));
  OK(WISP_Chain_rank(turned, &r));
  EXPECT(r == size - 1 - rank);
  OK(WISP_Chain_free(&turned));
  EXPECT(turned == WISP_CHAIN_NULL);
}

static void test_to_comm(void) {
  WISP_Comm made = WISP_COMM_NULL;
  WISP_Comm later = WISP_COMM_NULL;
  WISP_Request request = WISP_REQUEST_NULL;
  int r = -1;
  OK(WISP_Chain_to_comm(chain, &made));
  OK(WISP_Comm_rank(made, &r));
  EXPECT(r == rank);
  OK(WISP_Chain_ito_comm(chain, &later, &request));
  OK(wait_for(&request));
  OK(WISP_Comm_rank(later, &r));
  EXPECT(r == rank);
  OK(WISP_Comm_free(&made));
  OK(WISP_Comm_free(&later));
  /* Of who was left out of a split. */
  OK(WISP_Chain_to_comm(WISP_CHAIN_NULL, &made));
  EXPECT(made == WISP_COMM_NULL);
  OK(WISP_Chain_ito_comm(WISP_CHAIN_NULL, &later, &request));
  EXPECT(later == WISP_COMM_NULL && request == WISP_REQUEST_NULL);
}

/* Both forms of an operation; `right` is checked after each. */
#define FORMS(name, arguments, reset, right)                \
  do {                                                      \
    WISP_Request request = WISP_REQUEST_NULL;               \
    reset;                                                  \
    OK(WISP_Chain_##name(LIST arguments chain));            \
    EXPECT(right);                                          \
    reset;                                                  \
    OK(WISP_Chain_i##name(LIST arguments chain, &request)); \
    OK(wait_for(&request));                                 \
    EXPECT(right);                                          \
  } while (0)
#define LIST(...) __VA_ARGS__

static int below(int n) {
  return n * (n - 1) / 2;
}

static void clear(int* all) {
  int i;
  for (i = 0; i < size; ++i) all[i] = -1;
}
static int holds_ranks(const int* all) {
  int i;
  for (i = 0; i < size; ++i) {
    if (all[i] != i) return 0;
  }
  return 1;
}

static void test_collectives(void) {
  const int root = size / 2;
  int* all = malloc((size_t)size * sizeof(int));
  int mine = rank;
  int a = -1;
  int b = -1;
  FORMS(barrier, (), (void)0, 1);
  FORMS(bcast, (&a, 1, MPI_INT, root, ), a = rank == root ? 7 : -1, a == 7);
  FORMS(reduce, (&mine, &a, 1, MPI_INT, MPI_SUM, root, ), a = -1, a == (rank == root ? below(size) : -1));
  FORMS(allreduce, (&mine, &a, 1, MPI_INT, MPI_SUM, ), a = -1, a == below(size));
  FORMS(allreduce, (MPI_IN_PLACE, &a, 1, MPI_INT, MPI_SUM, ), a = rank, a == below(size));
  FORMS(scan, (&mine, &a, 1, MPI_INT, MPI_SUM, ), a = -1, a == below(rank + 1));
  FORMS(exscan, (&mine, &a, 1, MPI_INT, MPI_SUM, ), a = -1, a == (rank == 0 ? -1 : below(rank)));
  FORMS(double_scan, (&mine, &a, &b, 1, MPI_INT, MPI_SUM, ), a = b = -1,
        a == below(rank + 1) && b == below(size) - below(rank));
  FORMS(double_exscan, (&mine, &a, &b, 1, MPI_INT, MPI_SUM, ), a = b = -1,
        a == (rank == 0 ? -1 : below(rank)) && b == (rank + 1 == size ? -1 : below(size) - below(rank + 1)));
  {
    const int color = rank / 2;
    FORMS(segmented_scan, (&color, 1, MPI_INT, &mine, &a, 1, MPI_INT, MPI_SUM, ), a = -1,
          a == (rank % 2 == 0 ? rank : 2 * rank - 1));
    FORMS(segmented_exscan, (&color, 1, MPI_INT, &mine, &a, 1, MPI_INT, MPI_SUM, ), a = -1,
          a == (rank % 2 == 0 ? -1 : rank - 1));
  }
  FORMS(gather, (&mine, 1, MPI_INT, all, 1, MPI_INT, root, ), clear(all), holds_ranks(all) == (rank == root));
  FORMS(scatter, (all, 1, MPI_INT, &a, 1, MPI_INT, root, ), a = -1, a == rank);
  FORMS(allgather, (&mine, 1, MPI_INT, all, 1, MPI_INT, ), clear(all), holds_ranks(all));
  free(all);
}

static int rank_of(WISP_Chain of) {
  int r = -1;
  if (of != WISP_CHAIN_NULL) OK(WISP_Chain_rank(of, &r));
  return r;
}
static int size_of(WISP_Chain of) {
  int s = 0;
  if (of != WISP_CHAIN_NULL) OK(WISP_Chain_size(of, &s));
  return s;
}
static void drop(WISP_Chain* of) {
  if (*of != WISP_CHAIN_NULL) OK(WISP_Chain_free(of));
}

/* Backwards, and with a hash by which all are alike. */
static int backwards(const void* a, int a_bytes, const void* b, int b_bytes, void* state) {
  int x;
  int y;
  ++*(int*)state;
  if (a_bytes != (int)sizeof x || b_bytes != (int)sizeof y) abort();
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return x < y ? 1 : x > y ? -1 : 0;
}
static uint64_t always_5(const void* label, int bytes, void* state) {
  (void)label;
  (void)bytes;
  (void)state;
  return 5;
}

static void test_split(void) {
  static const char* algorithms[] = {"allgather",  "allgather-mpi", "gather-scatter", "cheng-128",
                                     "cheng-8192", "bitonic",       "hash",           "hash-64"};
  const int members = (size - rank % 3 + 2) / 3;
  const long long color = rank % 3 == 1 ? -9000000000000LL : rank % 3;
  char text[100];
  int calls = 0;
  WISP_Order order;
  WISP_Chain made = WISP_CHAIN_NULL;
  WISP_Request request = WISP_REQUEST_NULL;
  size_t k;
  order.compare = backwards;
  order.hash = always_5;
  order.state = &calls;
  OK(WISP_Split(chain, &color, 1, MPI_LONG_LONG, NULL, NULL, 0, MPI_DATATYPE_NULL, NULL, MPI_INFO_NULL,
                &made));
  EXPECT(rank_of(made) == rank / 3 && size_of(made) == members);
  drop(&made);
  for (k = 0; k < sizeof algorithms / sizeof *algorithms; ++k) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "wisp_algorithm", algorithms[k]);
    /* Texts of different lengths. */
    memset(text, 'x', sizeof text);
    OK(WISP_Split(chain, text, 10 + rank % 3, MPI_CHAR, NULL, &rank, 1, MPI_INT, &order, info, &made));
    EXPECT(rank_of(made) == members - 1 - rank / 3 && size_of(made) == members);
    drop(&made);
    OK(WISP_Isplit(chain, rank % 3 == 2 ? WISP_UNDEFINED : &rank, 1, MPI_INT, &order, NULL, 0,
                   MPI_DATATYPE_NULL, NULL, info, &made, &request));
    OK(wait_for(&request));
    EXPECT(size_of(made) == (rank % 3 == 2 ? 0 : 1));
    drop(&made);
    MPI_Info_free(&info);
  }
  MPI_Allreduce(MPI_IN_PLACE, &calls, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(size < 2 || calls > 0);
}

/* Numbers, whatever their datatype is called or made of. */
static void test_types_of_numbers(void) {
  const int color = -(rank % 2);
  MPI_Datatype types[4];
  int i;
  MPI_Type_dup(MPI_INT, &types[0]);
  MPI_Type_contiguous(1, MPI_INT, &types[1]);
  MPI_Type_commit(&types[1]);
  types[2] = MPI_INT32_T;
  types[3] = MPI_INT;
  for (i = 0; i < 4; ++i) {
    WISP_Chain made = WISP_CHAIN_NULL;
    const int key = -rank;
    OK(WISP_Split(chain, &color, 1, types[i], NULL, &key, 1, types[i], NULL, MPI_INFO_NULL, &made));
    EXPECT(size_of(made) == (size + (rank % 2 == 0 ? 1 : 0)) / 2);
    EXPECT(rank_of(made) == size_of(made) - 1 - rank / 2);
    drop(&made);
  }
  MPI_Type_free(&types[0]);
  MPI_Type_free(&types[1]);
}

/* A field of a struct: what lies between two of them is none of the number. */
static void test_numbers_with_gaps(void) {
  WISP_Chain made;
  MPI_Datatype types[2];
  const int rank = rank_of(chain);
  const int size = size_of(chain);
  const struct {
    int number;
    int other;
  } key = {-rank, 77 * rank}, color[2] = {{-1, rank}, {2, 3 * rank}};
  const double real[2] = {0.5 - rank, rank};
  MPI_Type_create_resized(MPI_INT, 0, sizeof key, &types[0]);
  MPI_Type_create_resized(MPI_DOUBLE, 0, sizeof real, &types[1]);
  MPI_Type_commit(&types[0]);
  MPI_Type_commit(&types[1]);
  OK(WISP_Split(chain, color, 2, types[0], NULL, &key, 1, types[0], NULL, MPI_INFO_NULL, &made));
  EXPECT(size_of(made) == size);
  EXPECT(rank_of(made) == size - 1 - rank);
  drop(&made);
  OK(WISP_Split(chain, color, 2, types[0], NULL, real, 1, types[1], NULL, MPI_INFO_NULL, &made));
  EXPECT(rank_of(made) == size - 1 - rank);
  drop(&made);
  MPI_Type_free(&types[0]);
  MPI_Type_free(&types[1]);
}

static void test_ready_made(void) {
  WISP_Chain made = WISP_CHAIN_NULL;
  WISP_Chain leaders = WISP_CHAIN_NULL;
  WISP_Comm half = WISP_COMM_NULL;
  const int color = rank % 2;
  int group = -2;
  int groups = -2;
  int r = -2;
  int s = -2;
  OK(WISP_Split_by_string(chain, rank % 2 == 0 ? "even" : "odd", &made));
  EXPECT(rank_of(made) == rank / 2);
  drop(&made);
  OK(WISP_Split_by_host(chain, &made));
  EXPECT(size_of(made) == size);
  drop(&made);
  OK(WISP_Split_by_shared_memory(chain, &made));
  EXPECT(size_of(made) == size);
  drop(&made);
  OK(WISP_Split_two_level(chain, &color, 1, MPI_INT, NULL, &made, &leaders));
  EXPECT(rank_of(made) == rank / 2 && rank_of(leaders) == (rank < 2 ? rank : -1));
  drop(&made);
  drop(&leaders);
  OK(WISP_Group_rank(chain, &color, 1, MPI_INT, NULL, &group, &groups, &r, &s));
  EXPECT(group == rank % 2 && groups == (size == 1 ? 1 : 2) && r == rank / 2 && s == (size + 1 - color) / 2);
  OK(WISP_Group_rank(chain, &color, 1, MPI_INT, NULL, NULL, NULL, NULL, NULL));
  OK(WISP_Comm_split(comm, rank % 2 == 1 ? MPI_UNDEFINED : 3, -rank, &half));
  EXPECT((half == WISP_COMM_NULL) == (rank % 2 == 1));
  if (half != WISP_COMM_NULL) {
    OK(WISP_Comm_rank(half, &r));
    EXPECT(r == (size + 1) / 2 - 1 - rank / 2);
    OK(WISP_Comm_free(&half));
  }
}

static void test_errors(void) {
  WISP_Chain made = WISP_CHAIN_NULL;
  struct {
    char a;
    int b;
  } padded = {1, 2};
  MPI_Datatype type;
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, (char*)&padded.b - (char*)&padded};
  const MPI_Datatype types[] = {MPI_CHAR, MPI_INT};
  EXPECT(WISP_Chain_barrier(WISP_CHAIN_NULL) == MPI_ERR_COMM);
  EXPECT(strcmp(WISP_Error_message(), "WISP_Chain_barrier: chain = WISP_CHAIN_NULL") == 0);
  EXPECT(WISP_Chain_bcast(&padded.b, 1, MPI_INT, size, chain) == MPI_ERR_ROOT);
  EXPECT(WISP_Split(chain, NULL, 1, MPI_INT, NULL, NULL, 0, MPI_DATATYPE_NULL, NULL, MPI_INFO_NULL, &made) ==
         MPI_ERR_BUFFER);
  EXPECT(strcmp(WISP_Error_message(), "WISP_Split: color = NULL") == 0);
  EXPECT(WISP_Split(chain, &rank, -1, MPI_INT, NULL, NULL, 0, MPI_DATATYPE_NULL, NULL, MPI_INFO_NULL,
                    &made) == MPI_ERR_COUNT);
  EXPECT(strcmp(WISP_Error_message(), "WISP_Split: color_count = -1 is below 0") == 0);
  EXPECT(WISP_Split(chain, MPI_IN_PLACE, 1, MPI_INT, NULL, NULL, 0, MPI_DATATYPE_NULL, NULL, MPI_INFO_NULL,
                    &made) == MPI_ERR_BUFFER);
  EXPECT(strcmp(WISP_Error_message(), "WISP_Split: color cannot be MPI_IN_PLACE") == 0);
  MPI_Type_create_struct(2, lengths, places, types, &type);
  if (rank == 0) {
    EXPECT(WISP_Chain_bcast(&padded, 1, type, 0, chain) == MPI_ERR_TYPE);
    EXPECT(WISP_Chain_scan(&padded, &padded, 1, type, MPI_SUM, chain) == MPI_ERR_TYPE);
  }
  MPI_Type_commit(&type);
  EXPECT(WISP_Split(chain, &padded, 1, type, NULL, NULL, 0, MPI_DATATYPE_NULL, NULL, MPI_INFO_NULL, &made) ==
         MPI_ERR_ARG);
  MPI_Type_free(&type);
  EXPECT(WISP_Split(chain, &rank, 1, MPI_INT, NULL, WISP_UNDEFINED, 1, MPI_INT, NULL, MPI_INFO_NULL, &made) ==
         MPI_ERR_ARG);
  EXPECT(made == WISP_CHAIN_NULL);
}

int main(int argc, char** argv) {
  int all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  OK(WISP_Comm_duplicate(MPI_COMM_WORLD, &comm));
  OK(WISP_Chain_of_comm(comm, &chain));
  RUN(test_places);
  RUN(test_to_comm);
  RUN(test_collectives);
  RUN(test_split);
  RUN(test_types_of_numbers);
  RUN(test_numbers_with_gaps);
  RUN(test_ready_made);
  RUN_WHERE_ERRORS_RETURN(test_errors);
  OK(WISP_Chain_free(&chain));
  OK(WISP_Comm_free(&comm));
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
