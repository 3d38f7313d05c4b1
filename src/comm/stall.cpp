#include "comm/stall.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#include "comm/describe.hpp"
#include "comm/world.hpp"
#include "transport/throw_error.hpp"

namespace wisp::detail {
namespace {

using std::chrono::milliseconds;
using Words = ServiceMessages::Words;

/// Who shares its core may not come to answer at once.
constexpr milliseconds least_silence(2000);
constexpr milliseconds default_patience(60000);

enum class Telling : std::int64_t {
  question,  ///< investigation
  answer,    ///< investigation, milliseconds idle, whether blocked, waits, what Failures tells
  report,    ///< investigation, subject, text
  receipt    ///< investigation: a report of it has been said
};

void append(Words& words, const std::string& text) {
  words.push_back(static_cast<std::int64_t>(text.size()));
  const std::size_t at = words.size();
  words.resize(at + (text.size() + sizeof(std::int64_t) - 1) / sizeof(std::int64_t));
  if (!text.empty()) std::memcpy(&words[at], text.data(), text.size());
}

class Reader {
 public:
  explicit Reader(const Words& words) : words_(words) {}
  std::int64_t number() { return words_.at(next_++); }
  bool at_end() const { return next_ == words_.size(); }
  std::string text() {
    std::string read(static_cast<std::size_t>(number()), '\0');
    if (!read.empty()) std::memcpy(read.data(), &words_.at(next_), read.size());
    next_ += (read.size() + sizeof(std::int64_t) - 1) / sizeof(std::int64_t);
    return read;
  }

 private:
  const Words& words_;
  std::size_t next_ = 0;
};

Words answer_of(std::int64_t investigation, const Doing& doing, const Failures::Told& told) {
  Words words{static_cast<std::int64_t>(Telling::answer), investigation, doing.idle.count(),
              doing.is_blocked ? 1 : 0, static_cast<std::int64_t>(doing.waits.size())};
  for (const Wait& wait : doing.waits) {
    words.push_back(wait.peer);
    words.push_back(wait.is_receive ? 1 : 0);
    append(words, wait.operation);
    append(words, wait.place);
  }
  words.push_back(static_cast<std::int64_t>(told.left.size()));
  for (const auto& one : told.left) words.insert(words.end(), {one.communicator, one.failed});
  words.push_back(static_cast<std::int64_t>(told.failed.size()));
  words.insert(words.end(), told.failed.begin(), told.failed.end());
  words.insert(words.end(), told.waits.begin(), told.waits.end());
  return words;
}

Doing doing_in(Reader& reader) {
  Doing doing;
  doing.idle = milliseconds(reader.number());
  doing.is_blocked = reader.number() != 0;
  const auto waits = static_cast<std::size_t>(reader.number());
  for (std::size_t i = 0; i < waits; ++i) {
    Wait wait;
    wait.peer = static_cast<int>(reader.number());
    wait.is_receive = reader.number() != 0;
    wait.operation = reader.text();
    wait.place = reader.text();
    doing.waits.push_back(std::move(wait));
  }
  return doing;
}

Failures::Told told_in(Reader& reader) {
  Failures::Told told;
  const auto left = static_cast<std::size_t>(reader.number());
  for (std::size_t i = 0; i < left; ++i) {
    const WireTag communicator = reader.number();
    told.left.push_back({communicator, static_cast<int>(reader.number())});
  }
  const auto failed = static_cast<std::size_t>(reader.number());
  for (std::size_t i = 0; i < failed; ++i) told.failed.insert(static_cast<int>(reader.number()));
  while (!reader.at_end()) told.waits.push_back(reader.number());
  return told;
}

/// 0: nothing is said.
milliseconds patience_of_environment() {
  const char* value = std::getenv("WISP_STALL_SECONDS");
  if (value == nullptr || *value == '\0') return default_patience;
  char* end = nullptr;
  const double seconds = std::strtod(value, &end);
  if (*end != '\0' || !(seconds >= 0 && seconds < 1e6)) {
    throw_error(MPI_ERR_ARG,
                "wisp: WISP_STALL_SECONDS = {} is no number of seconds from 0 (never) to 1,000,000", value);
  }
  return milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1000)));
}

}  // namespace

