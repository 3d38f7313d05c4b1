#include "wisp/request.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

#include "async/detached.hpp"
#include "comm/comm_access.hpp"
#include "comm/world.hpp"
#include "trace/recorder.hpp"
#include "transport/throw_error.hpp"
#include "wisp/error.hpp"

namespace wisp {
namespace {

detail::Detached run_on(Request request) {
  co_await request;
}

[[noreturn]] void throw_freed() {
  throw Error(MPI_ERR_COMM, "wisp::Request: the MPI communicator below has been freed");
}

}  // namespace

[[gnu::hot]] Request::Request(detail::RunningTask operation, detail::ContextPtr context, Unwinding unwinding)
    : context_(std::move(context)), operation_(std::move(operation)), unwinding_(unwinding) {
  const detail::EngineLock lock = detail::lock(context_, "wisp::Request");
  if (!operation_.exists())
    throw Error(MPI_ERR_ARG, "wisp::Request: the task is empty, or has been moved from");
  if (!operation_.done()) operation_.resume();
}

Request Request::persistent(std::function<detail::RunningTask()> make, detail::ContextPtr context,
                            Unwinding unwinding) {
  Request made;
  made.unwinding_ = unwinding;
  made.context_ = std::move(context);
  made.make_ = std::move(make);
  return made;
}

Request& Request::operator=(Request&& other) noexcept {
  if (this == &other) return *this;
  finish();
  operation_ = std::exchange(other.operation_, {});  // first: what it holds may need the context
  context_ = std::move(other.context_);
  make_ = std::move(other.make_);
  unwinding_ = other.unwinding_;
  exceptions_ = std::max(exceptions_, other.exceptions_);
  return *this;
}

[[gnu::hot]] Request::~Request() {
  finish();
}

/// Waits for an active operation, or lets it run on where nothing can wait.
[[gnu::hot]] void Request::finish() noexcept {
  if (!active()) return;
  detail::Engine& engine = context_->world->engine();
  const detail::EngineLock lock(engine);
  if (context_->world->closed()) operation_ = {};  // now, as another thread may be about to resume it
  if (done()) return;
  const bool is_unwinding = std::uncaught_exceptions() > std::max(exceptions_, engine.exceptions_around);
  // The exception must get out. A receive is cancelled, and where nothing can wait whatever it is; what
  // others take part in can only be waited for.
  if (is_unwinding && (unwinding_ == Unwinding::cancels || !engine.can_wait())) {
    operation_ = {};
    return;
  }
  if (!engine.can_wait()) {
    free();
    return;
  }
  if (is_unwinding) {
    std::fputs(
        "wisp: an exception passes a request that is still in flight, and waits for it: its buffers must "
        "live until it ends\n",
        stderr);
  }
  engine.run_until([this] { return done(); }, context_.get());
}

void Request::check_start(const char* call) const {
  if (!is_persistent()) detail::throw_error(MPI_ERR_REQUEST, "{}: the request is not persistent", call);
  if (active()) detail::throw_error(MPI_ERR_REQUEST, "{}: the request is active already", call);
  if (context_->world->closed())
    detail::throw_error(MPI_ERR_COMM, "{}: the MPI communicator below has been freed", call);
}

void Request::start() {
  constexpr const char* call = "wisp::Request::start";
  check_start(call);
  const detail::EngineLock lock = detail::lock(context_, call);
  operation_ = make_();
  if (!operation_.done()) operation_.resume();
}

/// Its communicator has been freed before it was done: nobody can wait for it any more.
bool Request::is_lost() const noexcept {
  return !done() && context_->world->closed();
}

[[gnu::hot]] Status Request::take(detail::ContextPtr& context) {
  // Inactive from here on, also when the operation's exception passes on.
  detail::RunningTask ended = std::exchange(operation_, {});
  if (!is_persistent()) context = std::exchange(context_, {});
  if (!ended.done()) [[unlikely]] {
    ended = {};
    throw_freed();
  }
  return ended.take();
}

[[gnu::hot]] Status Request::take() {
  detail::ContextPtr context;
  return active() ? take(context) : Status();
}

template <class Look>
std::optional<Status> Request::test(Look look) {
  if (!active()) return Status();
  detail::ContextPtr context;  // it may be the last one of its engine, so it outlives the lock
  const detail::EngineLock lock = detail::lock(context_, "wisp::Request::test");
  if (!has_ended()) look(context_->world->engine());
  if (!has_ended()) return std::nullopt;
  return active() ? take(context) : Status();  // another thread may have taken it in that look
}

std::optional<Status> Request::test() {
  return test([](detail::Engine& engine) { engine.look(); });
}

std::optional<Status> detail::test_in_wait(Request& request, bool& moved) {
  return request.test([&](Engine& engine) { moved = engine.poll_in_wait(); });
}

[[gnu::hot]] Status Request::wait() {
  if (!active()) return {};
  detail::ContextPtr context;
  const detail::EngineLock lock = detail::lock(context_, "wisp::Request::wait");
  if (!has_ended()) {
    detail::Engine& engine = context_->world->engine();
    const detail::TracedWait wait(context_->world->recorder(), context_.get());
    engine.run_until([this] { return done(); }, context_.get());
    if (!active()) return {};  // another thread has taken it between two looks
  }
  return take(context);
}

void detail::look(const Comm& comm) {
  const EngineLock lock = detail::lock(CommAccess::context(comm), "wisp::Request::test");
  CommAccess::world(comm).engine().look();
}

int detail::wait_for_mpi(const Comm& comm, MPI_Request* request, MPI_Status* status) {
  IdleLoop idle;
  for (int polls_before_yield = IdleLoop::fewest_polls;; idle.pause(polls_before_yield)) {
    int has_ended = 0;
    const int code = MPI_Test(request, &has_ended, status);
    if (has_ended != 0 || code != MPI_SUCCESS) return code;
    look(comm);
  }
}

void Request::free() {
  if (!active()) return;
  const detail::ContextPtr context = context_;
  const detail::EngineLock lock = detail::lock(context, "wisp::Request::free");
  run_on(std::move(*this));
}

detail::Engine* engine_of(const Request& request) {
  if (!request.active()) return nullptr;
  detail::World& world = *request.context_->world;
  if (!world.closed()) return &world.engine();
  if (!world.engine().can_wait()) throw_freed();
  return nullptr;
}

/// The engine that all requests of a process share, held for a call about several of them.
class Request::Several {
 public:
  Several(std::span<Request> requests, const char* call) : requests_(requests) {
    const auto active = std::ranges::find_if(requests, &Request::active);
    if (active == requests.end()) return;
    context_ = active->context_;
    lock_.emplace(context_->world->engine(), call);
    const auto living = std::ranges::find_if_not(requests, &Request::has_ended);
    if (living == requests.end()) return;
    context_ = living->context_;
    engine_ = &context_->world->engine();
  }

