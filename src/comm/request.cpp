#include "wisp/request.hpp"

#include <algorithm>
#include <utility>

#include "comm/world.hpp"

namespace wisp {
namespace {

Task<Status> without_status(Task<> operation) {
  co_await std::move(operation);
  co_return Status{};
}

/// A coroutine that nobody waits for: it frees itself at its end.
struct Detached {
  struct promise_type : detail::PooledFrame {
    Detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept {}  // there is nobody left to tell
  };
};

Detached run_on(Request request) {
  co_await request;
}

}  // namespace

Request::Request(Task<Status> operation, std::shared_ptr<detail::Context> context)
    : context_(std::move(context)), operation_(std::move(operation)) {
  operation_.handle().resume();
}

Request::Request(Task<> operation, std::shared_ptr<detail::Context> context)
    : Request(without_status(std::move(operation)), std::move(context)) {}

Request& Request::operator=(Request&& other) noexcept {
  Request dropped(std::move(*this));
  context_ = std::move(other.context_);
  operation_ = std::move(other.operation_);
  return *this;
}

Request::~Request() {
  if (done() || context_->world->closed()) return;
  if (!context_->world->engine().can_wait()) {
    free();
    return;
  }
  context_->world->engine().run_until([this] { return done(); });
}

Status Request::take() {
  if (!active()) return {};
  // Inactive from here on, also when the operation's exception passes on.
  const Task<Status> ended = std::exchange(operation_, {});
  const std::shared_ptr<detail::Context> context = std::exchange(context_, nullptr);
  return ended.handle().promise().take();
}

std::optional<Status> Request::test() {
  if (!done()) context_->world->engine().poll();
  if (!done()) return std::nullopt;
  return take();
}

Status Request::wait() {
  if (!done()) context_->world->engine().run_until([this] { return done(); });
  return take();
}

void Request::free() {
  if (active()) run_on(std::move(*this));
}

/// All requests of a process share one engine; null if none is active.
detail::Engine* engine_of(std::span<Request> requests) {
  for (const Request& request : requests) {
    if (request.active()) return &request.context_->world->engine();
  }
  return nullptr;
}

bool test_all(std::span<Request> requests) {
  const auto all_done = [&] { return std::ranges::all_of(requests, &Request::done); };
  if (!all_done()) engine_of(requests)->poll();
  if (!all_done()) return false;
  for (Request& request : requests) request.take();
  return true;
}

void wait_all(std::span<Request> requests) {
  for (Request& request : requests) request.wait();
}

std::optional<Completion> test_any(std::span<Request> requests) {
  const auto look = [&]() -> std::optional<Completion> {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (requests[i].active() && requests[i].done()) return Completion{i, requests[i].take()};
    }
    return std::nullopt;
  };
  if (std::optional<Completion> found = look()) return found;
  if (detail::Engine* engine = engine_of(requests)) engine->poll();
  return look();
}

std::vector<Completion> test_some(std::span<Request> requests) {
  if (detail::Engine* engine = engine_of(requests)) {
    const bool some_done =
        std::ranges::any_of(requests, [](const Request& r) { return r.active() && r.done(); });
    if (!some_done) engine->poll();
  }
  std::vector<Completion> completions;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i].active() && requests[i].done()) completions.push_back({i, requests[i].take()});
  }
  return completions;
}

std::optional<Completion> wait_any(std::span<Request> requests) {
  std::optional<Completion> completion;
  if (detail::Engine* engine = engine_of(requests)) {
    engine->run_until([&] { return (completion = test_any(requests)).has_value(); });
  }
  return completion;
}

std::vector<Completion> wait_some(std::span<Request> requests) {
  std::vector<Completion> completions;
  if (detail::Engine* engine = engine_of(requests)) {
    engine->run_until([&] { return !(completions = test_some(requests)).empty(); });
  }
  return completions;
}

}  // namespace wisp
