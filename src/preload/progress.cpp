#include "preload/progress.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>

#include "preload/calls.hpp"
#include "transport/throw_error.hpp"
#include "wisp/error.hpp"

namespace wisp::preload {
namespace {

int query(void* state, MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return *static_cast<const int*>(state);
}

/// MPI_Finalize deletes first what was kept with MPI_COMM_SELF last: this after the engine, whom the thread
/// polls.
void end_before_engine() {
  int keyval = MPI_KEYVAL_INVALID;
  const auto end = [](MPI_Comm, int, void*, void*) -> int {
    progress.end();
    return MPI_SUCCESS;
  };
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, +end, &keyval, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
}

int cancel(void*, int) {
  return MPI_ERR_REQUEST;  // collectives cannot be cancelled
}

}  // namespace

/// What MPI keeps with the request: first of all the error class.
struct Progress::Started {
  int error_class = MPI_SUCCESS;
  MPI_Request request = MPI_REQUEST_NULL;
  Served* served = nullptr;

  static int drop(void* state) {
    delete static_cast<Started*>(state);
    return MPI_SUCCESS;
  }
};

Progress& progress = *new Progress;

detail::Detached Progress::watch(Request started, Started& state) {
  try {
    co_await started;
  } catch (const Error& error) {
    state.error_class = error.error_class();
  } catch (...) {
    state.error_class = MPI_ERR_OTHER;
  }
  if (state.error_class != MPI_SUCCESS) has_failed_ = true;
  state.served->end_operation();
  const MPI_Request request = state.request;
  PMPI_Grequest_complete(request);
  started_.erase(request);
  --in_flight_;
}

void Progress::use(const Served& served) {
  if (engine_ == nullptr) engine_ = &detail::CommAccess::world(served.comm()).engine();
  std::fegetenv(&arithmetic_);
}

struct Progress::Persistent {
  Request operation;
  Served* served;
  int tag;
  bool is_active = false;
};

detail::Detached Progress::watch_again(Persistent& of) {
  try {
    co_await of.operation;
  } catch (const std::exception& error) {
    // The receive cannot tell of it, and no handler of the program's is called from here.
    std::fprintf(stderr, "wisp preload: %s\n", error.what());
  }
  PMPI_Send(nullptr, 0, MPI_BYTE, 0, of.tag, to_oneself_);
  of.is_active = false;
  --in_flight_;
}

int Progress::hand_out_persistent(Request made, Served& served, MPI_Request* request) {
  use(served);
  constexpr int tags = 32768;
  if (persistent_.size() >= tags) {
    detail::throw_error(MPI_ERR_NO_MEM,
                        "{} persistent collectives are there, the most that can be told apart: free some",
                        tags);
  }
  if (to_oneself_ == MPI_COMM_NULL) {
    // Without the program's attributes, whose functions a duplicate would call.
    MPI_Group self = MPI_GROUP_NULL;
    PMPI_Comm_group(MPI_COMM_SELF, &self);
    PMPI_Comm_create(MPI_COMM_SELF, self, &to_oneself_);
    PMPI_Group_free(&self);
  }
  if (free_tags_.empty()) free_tags_.push_back(static_cast<int>(persistent_.size()));
  const int tag = free_tags_.back();
  const int code = PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, tag, to_oneself_, request);
  if (code != MPI_SUCCESS) return code;
  free_tags_.pop_back();
  served.begin_operation();  // until the request is freed, which may be after the communicator
  persistent_[*request].reset(new Persistent{std::move(made), &served, tag});
  return code;
}

bool Progress::start(MPI_Request* request, int& code) {
  const auto found = persistent_.find(*request);
  if (found == persistent_.end()) return false;
  Persistent& of = *found->second;
  code = guarded(of.served->mpi_comm(), lock(), [&] {
    use(*of.served);
    of.operation.start();
    detail::check_mpi(PMPI_Start(request), "MPI_Start");
    ++in_flight_;
    of.is_active = true;
    watch_again(of);
  });
  has_work_.notify_one();
  return true;
}

bool Progress::free(MPI_Request* request, int& code) {
  const auto found = persistent_.find(*request);
  if (found == persistent_.end()) return false;
  if (found->second->is_active) wait_until([&] { return !found->second->is_active; });
  const auto held = lock();
  Served* const served = found->second->served;
  free_tags_.push_back(found->second->tag);
  persistent_.erase(found);
  served->end_operation();
  code = PMPI_Request_free(request);
  return true;
}

bool Progress::is_in_flight(MPI_Request request) {
  const std::lock_guard held(mutex_);
  const auto found = persistent_.find(request);
  return found != persistent_.end() ? found->second->is_active : started_.contains(request);
}

int Progress::hand_out(Request started, Served& served, MPI_Request* request) {
  auto* state = new Started;
  const int code = PMPI_Grequest_start(query, &Started::drop, cancel, state, &state->request);
  if (code != MPI_SUCCESS) {
    delete state;
    return code;
  }
  *request = state->request;  // it may end, and the state with it, in the next line
  use(served);
  state->served = &served;
  served.begin_operation();
  ++in_flight_;
  started_.insert(state->request);
  watch(std::move(started), *state);
  has_work_.notify_one();
  return MPI_SUCCESS;
}

namespace {

template <class Act>
bool or_abort(Act act) noexcept {
  try {
    return act();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "wisp preload: %s\n", error.what());
    PMPI_Abort(MPI_COMM_WORLD, MPI_ERR_OTHER);
    return false;
  }
}

}  // namespace

bool Progress::poll() noexcept {
  const detail::EngineLock lock(*engine_);
  return or_abort([this] { return engine_->poll_in_wait(); });
}

void Progress::attend_wait(detail::IdleLoop::Duration idle) noexcept {
  const std::lock_guard held(mutex_);
  if (engine_ == nullptr) return;
  const detail::EngineLock lock(*engine_);
  or_abort([&] {
    engine_->attend_wait(idle, nullptr);
    return true;
  });
}

void Progress::look_now_and_then() {
  constexpr auto between_looks = std::chrono::microseconds(20);
  detail::FramePool::let_rest(0);  // what ends here was made by other threads, which need it again
  std::unique_lock held(mutex_);
  while (!ends_) {
    has_work_.wait(held, [this] { return ends_ || in_flight_ > 0; });
    if (ends_) return;
    // Operators round as in the program's thread. What traps there has no handler here.
    std::fesetenv(&arithmetic_);
    std::fenv_t with_traps;
    std::feholdexcept(&with_traps);
    if (!is_waited_for_) poll();
    held.unlock();
    std::this_thread::sleep_for(between_looks);
    held.lock();
  }
}

void Progress::begin() {
  end_before_engine();  // and behind what the program has MPI_Finalize call, which may wait for requests
  // Signals are for the program's threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  looker_ = std::thread([this] { look_now_and_then(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Progress::end() {
  if (!looker_.joinable()) return;
  {
    const std::lock_guard held(mutex_);
    ends_ = true;
  }
  has_work_.notify_one();
  looker_.join();
  persistent_.clear();
  if (to_oneself_ != MPI_COMM_NULL) PMPI_Comm_free(&to_oneself_);
  ends_ = false;
  engine_ = nullptr;
}

}  // namespace wisp::preload
