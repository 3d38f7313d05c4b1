// What a program does with requests. Where it has started operations of wisp's, waits and tests move these,
// too; without any, the calls are MPI's. What else may wait leaves it to the thread that looks now and then.

#include "preload/calls.hpp"

using namespace wisp::preload;

namespace {

/// A wait as tests: `test(flag)` gives MPI's code, and whether it is over.
template <class Native, class Test>
int waiting(Native native, Test test) {
  if (progress.is_idle()) [[likely]]
    return native();
  int code = MPI_SUCCESS;
  progress.wait_until([&] {
    int is_over = 0;
    code = test(is_over);
    return code != MPI_SUCCESS || is_over != 0;
  });
  return code;
}

/// A test, after one look.
template <class Native>
int testing(Native native) {
  if (!progress.is_idle()) progress.look();
  return native();
}

/// One after the other, where one of them may have failed: Open MPI's MPI_Waitall never returns then, if MPI
/// serves several threads.
int wait_each(int count, MPI_Request requests[], MPI_Status statuses[]) {
  bool has_failed = false;
  for (int i = 0; i < count; ++i) {
    MPI_Status status;
    const int code = MPI_Wait(&requests[i], &status);
    has_failed = has_failed || code != MPI_SUCCESS;
    if (statuses == MPI_STATUSES_IGNORE) continue;
    statuses[i] = status;
    statuses[i].MPI_ERROR = code;
  }
  if (!has_failed) return MPI_SUCCESS;
  PMPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_IN_STATUS);
  return MPI_ERR_IN_STATUS;
}

}  // namespace

#define WISP_NATIVE(name) static const auto native = next_of("MPI_" #name, &PMPI_##name)

extern "C" {

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  WISP_NATIVE(Wait);
  return waiting([&] { return native(request, status); },
                 [&](int& is_over) { return PMPI_Test(request, &is_over, status); });
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  WISP_NATIVE(Waitall);
  if (!progress.is_idle() && requests != nullptr) {
    // Those of ours, without ending them: MPICH does not hear of requests that another thread completes while
    // it waits. The others are MPI's; what else is in flight leaves them to it and to the thread that looks.
    int done = 0;
    progress.wait_until([&] {
      while (done < count && !progress.is_in_flight(requests[done])) ++done;
      return done >= count;
    });
  }
  if (progress.has_failed() && requests != nullptr) return wait_each(count, requests, statuses);
  return native(count, requests, statuses);
}

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  WISP_NATIVE(Waitany);
  return waiting([&] { return native(count, requests, index, status); },
                 [&](int& is_over) { return PMPI_Testany(count, requests, index, &is_over, status); });
}

int MPI_Waitsome(int count, MPI_Request requests[], int* ended, int indices[], MPI_Status statuses[]) {
  WISP_NATIVE(Waitsome);
  return waiting([&] { return native(count, requests, ended, indices, statuses); },
                 [&](int& is_over) {
                   const int code = PMPI_Testsome(count, requests, ended, indices, statuses);
                   is_over = *ended != 0 ? 1 : 0;  // MPI_UNDEFINED: there is none to wait for
                   return code;
                 });
}

int MPI_Start(MPI_Request* request) {
  WISP_NATIVE(Start);
  int code = MPI_SUCCESS;
  if (progress.has_persistent() && request != nullptr && progress.start(request, code)) return code;
  return native(request);
}

int MPI_Startall(int count, MPI_Request requests[]) {
  WISP_NATIVE(Startall);
  if (!progress.has_persistent() || count < 0 || requests == nullptr) return native(count, requests);
  int code = MPI_SUCCESS;
  for (int i = 0; i < count && code == MPI_SUCCESS; ++i) code = MPI_Start(&requests[i]);
  return code;
}

int MPI_Request_free(MPI_Request* request) {
  WISP_NATIVE(Request_free);
  int code = MPI_SUCCESS;
  if (progress.has_persistent() && request != nullptr && progress.free(request, code)) return code;
  return native(request);
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  WISP_NATIVE(Test);
  return testing([&] { return native(request, flag, status); });
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  WISP_NATIVE(Testall);
  return testing([&] { return native(count, requests, flag, statuses); });
}

int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  WISP_NATIVE(Testany);
  return testing([&] { return native(count, requests, index, flag, status); });
}

int MPI_Testsome(int count, MPI_Request requests[], int* ended, int indices[], MPI_Status statuses[]) {
  WISP_NATIVE(Testsome);
  return testing([&] { return native(count, requests, ended, indices, statuses); });
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  WISP_NATIVE(Request_get_status);
  return testing([&] { return native(request, flag, status); });
}

}  // extern "C"
