#include "transport/mpi_engine.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <ranges>
#include <utility>

#include "trace/recorder.hpp"
#include "transport/device_memory.hpp"
#include "transport/int_count.hpp"
#include "transport/mpi_library.hpp"
#include "transport/mpi_process.hpp"
#include "transport/process_failure.hpp"
#include "transport/throw_error.hpp"
#include "transport/type_layout.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {

namespace {

Envelope envelope_of_received(const MPI_Status& status) {
  Envelope envelope = envelope_of(status);
  if (status.MPI_ERROR != MPI_SUCCESS && !mpi_library().tells_truncated_length) envelope.bytes = 0;
  return envelope;
}

}  // namespace

Envelope envelope_of(const MPI_Status& status) {
  int bytes = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  MPI_Count many_bytes = bytes;
  if (bytes == MPI_UNDEFINED) {
    MPI_Status copy = status;  // SMPI declares it as something that is written
    check_mpi(MPI_Get_elements_x(&copy, MPI_BYTE, &many_bytes), "MPI_Get_elements_x");
  }
  return {status.MPI_SOURCE, status.MPI_TAG, as_size(many_bytes)};
}

std::shared_ptr<MpiEngine> MpiEngine::of_process(MPI_Comm any) {
  return detail::of_process<MpiEngine>([any] { return std::make_shared<MpiEngine>(any); });
}

namespace {

/// Throws if this is not the thread that may call.
Threads threads_of_mpi() {
  // Of sessions each has a level of its own, and it cannot be asked for that of a communicator.
  if (!has_mpi_world()) return Threads::any;
  int level = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  if (level == MPI_THREAD_MULTIPLE) return Threads::any;
  if (level == MPI_THREAD_SERIALIZED) return Threads::in_turn;
#ifdef SMPI_H
  return Threads::unchecked;  // there, ranks are threads
#else
  int is_main = 1;
  check_mpi(MPI_Is_thread_main(&is_main), "MPI_Is_thread_main");
  if (is_main == 0) {
    throw_error(MPI_ERR_OTHER,
                "wisp: this is not the thread that initialized MPI, the only one that may call it: "
                "ask MPI_Init_thread for MPI_THREAD_MULTIPLE (or MPI_THREAD_SERIALIZED)");
  }
  return Threads::main;
#endif
}

}  // namespace

void MpiEngine::refuse(const char* call) const {
  if (threads() == Threads::main) {
    throw_error(MPI_ERR_OTHER,
                "{}: called by another thread than the one that initialized MPI, the only one that may: ask "
                "MPI_Init_thread for MPI_THREAD_MULTIPLE (or MPI_THREAD_SERIALIZED)",
                call);
  }
  throw_error(
      MPI_ERR_OTHER,
      "{}: another thread is in a call of wisp, and MPI was initialized with MPI_THREAD_SERIALIZED: call one "
      "at a time, or ask MPI_Init_thread for MPI_THREAD_MULTIPLE",
      call);
}

MpiEngine::MpiEngine(MPI_Comm any) : Engine(threads_of_mpi()), recorder_(recorder_of_environment(any)) {
  if (recorder_) add_attendant(*recorder_);
  check_mpi(MPI_Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, any, &ended_), "MPI_Isend");
}

MpiEngine::~MpiEngine() {
  if (!is_closed_) MPI_Wait(&ended_, MPI_STATUS_IGNORE);
}

bool MpiEngine::take_ended(MPI_Request& request) {
  if (request != ended_) return false;
  if (mpi_library().has_constant_ended_request) {
    request = MPI_REQUEST_NULL;
  } else {
    check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  }
  return true;
}

void MpiEngine::close() noexcept {
  const EngineLock lock(*this);
  MPI_Wait(&ended_, MPI_STATUS_IGNORE);
  // Who is slow to receive, MPI waits for; a message that nobody receives is not waited for. Nobody is
  // resumed: what runs on may be Python's, whose lock nobody has here.
  constexpr std::chrono::seconds patience{1};
  IdleLoop idle;
  int polls_before_yield = IdleLoop::fewest_polls;
  for (Clock::time_point end = Clock::now() + patience; !buffered_.empty() && Clock::now() <= end;) {
    const std::size_t left = buffered_.size();
    drain_buffered();
    if (buffered_.size() < left) {
      end = Clock::now() + patience;
    } else {
      idle.pause(polls_before_yield);
    }
  }
  for (MPI_Request& request : buffered_requests_) MPI_Request_free(&request);  // whose copies stay
  attend_end();
  while (!closables_.empty()) {
    Closable* last = closables_.back();
    closables_.pop_back();
    last->close();
  }
  is_closed_ = true;
}

