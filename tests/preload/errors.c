/* A program that knows nothing of wisp, and makes errors: what it hears of them is what MPI says. It writes,
   for each, whether its error handler was called, and of which class the error is. */
#include <mpi.h>
#include <stdio.h>

static int heard, heard_code;
static void hear(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  heard_code = *code;
  ++heard;
}

/* Attributes are copied when the program duplicates a communicator, and only then. */
static int copied, deleted;
static int copy(MPI_Comm comm, int keyval, void* extra, void* from, void* to, int* flag) {
  (void)comm;
  (void)keyval;
  (void)extra;
  *(void**)to = from;
  *flag = 1;
  ++copied;
  return MPI_SUCCESS;
}
static int drop(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm;
  (void)keyval;
  (void)value;
  (void)extra;
  ++deleted;
  return MPI_SUCCESS;
}

static int rank;
static void say(const char* what, int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(heard > 0 ? heard_code : code,
                  &error_class); /* MPICH 5 returns success once it was heard */
  if (rank == 0) {
    printf("%s: %s%s\n", what, heard > 0 ? "heard, " : "",
           error_class == MPI_ERR_ROOT    ? "MPI_ERR_ROOT"
           : error_class == MPI_ERR_COUNT ? "MPI_ERR_COUNT"
           : error_class == MPI_ERR_TYPE  ? "MPI_ERR_TYPE"
           : error_class == MPI_ERR_OP    ? "MPI_ERR_OP"
           : error_class == MPI_SUCCESS   ? "MPI_SUCCESS"
                                          : "another");
  }
  heard = 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm, half;
  MPI_Errhandler handler;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(hear, &handler);
  int one = 1, sum = 0, all[64];
  for (int returns = 0; returns < 2; ++returns) {
    MPI_Comm_set_errhandler(comm, returns ? MPI_ERRORS_RETURN : handler);
    if (rank == 0) say("refused on this rank alone", MPI_Bcast(&one, -1, MPI_INT, 0, comm));
    say("a good call", MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    say("a bad root", MPI_Bcast(&one, 1, MPI_INT, 1000, comm));
    say("a count below 0", MPI_Bcast(&one, -1, MPI_INT, 0, comm));
    say("no datatype", MPI_Allgather(&one, 1, MPI_DATATYPE_NULL, all, 1, MPI_DATATYPE_NULL, comm));
    say("no operator", MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_OP_NULL, comm));
    double bits = 1, joined = 0;
    say("bits of a double", MPI_Allreduce(&bits, &joined, 1, MPI_DOUBLE, MPI_BOR, comm));
    say("a good call again", MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
  }
  /* With attributes, and freed while operations on them go on. */
  int keyval;
  MPI_Comm_create_keyval(copy, drop, &keyval, NULL);
  for (int i = 0; i < 20; ++i) {
    MPI_Comm with_attribute;
    MPI_Request requests[2];
    int mine = rank, least = -1, from_root = i;
    MPI_Comm_dup(MPI_COMM_WORLD, &with_attribute);
    MPI_Comm_set_attr(with_attribute, keyval, &rank);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, with_attribute);
    MPI_Iallreduce(&mine, &least, 1, MPI_INT, MPI_MIN, with_attribute, &requests[0]);
    MPI_Ibcast(&from_root, 1, MPI_INT, 0, with_attribute, &requests[1]);
#ifdef OPEN_MPI /* whose own nonblocking collectives do not survive it */
    MPI_Barrier(with_attribute);
#else
    MPI_Comm_free(&with_attribute);
#endif
    for (int k = 0; k < 2; ++k) MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
#ifdef OPEN_MPI
    MPI_Comm_free(&with_attribute);
#endif
    if (least != 0 || from_root != i) printf("wrong: %d %d\n", least, from_root);
  }
  if (rank == 0) printf("copied %d, deleted %d\n", copied, deleted);
  MPI_Comm_free_keyval(&keyval);

  /* Communicators that come and go, one in the midst of its life when MPI ends. */
  for (int i = 0; i < 100; ++i) {
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    for (int k = 0; k < i % 5; ++k) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half);
    if (i < 99) MPI_Comm_free(&half);
  }
  if (rank == 0) printf("sum %d\n", sum);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