void check_patience_of_environment() {
  patience_of_environment();
}

Stall::Stall(World& world, WireTag tag)
    : world_(world),
      messages_(world, tag, "who waits for whom", true),
      patience_(patience_of_environment()),
      is_told_(patience_ > milliseconds(0)) {
  if (!is_told_) patience_ = default_patience;  // of failures
}

Doing Stall::doing(const Now& now) const {
  Doing doing{std::chrono::duration_cast<milliseconds>(now.idle), now.is_blocked,
              detail::waits_in(world_, now.waits_in)};
  if (doing.waits.empty()) doing.waits = detail::waits_in(world_, nullptr);
  return doing;
}

void Stall::attend_look(std::chrono::nanoseconds idle) {
  const Now now{idle, nullptr, false};
  answer(now);
  if (idle >= patience_) hear_of_failures(now);
}

void Stall::attend_wait(std::chrono::nanoseconds idle, const Context* waits_in) {
  const Now wait{idle, waits_in, true};
  answer(wait);
  const auto& failed = world_.failures().ranks();
  if (!failed.empty() && world_.failures().end_waits_for(failed, {})) return;
  if (idle >= patience_) hear_of_failures({idle, nullptr, true});
  // One thread's wait at a time, for those of others come and go; until that one is explained, or has not
  // been here for long.
  const auto now = Clock::now();
  const auto* const thread = this_thread();
  const bool is_theirs = investigator_ != nullptr && investigator_ != thread;
  if (is_theirs && !explained_.contains(investigator_) && now - seen_ < milliseconds(1000)) return;
  if (idle < patience_) explained_.erase(thread);
  if (explained_.contains(thread)) return;
  seen_ = now;
  if (is_theirs || idle < patience_) {
    forget();
    investigator_ = nullptr;
    not_before_ = {};
  }
  const bool is_ours = waits_in == nullptr || waits_in->world.get() == &world_;
  if (!is_told_ || !is_ours || idle < patience_ || idle < not_before_) return;
  const Doing mine = doing(wait);
  if (mine.waits.empty()) return;
  investigator_ = thread;
  investigate(mine);
}

void Stall::answer(const Now& now) {
  const auto time = Clock::now();
  const bool was_away = time - std::exchange(looked_at_, time) > silence();
  messages_.take_arrived();
  if (!messages_.has_incoming()) return;
  const Doing mine = doing(now);
  while (const auto received = messages_.next()) {
    // Whoever has reported something meanwhile does not count on this rank any more.
    const bool is_report = received->words.front() == static_cast<std::int64_t>(Telling::report);
    if (!is_report || !was_away) handle(*received, mine);
  }
}

/// Again and again: those that it waits for may not know yet when they are asked first.
void Stall::hear_of_failures(const Now& now) {
  const auto time = Clock::now();
  if (time < next_hearing_) return;
  next_hearing_ = time + patience_ / 2;
  std::set<int> failed = world_.failures().ranks();
  for (const int rank : world_.transport().failed()) failed.insert(rank);
  if (!failed.empty() && world_.failures().end_waits_for(failed, failed)) return;
  // Who is in no call of wisp has the question of before.
  std::set<int> peers;
  for (const Wait& wait : doing(now).waits) peers.insert(wait.peer);
  for (const int peer : peers) {
    if (peer >= 0 && peer != world_.rank() && unanswered_.insert(peer).second) ask(peer);
  }
}

void Stall::close() noexcept {
  try {
    if (!world_.closed()) messages_.take_arrived();
  } catch (const std::exception&) {
    std::fputs("wisp: a question of another rank could not be received\n", stderr);
  }
  messages_.close();
}

/// What is known is of another time.
void Stall::forget() {
  ++investigation_;
  known_.clear();
  silent_.clear();
  asked_.clear();
  reported_to_.clear();
}