[[gnu::hot]] void MpiEngine::add(MPI_Request request, Message& message) {
  requests_.push_back(request);
  messages_.push_back(&message);
  if (indices_.size() < requests_.size()) {
    indices_.resize(2 * requests_.size());
    statuses_.resize(2 * requests_.size());
  }
}

[[gnu::hot]] void MpiEngine::complete(Message& message) {
  const std::coroutine_handle<> waiter = message.complete();
  if (!waiter) return;
  message.is_queued = true;
  ready_.push_back({waiter, &message});
}

[[gnu::hot]] bool MpiEngine::poll() {
  if (is_closed_) [[unlikely]] {
    throw Error(MPI_ERR_OTHER, "wisp: MPI has been finalized, and what was in flight cannot end");
  }
  bool moved = false;
  has_copied_long_ = false;
  if (!requests_.empty()) {
    const std::size_t known_before = known_ended_;
    const int completed = test_requests();
    moved = completed > 0 ? collect(completed) : known_ended_ > known_before;
  }
  // By index: a watcher that has found what it waits for takes itself off the list.
  for (std::size_t i = 0; i < watchers_.size(); ++i) moved = watchers_[i]->look() || moved;
  return resume_ready() || moved;
}

[[gnu::hot]] bool MpiEngine::step() {
#ifdef SMPI_H
  // A simulated MPI charges time for each look, and wakes whoever sleeps in it at the very moment.
  if (watchers_.empty() && next_ready_ == ready_.size() && !requests_.empty()) {
    int ended = 0;
    const int code =
        MPI_Waitany(static_cast<int>(requests_.size()), requests_.data(), &ended, statuses_.data());
    statuses_[0].MPI_ERROR = code;
    indices_[0] = ended;
    collect(1);
    resume_ready();
    return true;
  }
#endif
  return poll();
}