  /// Whether `take` finds what it looks for, if need be after a look.
  template <class Take>
  bool test(Take take) const {
    if (take()) return true;
    if (engine_ == nullptr) return false;
    engine_->look();
    return take();
  }
  /// Until it does, or another thread has taken the last one.
  template <class Take>
  void wait(Take take) const {
    if (take() || engine_ == nullptr) return;
    const detail::TracedWait wait(context_->world->recorder(), nullptr);  // for any of them
    engine_->run_until([&] { return take() || std::ranges::none_of(requests_, &Request::active); });
  }

 private:
  std::span<Request> requests_;
  detail::ContextPtr context_;
  detail::Engine* engine_ = nullptr;
  std::optional<detail::EngineLock> lock_;
};

namespace {

void check_statuses(const char* call, std::span<Request> requests, std::span<Status> statuses) {
  if (statuses.empty() || statuses.size() >= requests.size()) return;
  detail::throw_error(MPI_ERR_ARG, "{}: {} statuses for {} requests", call, statuses.size(), requests.size());
}

}  // namespace

void start_all(std::span<Request> requests) {
  for (const Request& request : requests) request.check_start("wisp::start_all");
  for (Request& request : requests) request.start();
}

bool test_all(std::span<Request> requests, std::span<Status> statuses) {
  check_statuses("wisp::test_all", requests, statuses);
  const Request::Several several(requests, "wisp::test_all");
  if (!several.test([&] { return std::ranges::all_of(requests, &Request::has_ended); })) return false;
  wait_all(requests, statuses);
  return true;
}

[[gnu::hot]] void wait_all(std::span<Request> requests, std::span<Status> statuses) {
  check_statuses("wisp::wait_all", requests, statuses);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Status status = requests[i].wait();
    if (!statuses.empty()) statuses[i] = status;
  }
}

std::optional<Completion> Request::take_any(std::span<Request> requests) {
  const auto found = std::ranges::find_if(requests, &Request::is_to_be_told);
  if (found == requests.end()) return std::nullopt;
  return Completion{static_cast<std::size_t>(found - requests.begin()), found->take()};
}

/// One that has failed comes alone.
std::vector<Completion> Request::take_some(std::span<Request> requests) {
  std::vector<Completion> completions;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!requests[i].is_to_be_told() || (!completions.empty() && requests[i].fails())) continue;
    completions.push_back({i, requests[i].take()});
  }
  return completions;
}

std::optional<Completion> test_any(std::span<Request> requests) {
  std::optional<Completion> done;
  Request::Several(requests, "wisp::test_any").test([&] {
    return (done = Request::take_any(requests)).has_value();
  });
  return done;
}

std::vector<Completion> test_some(std::span<Request> requests) {
  std::vector<Completion> done;
  Request::Several(requests, "wisp::test_some").test([&] {
    return !(done = Request::take_some(requests)).empty();
  });
  return done;
}

std::optional<Completion> wait_any(std::span<Request> requests) {
  std::optional<Completion> done;
  Request::Several(requests, "wisp::wait_any").wait([&] {
    return (done = Request::take_any(requests)).has_value();
  });
  return done;
}

std::vector<Completion> wait_some(std::span<Request> requests) {
  std::vector<Completion> done;
  Request::Several(requests, "wisp::wait_some").wait([&] {
    return !(done = Request::take_some(requests)).empty();
  });
  return done;
}

}  // namespace wisp
