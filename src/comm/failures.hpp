#pragma once

#include <functional>
#include <set>
#include <vector>

#include "comm/context.hpp"
#include "wisp/posted.hpp"

// Processes that have failed, and operations that ended for that. MPI (or the simulated cluster) ends a wait
// for a process that is gone. But whoever it ends has left its operation, and who waits for *that* one would
// wait for ever:
//
//   rank 2 ── waits for ──► rank 1 ── waits for ──► rank 0, gone
//   rank 2 ◄── "rank 0 is gone, and I have left" ── rank 1       asked when rank 2's wait has become a stall
//
// A communicator of which one operation has ended so has no collectives any more: who waits in it for a
// process that says so ends too, and says so to others. And who waits elsewhere, and has not heard of the
// failure, hears of it so: a process that has had an error does not come to what would have followed.

namespace wisp::detail {

class Failures {
 public:
  explicit Failures(World& world) : world_(world) {}

  /// Of the World, those whose failure this process has had an error of, or has asked for.
  const std::set<int>& ranks() const { return ranks_; }
  void add_rank(int rank) { ranks_.insert(rank); }
  /// The user has asked for them: messages from any source may come from the others now.
  void acknowledge() { acknowledged_ = ranks_; }
  /// The wait for this message has ended because a rank is gone.
  void note(const Message& message, int failed);

  /// What one process tells another. Communicators are told apart as their messages to the other one are.
  struct Told {
    struct Left {
      WireTag communicator;
      int failed;
    };
    std::vector<Left> left;      ///< of whose operations it has left one, and because of whom
    std::vector<WireTag> waits;  ///< in which it waits now
    std::set<int> failed;        ///< that it knows of
  };
  Told told_to(int peer);
  /// Because of whom this process has left a message's communicator; or -1.
  int left_here_because_of(const Message& message) const;
  /// Because of whom the peer of a message has left its communicator; or -1.
  static int left_because_of(const Message& message, const Told& told);
  /// Because of whom it is elsewhere, if that is news here; or -1.
  int elsewhere_because_of(const Message& message, const Told& told) const;

  /// Ends what waits for one of those that have failed, or in a communicator that this process has left for
  /// that; and what waits for any source, if one of `sources` may have been it and the user has not heard of
  /// it.
  bool end_waits_for(const std::set<int>& failed, const std::set<int>& sources);
  /// Which of them may have been the source of a message from any source; or -1.
  int source_gone(const Message& message, const std::set<int>& failed) const;

  /// The waits of this World for which `failed` gives a rank; and their end.
  struct Ending {
    Message* message;
    int failed;
  };
  std::vector<Ending> find_waits(const std::function<int(const Message&)>& failed) const;
  static void end(const std::vector<Ending>& waits);

  /// They hold the World.
  void close() noexcept { left_.clear(); }

 private:
  struct LeftHere {
    ContextPtr context;
    int tag;
    int failed;
  };

  World& world_;
  std::set<int> ranks_;
  std::set<int> acknowledged_;
  std::vector<LeftHere> left_;
};

}  // namespace wisp::detail