[[gnu::hot]] bool MpiEngine::send_buffered(const ConstBuffer& buffer, const Copied& copied, int destination,
                                           int tag, MPI_Comm comm) {
  constexpr std::size_t largest_plain = 16;
  if (copied.largest == 0 || buffer.count > copied.largest || buffer.count * largest_plain < copied.least)
    return false;
  const std::size_t size = plain_size_of(buffer.type);
  const std::size_t bytes = buffer.count * size;
  const bool is_needed = copied.least == 0;  // of a send to oneself, which may have to end before its receive
  if (size == 0 || bytes > copied.largest || bytes < copied.least) return false;
  if (is_of_device(buffer.address) || !has_room_for_kept(0, is_needed)) return false;
  // Where cores are shared, a copy saves its sender a turn; of many in a row each only takes its time.
  if (bytes > copied.largest_in_a_row && std::exchange(has_copied_long_, true)) return false;

  ScratchVector copy(bytes);
  if (bytes > 0) std::memcpy(copy.data(), buffer.address, bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  const int code =
      MPI_Isend(copy.data(), static_cast<int>(buffer.count), buffer.type, destination, tag, comm, &request);
  if (is_process_failure(code)) [[unlikely]]  // it has left, for all that its sender knows
    return true;
  check_mpi(code, "MPI_Isend");
  if (take_ended(request)) return true;
  buffered_requests_.push_back(request);
  buffered_.push_back({copy.give(), bytes});
  return true;
}

void MpiEngine::send_kept(ScratchVector& packed, std::size_t bytes, int destination, int tag, MPI_Comm comm) {
  const IntCount counted(ConstBuffer(packed.data(), bytes, MPI_PACKED));
  MPI_Request request = MPI_REQUEST_NULL;
  const int code =
      MPI_Isend(packed.data(), counted.count(), counted.type(), destination, tag, comm, &request);
  if (is_process_failure(code)) [[unlikely]]
    return;
  check_mpi(code, "MPI_Isend");
  if (take_ended(request)) return;
  buffered_requests_.push_back(request);
  const std::size_t size = packed.bytes();
  buffered_.push_back({packed.give(), size});
}

bool MpiEngine::has_room_for_kept(std::size_t bytes, bool is_needed) {
  constexpr std::size_t most = 4096;
  constexpr std::size_t enough_to_look = 64;
#ifdef SMPI_H  // which waits for them
  constexpr std::size_t much = ~std::size_t{0};
#else
  constexpr std::size_t much = std::size_t{64} * 1024;
#endif
  const bool is_much = bytes > much && !buffered_.empty();
  const bool is_full = buffered_.size() >= most && (is_needed || full_looks_++ % enough_to_look == 0);
  if (is_much || is_full || buffered_.size() % enough_to_look == enough_to_look - 1) drain_buffered();
  if (buffered_.size() >= most) return false;
  full_looks_ = 0;
  return true;
}

#ifdef SMPI_H

// A look costs simulated time for each request. So short messages are detached from their senders there: a
// wait for them ends at once and costs nothing.
void MpiEngine::drain_buffered() {
  check_mpi(MPI_Waitall(static_cast<int>(buffered_requests_.size()), buffered_requests_.data(),
                        MPI_STATUSES_IGNORE),
            "MPI_Waitall");
  for (const BufferedSend& sent : buffered_) FramePool::release(sent.copy, sent.bytes);
  buffered_.clear();
  buffered_requests_.clear();
}

#else

void MpiEngine::drain_buffered() {
  // One call for all: where MPI yields in a test that finds nothing, it does so once.
  std::vector<int> done(buffered_.size());
  int count = 0;
  const int code = MPI_Testsome(static_cast<int>(buffered_.size()), buffered_requests_.data(), &count,
                                done.data(), MPI_STATUSES_IGNORE);
  // Whose receivers are gone have ended with an error, of which nobody wants to know.
  if (code != MPI_ERR_IN_STATUS) check_mpi(code, "MPI_Testsome");
  if (count == MPI_UNDEFINED || count == 0) return;
  for (int i = 0; i < count; ++i) {
    BufferedSend& sent = buffered_[as_size(done[as_size(i)])];
    FramePool::release(std::exchange(sent.copy, nullptr), sent.bytes);
  }
  std::erase_if(buffered_, [](const BufferedSend& sent) { return sent.copy == nullptr; });
  std::erase(buffered_requests_, MPI_REQUEST_NULL);
}

#endif

bool MpiEngine::are_awaited_together() const {
  const int* remaining = messages_.front()->remaining;
  return remaining != nullptr && remaining == messages_.back()->remaining &&
         as_size(*remaining) == messages_.size();
}

template <class Look>
bool MpiEngine::has_ended(Look look) const {
  const int looks = watchers_.empty() ? mpi_library().looks_in_turn : 1;
  for (int i = 0; i < looks; ++i) {
    if (look()) return true;
  }
  return false;
}

int MpiEngine::test_only() {
  const bool is_done = has_ended([this] {
    int done = 0;
    statuses_[0].MPI_ERROR = MPI_SUCCESS;
    const int code = MPI_Test(requests_.data(), &done, statuses_.data());
    if (done != 0) statuses_[0].MPI_ERROR = code;
    return done != 0;
  });
  indices_[0] = 0;
  return is_done ? 1 : 0;
}

[[gnu::hot]] int MpiEngine::test_in_turn() {
  // Whether one has ended is asked before it is taken: where ranks share cores, a test of each takes half as
  // long again as the messages.
  const auto next_has_ended = [this] {
    int is_done = 0;
    // What it ended with is asked of all of them in the end.
    MPI_Request_get_status(requests_[known_ended_], &is_done, MPI_STATUS_IGNORE);
    return is_done != 0;
  };
  while (known_ended_ < requests_.size()) {
    if (!has_ended(next_has_ended)) return 0;
    ++known_ended_;
  }
  return take_all();
}

[[gnu::hot]] int MpiEngine::take_all() {
  const int count = static_cast<int>(requests_.size());
  const int code = MPI_Waitall(count, requests_.data(), statuses_.data());
  if (code != MPI_ERR_IN_STATUS) check_mpi(code, "MPI_Waitall");
  int taken = 0;
  for (int i = 0; i < count; ++i) {
    MPI_Status& status = statuses_[as_size(i)];
    if (code == MPI_SUCCESS) status.MPI_ERROR = MPI_SUCCESS;
    if (status.MPI_ERROR == MPI_ERR_PENDING)
      continue;  // where another one failed, MPICH leaves those behind it
    if (taken != i) statuses_[as_size(taken)] = status;
    indices_[as_size(taken++)] = i;
  }
  return taken;
}

int MpiEngine::test_some() {
  int completed = 0;
  const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &completed,
                                indices_.data(), statuses_.data());
  if (code == MPI_ERR_IN_STATUS) return completed;
  check_mpi(code, "MPI_Testsome");
  for (int i = 0; i < completed; ++i) statuses_[as_size(i)].MPI_ERROR = MPI_SUCCESS;
  return completed;
}

[[gnu::hot]] int MpiEngine::test_requests() {
  // Open MPI looks once more at one request after it has made progress, and not in MPI_Testsome: where ranks
  // share cores, that saves a turn. Whoever waits for all messages is served by one look after the other; now
  // and then by one at all, lest somebody else is kept waiting.
  constexpr unsigned looks_at_all = 256;
  if (requests_.size() == 1) return test_only();
  return are_awaited_together() && ++looks_ % looks_at_all != 0 ? test_in_turn() : test_some();
}

