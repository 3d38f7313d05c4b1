#include <algorithm>
#include <span>
#include <vector>

#include "c/shims.hpp"

// Completion functions of wisp.h.

using namespace wisp;
using namespace wisp::c;

namespace {

/// The requests behind an array of handles, as the C++ functions want them: one after the other. They go back
/// to their handles at the end; handles of those that have ended become WISP_REQUEST_NULL.
class Borrowed {
 public:
  Borrowed(int count, WISP_Request* handles)
      : handles_(array_of(handles, checked_count(count, "count"), "requests")) {
    for (WISP_Request handle : handles_) {
      if (handle != WISP_REQUEST_NULL) alive(handle, MPI_ERR_REQUEST, "request");
    }
    requests.reserve(handles_.size());
    for (WISP_Request handle : handles_) {
      requests.push_back(handle == WISP_REQUEST_NULL ? Request() : std::move(handle->request));
    }
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed() {
    for (std::size_t i = 0; i < handles_.size(); ++i) {
      // One that is given twice has gone with its first.
      if (handles_[i] == WISP_REQUEST_NULL || !handles_[i]->is_alive() || is_used(*handles_[i])) continue;
      handles_[i]->request = std::move(requests[i]);
      drop_if_ended(handles_[i]);
    }
  }

  static bool is_used(const WISP_Request_object& handle) {
    return handle.request.active() || handle.request.is_persistent();
  }
  static void drop_if_ended(WISP_Request& handle) {
    if (is_used(*handle)) return;
    delete handle;
    handle = WISP_REQUEST_NULL;
  }

  std::vector<Request> requests;

 private:
  std::span<WISP_Request> handles_;
};

/// One request; also where the operation ended with an error, its handle is dropped.
template <class Body>
void with_request(WISP_Request* request, Body body) {
  WISP_Request& handle = out(request, "request");
  if (handle != WISP_REQUEST_NULL) alive(handle, MPI_ERR_REQUEST, "request");
  struct DropAtEnd {
    WISP_Request& handle;
    ~DropAtEnd() {
      if (handle != WISP_REQUEST_NULL) Borrowed::drop_if_ended(handle);
    }
  } drop{handle};
  body(handle);
}

/// Those of all requests for which `wait` is over; if one has failed, of those before it.
template <class Wait>
void put_statuses(MPI_Status* statuses, std::size_t count, Wait wait) {
  std::vector<Status> results(count);
  struct PutAtEnd {
    MPI_Status* statuses;
    const std::vector<Status>& results;
    bool is_over = true;
    ~PutAtEnd() {
      for (std::size_t i = 0; is_over && i < results.size(); ++i) put_status(statuses, i, results[i]);
    }
  } put{statuses, results};
  put.is_over = wait(results);
}

Request& persistent_of(WISP_Request request) {
  if (request == WISP_REQUEST_NULL) throw Error(MPI_ERR_REQUEST, "request = WISP_REQUEST_NULL");
  return alive(request, MPI_ERR_REQUEST, "request").request;
}

/// Where there is none, the status is that of no message.
void put_any(const std::optional<Completion>& done, int* index, MPI_Status* status) {
  if (done) *index = static_cast<int>(done->index);
  put_status(status, done ? done->status : Status{});
}

bool any_active(const std::vector<Request>& requests) {
  for (const Request& request : requests) {
    if (request.active()) return true;
  }
  return false;
}

/// `complete` those that have ended.
template <class Complete>
void complete_some(int incount, WISP_Request* handles, int* outcount, int* indices, MPI_Status* statuses,
                   Complete complete) {
  out(outcount, "outcount");
  const std::span<int> places = array_of(indices, checked_count(incount, "incount"), "indices");
  Borrowed borrowed(incount, handles);
  const bool active = any_active(borrowed.requests);
  const std::vector<Completion> completions = complete(borrowed.requests);
  for (std::size_t i = 0; i < completions.size(); ++i) {
    places[i] = static_cast<int>(completions[i].index);
    put_status(statuses, i, completions[i].status);
  }
  *outcount = completions.empty() && !active ? MPI_UNDEFINED : static_cast<int>(completions.size());
}

}  // namespace

extern "C" {

int WISP_Test(WISP_Request* request, int* flag, MPI_Status* status) {
  return guarded("WISP_Test", [&] {
    out(flag, "flag");
    with_request(request, [&](WISP_Request handle) {
      *flag = 1;  // it has also ended where it has failed
      const std::optional<Status> done = handle == WISP_REQUEST_NULL ? Status{} : handle->request.test();
      *flag = done ? 1 : 0;
      if (done) put_status(status, *done);
    });
  });
}

int WISP_Wait(WISP_Request* request, MPI_Status* status) {
  return guarded("WISP_Wait", [&] {
    with_request(request, [&](WISP_Request handle) {
      put_status(status, handle == WISP_REQUEST_NULL ? Status{} : handle->request.wait());
    });
  });
}

int WISP_Testall(int count, WISP_Request requests[], int* flag, MPI_Status* statuses) {
  return guarded("WISP_Testall", [&] {
    out(flag, "flag") = 0;
    Borrowed borrowed(count, requests);
    put_statuses(statuses, borrowed.requests.size(), [&](std::vector<Status>& results) {
      *flag = test_all(borrowed.requests, results) ? 1 : 0;
      return *flag != 0;
    });
  });
}

int WISP_Waitall(int count, WISP_Request requests[], MPI_Status* statuses) {
  return guarded("WISP_Waitall", [&] {
    Borrowed borrowed(count, requests);
    put_statuses(statuses, borrowed.requests.size(), [&](std::vector<Status>& results) {
      wait_all(borrowed.requests, results);
      return true;
    });
  });
}

int WISP_Testany(int count, WISP_Request requests[], int* index, int* flag, MPI_Status* status) {
  return guarded("WISP_Testany", [&] {
    out(index, "index") = MPI_UNDEFINED;
    out(flag, "flag");
    Borrowed borrowed(count, requests);
    *flag = 1;  // one has also ended where it has failed
    const bool has_none = !any_active(borrowed.requests);
    const std::optional<Completion> done = test_any(borrowed.requests);
    *flag = done || has_none ? 1 : 0;
    if (*flag != 0) put_any(done, index, status);
  });
}

int WISP_Waitany(int count, WISP_Request requests[], int* index, MPI_Status* status) {
  return guarded("WISP_Waitany", [&] {
    out(index, "index") = MPI_UNDEFINED;
    Borrowed borrowed(count, requests);
    put_any(wait_any(borrowed.requests), index, status);
  });
}

int WISP_Testsome(int incount, WISP_Request requests[], int* outcount, int indices[], MPI_Status* statuses) {
  return guarded("WISP_Testsome", [&] {
    complete_some(incount, requests, outcount, indices, statuses,
                  [](std::vector<Request>& of) { return test_some(of); });
  });
}

int WISP_Waitsome(int incount, WISP_Request requests[], int* outcount, int indices[], MPI_Status* statuses) {
  return guarded("WISP_Waitsome", [&] {
    complete_some(incount, requests, outcount, indices, statuses,
                  [](std::vector<Request>& of) { return wait_some(of); });
  });
}

int WISP_Start(WISP_Request* request) {
  return guarded("WISP_Start", [&] { persistent_of(out(request, "request")).start(); });
}

int WISP_Startall(int count, WISP_Request requests[]) {
  return guarded("WISP_Startall", [&] {
    const auto all = array_of(requests, checked_count(count, "count"), "requests");
    for (WISP_Request request : all) persistent_of(request).check_start("WISP_Startall");
    std::vector<WISP_Request> sorted(all.begin(), all.end());
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) != sorted.end())
      throw Error(MPI_ERR_REQUEST, "requests: one is there twice");
    for (WISP_Request request : all) request->request.start();
  });
}

int WISP_Request_free(WISP_Request* request) {
  return guarded("WISP_Request_free", [&] {
    persistent_of(out(request, "request")).free();
    delete *request;
    *request = WISP_REQUEST_NULL;
  });
}

}  // extern "C"
