#include "comm/stall.hpp"

#include <algorithm>
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
/// Ranks that are busy now may wait for us later: whom to tell is not looked for among all.
constexpr int most_asked_for_report = 4;

enum class Telling : std::int64_t {
  question,  ///< investigation
  answer,    ///< investigation, milliseconds idle, waits, what Failures tells
  report     ///< subject, text
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
              static_cast<std::int64_t>(doing.waits.size())};
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

milliseconds patience_of_environment() {
  constexpr double default_seconds = 60;
  const char* value = std::getenv("WISP_STALL_SECONDS");
  if (value == nullptr || *value == '\0') return milliseconds(static_cast<int>(default_seconds * 1000));
  char* end = nullptr;
  const double seconds = std::strtod(value, &end);
  if (*end != '\0' || !(seconds >= 0 && seconds < 1e6)) {
    throw_error(MPI_ERR_ARG,
                "wisp: WISP_STALL_SECONDS = {} is no number of seconds from 0 (never) to 1,000,000", value);
  }
  return milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

}  // namespace

Stall::Stall(World& world, WireTag tag)
    : world_(world),
      messages_(world, tag, "who waits for whom", true),
      patience_(patience_of_environment()) {}

Doing Stall::doing(std::chrono::nanoseconds idle, const Context* waits_in) const {
  Doing doing{std::chrono::duration_cast<milliseconds>(idle), detail::waits_in(world_, waits_in)};
  if (doing.waits.empty()) doing.waits = detail::waits_in(world_, nullptr);
  return doing;
}

void Stall::answer(std::chrono::nanoseconds idle, const Context* waits_in) {
  messages_.take_arrived();
  if (!messages_.has_incoming()) return;
  const Doing mine = doing(idle, waits_in);
  while (const auto received = messages_.next()) handle(*received, mine);
}

void Stall::attend_wait(std::chrono::nanoseconds idle, const Context* waits_in) {
  answer(idle, waits_in);
  if (patience_ == milliseconds(0)) return;
  // One thread's wait at a time, for those of others come and go; until that one has not been here for long.
  const auto now = Clock::now();
  const bool is_theirs = investigator_ != nullptr && investigator_ != this_thread();
  if (is_theirs && now - seen_ < milliseconds(1000)) return;
  seen_ = now;
  if (is_theirs || idle < patience_) {
    forget();
    investigator_ = nullptr;
    is_explained_ = false;
    not_before_ = {};
  }
  const bool is_ours = waits_in == nullptr || waits_in->world.get() == &world_;
  if (idle < patience_ || idle < not_before_ || !is_ours) return;
  if (end_waits_for_failed(waits_in)) return;
  const Doing mine = doing(idle, waits_in);
  if (mine.waits.empty()) return;
  if (is_explained_) {  // since then those that it waits for may have heard of a failure
    not_before_ = mine.idle + patience_ / 2;
    std::set<int> peers;
    for (const Wait& wait : mine.waits) peers.insert(wait.peer);
    for (const int peer : peers) {
      if (peer != Wait::anyone && peer != world_.rank()) ask(peer);
    }
    return;
  }
  investigator_ = this_thread();
  investigate(mine);
}

/// MPI itself ends what it waits for; the others are those that look for messages, also from any source.
bool Stall::end_waits_for_failed(const Context* waits_in) {
  Failures& failures = world_.failures();
  std::set<int> failed = failures.ranks();
  for (const int rank : world_.transport().failed()) failed.insert(rank);
  if (failed.empty()) return false;
  const auto ending = failures.find_waits([&](const Message& message) {
    if (failed.contains(message.peer)) return message.peer;
    if (const int because_of = failures.left_here_because_of(message); because_of >= 0) return because_of;
    return message.peer < 0 && message.context == waits_in ? *failed.begin() : -1;
  });
  Failures::end(ending);
  return !ending.empty();
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
  if (asked_.empty()) return;
  ++investigation_;
  known_.clear();
  silent_.clear();
  asked_.clear();
}

void Stall::handle(const ServiceMessages::Received& received, const Doing& mine) {
  Reader reader(received.words);
  switch (static_cast<Telling>(reader.number())) {
    case Telling::question:
      messages_.tell(received.source,
                     answer_of(reader.number(), mine, world_.failures().told_to(received.source)));
      return;
    case Telling::answer: {
      const bool is_current = reader.number() == investigation_;
      Doing doing = doing_in(reader);
      const Failures::Told told = told_in(reader);
      const auto failed = [&](const Message& message) {
        if (message.peer != received.source) return -1;
        const int of_communicator = Failures::left_because_of(message, told);
        return of_communicator >= 0 ? of_communicator : world_.failures().elsewhere_because_of(message, told);
      };
      const auto ending = world_.failures().find_waits(failed);
      Failures::end(ending);
      if (ending.empty() && is_current) known_[received.source] = std::move(doing);
      return;
    }
    case Telling::report: {
      const std::int64_t subject = reader.number();
      print_once(subject, reader.text());
      return;
    }
  }
}

void Stall::ask(int rank) {
  messages_.tell(rank, {static_cast<std::int64_t>(Telling::question), investigation_});
}

bool Stall::has_asked(int rank) {
  if (known_.contains(rank) || silent_.contains(rank)) return true;
  const auto [asked, is_new] = asked_.try_emplace(rank, Clock::now());
  if (is_new) {
    ask(rank);
  } else if (Clock::now() - asked->second > std::max(least_silence, patience_ / 10)) {
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
  const auto& why = std::get<Explanation>(found);
  using End = Explanation::End;
  if (why.end == End::moving) {  // no stall: later once more
    forget();
    not_before_ = mine.idle + patience_ / 2;
    return;
  }
  const std::string text = text_of(why, mine.idle);
  if (why.end == End::cycle) {
    // Its lowest rank says so, and who only waits for one of it is silent.
    const auto lowest = std::ranges::min_element(why.path, {}, [](const auto& step) { return step.rank; });
    if (why.last == world_.rank() && lowest->rank == world_.rank()) std::fputs(text.c_str(), stderr);
    is_explained_ = true;
    return;
  }
  report(subject_of(why), text);
}

void Stall::report(std::int64_t subject, const std::string& text) {
  for (int rank = 0; rank < std::min(world_.rank(), most_asked_for_report); ++rank) {
    if (!has_asked(rank)) return;
    if (!known_.contains(rank)) continue;
    Words words{static_cast<std::int64_t>(Telling::report), subject};
    append(words, text);
    messages_.tell(rank, std::move(words));
    is_explained_ = true;
    return;
  }
  print_once(subject, text);
  is_explained_ = true;
}

void Stall::print_once(std::int64_t subject, const std::string& text) {
  const auto now = Clock::now();
  const auto [latest, is_new] = printed_.try_emplace(subject, now);
  if (!is_new && now - latest->second < patience_) return;
  latest->second = now;
  std::fputs(text.c_str(), stderr);
}

}  // namespace wisp::detail
