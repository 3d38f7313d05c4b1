/* What the C tests share: the ranks, and expectations that say where they fail. */
#ifndef WISP_TEST_EXPECT_H
#define WISP_TEST_EXPECT_H

#include <stdio.h>
#include <stdlib.h>

#include "wisp/wisp.h"

static int failures = 0;
static int rank = 0;
static int size = 0;
static WISP_Comm comm = WISP_COMM_NULL;

static void expect(int condition, const char* what, int line) {
  if (condition) return;
  ++failures;
  fprintf(stderr, "rank %d, line %d: %s (%s)\n", rank, line, what, WISP_Error_message());
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)
#define OK(call) expect((call) == MPI_SUCCESS, #call, __LINE__)

/* Runs a test; rank 0 says for scripts/run-tests whether it passed on all ranks. */
static void run_test(void (*test)(void), const char* name) {
  int failed = -failures;
  test();
  failed += failures;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%s - %s\n", failed == 0 ? "ok" : "not ok", name);
}
#define RUN(test) run_test(test, #test)
/* Of a test that provokes errors of MPI itself: not every MPI heeds the error handler. */
#define RUN_WHERE_ERRORS_RETURN(test) (getenv("WISP_TEST_MPI_ABORTS") == NULL ? RUN(test) : (void)0)

#endif
