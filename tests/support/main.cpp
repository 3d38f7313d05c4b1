#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

/// Prints failures of this rank with its number; the usual output is that of rank 0.
class FailuresOfRank : public testing::EmptyTestEventListener {
 public:
  explicit FailuresOfRank(int rank) : rank_(rank) {}
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_,
                 result.file_name() != nullptr ? result.file_name() : "?", result.line_number(),
                 result.summary());
  }

 private:
  int rank_;
};

/// As WISP_TEST_THREADS says; what no test says is what most programs have.
void begin(int* argc, char*** argv) {
  const char* text = std::getenv("WISP_TEST_THREADS");
  if (text == nullptr) {
    MPI_Init(argc, argv);
    return;
  }
  const std::string_view level(text);
  int provided = 0;
  MPI_Init_thread(argc, argv,
                  level == "multiple"     ? MPI_THREAD_MULTIPLE
                  : level == "serialized" ? MPI_THREAD_SERIALIZED
                                          : MPI_THREAD_FUNNELED,
                  &provided);
}

}  // namespace

int main(int argc, char** argv) {
  begin(&argc, &argv);
  // MPICH reports an error of a message in flight to the handler of MPI_COMM_WORLD, whose default aborts.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#if MPI_VERSION >= 5  // MPICH 5 to that of MPI_COMM_SELF
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
#endif
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // scripts/run-tests reads what each rank found.
  if (const char* folder = std::getenv("WISP_TEST_REPORTS"); folder != nullptr) {
    testing::GTEST_FLAG(output) = "json:" + std::string(folder) + "/" + std::to_string(rank) + ".json";
  }
  testing::InitGoogleTest(&argc, argv);
  if (rank != 0) {
    testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOfRank(rank));
  }
  int failed = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