void Stall::handle(const ServiceMessages::Received& received, const Doing& mine) {
  Reader reader(received.words);
  const auto telling = static_cast<Telling>(reader.number());
  const std::int64_t investigation = reader.number();
  switch (telling) {
    case Telling::question:
      messages_.tell(received.source,
                     answer_of(investigation, mine, world_.failures().told_to(received.source)));
      return;
    case Telling::answer: {
      unanswered_.erase(received.source);
      const Doing doing = doing_in(reader);
      hear_answer(received.source, doing, told_in(reader), investigation == investigation_);
      return;
    }
    case Telling::report: {
      const std::int64_t subject = reader.number();
      print_once(subject, reader.text());
      messages_.tell(received.source, {static_cast<std::int64_t>(Telling::receipt), investigation});
      return;
    }
    case Telling::receipt:
      if (investigation == investigation_) explained_.insert(investigator_);
  }
}

void Stall::hear_answer(int source, const Doing& doing, const Failures::Told& told, bool is_current) {
  // One that waits for good somewhere else will not come; but one that is busy, or in the same call, will.
  const auto is_elsewhere = [&](const Message& message) {
    const Wait mine = wait_of(message, world_);
    return is_current && doing.is_blocked && doing.idle >= patience_ / 2 &&
           std::ranges::none_of(doing.waits, [&](const Wait& wait) {
             return wait.operation == mine.operation && wait.place == mine.place;
           });
  };
  const auto failed = [&](const Message& message) {
    if (message.peer != source) return -1;
    const int because_of = Failures::left_because_of(message, told);
    if (because_of >= 0 || !is_elsewhere(message)) return because_of;
    return world_.failures().elsewhere_because_of(message, told);
  };
  const auto ending = world_.failures().find_waits(failed);
  Failures::end(ending);
  if (ending.empty() && is_current) known_[source] = doing;
}

milliseconds Stall::silence() const {
  return std::max(least_silence, patience_ / 10);
}

void Stall::ask(int rank) {
  messages_.tell(rank, {static_cast<std::int64_t>(Telling::question), investigation_});
}

bool Stall::has_asked(int rank) {
  if (known_.contains(rank) || silent_.contains(rank)) return true;
  const auto [asked, is_new] = asked_.try_emplace(rank, Clock::now());
  if (is_new) {
    ask(rank);
  } else if (Clock::now() - asked->second > silence()) {
    silent_.insert(rank);
    return true;
  }
  return false;
}

void Stall::investigate(const Doing& mine) {
  const auto found = explain(world_.rank(), mine, known_, silent_, patience_ / 2);
  if (const auto* unknown = std::get_if<std::vector<int>>(&found)) {
    for (const int rank : *unknown) has_asked(rank);
    return;
  }
  auto why = std::get<Explanation>(found);
  using End = Explanation::End;
  if (why.end == End::moving) {  // no stall: later once more
    forget();
    not_before_ = mine.idle + patience_ / 2;
    return;
  }
  std::vector<int> to = to_report_to(world_.rank());
  if (why.end == End::cycle) {
    if (why.last != world_.rank()) {  // those of it say so
      explained_.insert(investigator_);
      return;
    }
    why.begin_with_lowest();
    to.clear();
    if (why.last != world_.rank()) to = {why.last};
  }
  report(subject_of(why), text_of(why, mine.idle), to);
}

/// To be said by the first of these that takes it up, or by this one.
void Stall::report(std::int64_t subject, const std::string& text, std::span<const int> to) {
  for (const int rank : to) has_asked(rank);  // all at once: who is silent takes a while to be so
  for (const int rank : to) {
    if (!has_asked(rank)) return;
    if (!known_.contains(rank)) continue;
    const auto [told, is_new] = reported_to_.try_emplace(rank, Clock::now());
    if (is_new) {
      Words words{static_cast<std::int64_t>(Telling::report), investigation_, subject};
      append(words, text);
      messages_.tell(rank, std::move(words));
    }
    if (Clock::now() - told->second <= silence()) return;
  }
  print_once(subject, text);
  explained_.insert(investigator_);
}

void Stall::print_once(std::int64_t subject, const std::string& text) {
  const auto now = Clock::now();
  const auto [latest, is_new] = printed_.try_emplace(subject, now);
  if (!is_new && now - latest->second < patience_) return;
  latest->second = now;
  std::fputs(text.c_str(), stderr);
}

}  // namespace wisp::detail