[[gnu::hot]] bool MpiEngine::collect(int completed) {
  bool moved = false;
  known_ended_ = 0;
  std::size_t kept = messages_.size();
  for (int i = 0; i < completed; ++i) {
    const auto slot = as_size(indices_[as_size(i)]);
    const MPI_Status& status = statuses_[as_size(i)];
    Message& message = *std::exchange(messages_[slot], nullptr);
    message.error = status.MPI_ERROR;
    if (requests_[slot] != MPI_REQUEST_NULL) [[unlikely]]  // from any source, and one of them is gone
      give_up(std::exchange(requests_[slot], MPI_REQUEST_NULL), message.is_receive);
    moved = moved || !message.is_background;
    if (message.wants_envelope) message.set_envelope(envelope_of_received(status));
    complete(message);
    kept = std::min(kept, slot);
  }
  const std::size_t left = messages_.size() - as_size(completed);
  for (std::size_t i = kept + 1; kept < left; ++i) {
    if (messages_[i] == nullptr) continue;
    messages_[kept] = messages_[i];
    requests_[kept] = requests_[i];
    ++kept;
  }
  messages_.resize(kept);
  requests_.resize(kept);
  return moved;
}

bool MpiEngine::resume_ready() {
  if (next_ready_ == ready_.size()) return false;
  const int before = std::exchange(exceptions_around, std::uncaught_exceptions());
  while (next_ready_ < ready_.size()) {
    // A coroutine that is resumed may poll again and empty the list, or add to it.
    const Ready next = ready_[next_ready_++];
    if (!ending_.empty() && std::ranges::find(ending_, next.message->world) != ending_.end()) [[unlikely]] {
      held_.push_back(next);
      continue;
    }
    next.message->is_queued = false;
    next.waiter.resume();
  }
  ready_.clear();
  next_ready_ = 0;
  exceptions_around = before;
  return true;
}

void MpiEngine::give_up(MPI_Request request, bool is_receive, Clock::time_point patience_ends) noexcept {
  if (request == MPI_REQUEST_NULL) return;  // an error handler has thrown where it ended
  if (!is_receive) {
    MPI_Request_free(&request);
    return;
  }
  // It ends here: cancelled, or with the message that it had matched, which goes to its buffer; a long one
  // needs its sender.
  int polls_before_yield = IdleLoop::fewest_polls;
  IdleLoop idle;
  bool is_cancelled = patience_ends == Clock::time_point();
  if (is_cancelled) MPI_Cancel(&request);
  for (int is_done = 0;; idle.pause(polls_before_yield)) {
    if (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS || is_done != 0) break;
    if (is_cancelled || Clock::now() < patience_ends) continue;
    MPI_Cancel(&request);
    is_cancelled = true;
  }
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

void MpiEngine::forget(Message& message) noexcept {
  // Those that have gone on are not looked at: their messages are no more.
  const auto still =
      std::ranges::subrange(ready_.begin() + static_cast<std::ptrdiff_t>(next_ready_), ready_.end());
  const auto gone = std::ranges::remove(still, &message, &Ready::message);
  ready_.erase(gone.begin(), gone.end());
  std::erase_if(held_, [&](const Ready& ready) { return ready.message == &message; });
}

void MpiEngine::finish(Message& message, bool is_world_gone) noexcept {
  if (is_closed_ || std::ranges::find(messages_, &message) == messages_.end()) return;
  message.waiter = nullptr;
  message.remaining = nullptr;
  // What else is about to be dropped is not resumed; several threads may be in here at a time.
  const World* const dropped = message.world;
  if (is_world_gone) ending_.push_back(dropped);
  try {
    run_until([&] { return message.done; });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "wisp: a message that is still being sent is given up: %s\n", error.what());
  }
  if (!is_world_gone) return;
  ending_.erase(std::ranges::find(ending_, dropped));
  ready_.insert(ready_.end(), held_.begin(), held_.end());
  held_.clear();
}

void MpiEngine::abandon(Message& message, Clock::time_point patience_ends) noexcept {
  const auto found = std::find(messages_.begin(), messages_.end(), &message);
  if (found == messages_.end()) return;
  const auto slot = as_size(found - messages_.begin());
  known_ended_ = 0;
  if (!is_closed_) give_up(requests_[slot], message.is_receive, patience_ends);
  messages_.erase(found);
  requests_.erase(requests_.begin() + static_cast<std::ptrdiff_t>(slot));
}

}  // namespace wisp::detail
