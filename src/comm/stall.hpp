#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>

#include "async/engine.hpp"
#include "comm/service_messages.hpp"
#include "comm/waits.hpp"

// A wait in which nothing has moved for long explains itself: the rank asks those that it waits for what they
// do, and those that they wait for, until it knows why.
//
//   rank 1 --- what do you do? ---> rank 0
//          <-- I wait for rank 1 --           a cycle: its lowest rank is told, and says it once
//   rank 1 --- what do you do? ---> rank 2
//          ... no answer                      it is in no call of wisp: the lowest rank that answers is told,
//                                             and says it once for all that wait for rank 2
//
// Who waits looks for questions after a millisecond in which nothing moved, so all of this costs nothing
// while messages come. A stall of p ranks costs O(p) questions of each in the worst case. A rank that fails
// is heard of in the same way (Failures).

namespace wisp::detail {

/// Throws where WISP_STALL_SECONDS is no number of seconds.
void check_patience_of_environment();

class Stall final : public Attendant {
 public:
  Stall(World& world, WireTag tag);

  ServiceMessages& messages() { return messages_; }
  void attend_wait(std::chrono::nanoseconds idle, const Context* waits_in) override;
  void attend_look(std::chrono::nanoseconds idle) override;
  void attend_end() noexcept override { close(); }
  /// While the transport is there. Takes what nobody has looked at: MPICH 5 ends a program that frees a
  /// communicator with such messages.
  void close() noexcept;

 private:
  using Words = ServiceMessages::Words;
  using Clock = std::chrono::steady_clock;

  /// Nothing has moved for so long, in a wait of this context (if it is known) or while somebody looks.
  struct Now {
    std::chrono::nanoseconds idle;
    const Context* waits_in;
    bool is_blocked;
  };

  Doing doing(const Now& now) const;
  void answer(const Now& now);
  void handle(const ServiceMessages::Received& received, const Doing& mine);
  void hear_answer(int source, const Doing& doing, const Failures::Told& told, bool is_current);
  void hear_of_failures(const Now& now);
  void forget();
  /// After which a rank does not answer, and a report that it was told will not be said.
  std::chrono::milliseconds silence() const;
  void ask(int rank);
  /// True once the rank has answered, or has not for so long that it will not.
  bool has_asked(int rank);
  void investigate(const Doing& mine);
  void report(std::int64_t subject, const std::string& text, std::span<const int> to);
  void print_once(std::int64_t subject, const std::string& text);

  World& world_;
  ServiceMessages messages_;
  std::chrono::milliseconds patience_;       ///< after which a wait is a stall …
  bool is_told_;                             ///< … and said to be one
  std::int64_t investigation_ = 0;           ///< counts them: answers to earlier ones are not looked at
  const void* investigator_ = nullptr;       ///< the thread whose wait it is
  Clock::time_point seen_;                   ///< in that wait
  std::set<const void*> explained_;          ///< the threads whose waits have been
  std::chrono::milliseconds not_before_{0};  ///< of the same wait, after one that was none
  Clock::time_point looked_at_;              ///< the messages
  Clock::time_point next_hearing_;           ///< of failures
  std::set<int> unanswered_;                 ///< whom it has asked for those
  std::map<int, Doing> known_;
  std::set<int> silent_;
  std::map<int, Clock::time_point> asked_;
  std::map<int, Clock::time_point> reported_to_;
  std::map<std::int64_t, Clock::time_point> printed_;
};

}  // namespace wisp::detail
