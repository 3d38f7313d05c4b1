#include "wisp/request.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include "async/detached.hpp"
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
  operation_.resume();
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
  operation_.resume();
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

std::optional<Status> Request::test() {
  if (!active()) return Status();
  detail::ContextPtr context;  // it may be the last one of its engine, so it outlives the lock
  const detail::EngineLock lock = detail::lock(context_, "wisp::Request::test");
  if (!has_ended()) context_->world->engine().look();
  if (!has_ended()) return std::nullopt;
  return active() ? take(context) : Status();  // another thread may have taken it in that look
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
  Several(std::span<Request> requests, const char* call) {
    const auto active = std::ranges::find_if(requests, &Request::active);
    if (active == requests.end()) return;
    context_ = active->context_;
    lock_.emplace(context_->world->engine(), call);
    const auto living = std::ranges::find_if_not(requests, &Request::has_ended);
    if (living == requests.end()) return;
    context_ = living->context_;
    engine_ = &context_->world->engine();
  }

  /// Null if there is nothing to wait for.
  detail::Engine* engine() const { return engine_; }
  /// A wait for any of them, in the trace.
  detail::TracedWait traced() const { return {context_->world->recorder(), nullptr}; }

 private:
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
  const auto all_done = [&] { return std::ranges::all_of(requests, &Request::has_ended); };
  if (!all_done()) several.engine()->look();
  if (!all_done()) return false;
  wait_all(requests, statuses);
  return true;
}

void wait_all(std::span<Request> requests, std::span<Status> statuses) {
  check_statuses("wisp::wait_all", requests, statuses);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Status status = requests[i].wait();
    if (!statuses.empty()) statuses[i] = status;
  }
}

std::optional<Completion> test_any(std::span<Request> requests) {
  const Request::Several several(requests, "wisp::test_any");
  const auto look = [&]() -> std::optional<Completion> {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (requests[i].active() && requests[i].has_ended()) return Completion{i, requests[i].take()};
    }
    return std::nullopt;
  };
  if (std::optional<Completion> found = look()) return found;
  if (several.engine() != nullptr) several.engine()->look();
  return look();
}

std::vector<Completion> test_some(std::span<Request> requests) {
  const Request::Several several(requests, "wisp::test_some");
  const auto is_done = [](const Request& request) { return request.active() && request.has_ended(); };
  if (several.engine() != nullptr && std::ranges::none_of(requests, is_done)) several.engine()->look();
  std::vector<Completion> completions;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!is_done(requests[i]) || (!completions.empty() && requests[i].fails())) continue;
    completions.push_back({i, requests[i].take()});
  }
  return completions;
}

std::optional<Completion> wait_any(std::span<Request> requests) {
  const Request::Several several(requests, "wisp::wait_any");
  if (several.engine() == nullptr) return test_any(requests);
  std::optional<Completion> completion;
  const detail::TracedWait wait = several.traced();
  several.engine()->run_until([&] { return (completion = test_any(requests)).has_value(); });
  return completion;
}

std::vector<Completion> wait_some(std::span<Request> requests) {
  const Request::Several several(requests, "wisp::wait_some");
  if (several.engine() == nullptr) return test_some(requests);
  std::vector<Completion> completions;
  const detail::TracedWait wait = several.traced();
  several.engine()->run_until([&] { return !(completions = test_some(requests)).empty(); });
  return completions;
}

}  // namespace wisp
