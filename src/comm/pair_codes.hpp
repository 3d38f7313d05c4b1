#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "comm/code_blocks.hpp"
#include "comm/service_messages.hpp"
#include "transport/transport.hpp"

namespace wisp::detail {

class World;

/// The codes of communicators that this process shares with each other one. The first ones
/// (half of the codes) need no message. After those, the lower rank of a pair gives a block of later ones the
/// codes that neither of the two holds any more, once it has heard from the upper which these are.
///
///   upper                                       lower
///     | <--- wanted: number n ------------------- |    if the lower comes to n first
///     | ---- state: n, made, held codes --------> |
///     | <--- block: n … and their codes --------- |    or: all are in use; or: later, when both have made n
///
/// Held is what is alive, used or not, and what the process has yet to make. Whoever needs a code waits for
/// it in the Mailbox; the other answers from the engine's poll, while something of its own waits there: both
/// take part in what needs the code, so it comes to that.
/// One exchange of about 2 (α + codes/8 β) for a block; blocks have thousands of numbers.
class PairCodes {
 public:
  using Number = CodeBlocks::Number;

  PairCodes(World& world, int code_count, WireTag tag)
      : world_(world), code_count_(code_count), messages_(world, tag, "codes of communicators") {}

  /// One more communicator of this process, or so many, are numbered.
  void count(std::int64_t times = 1) { created_ += times; }

  /// There is an extension, which others may need a code for.
  void expect_requests() { is_used_ = true; }

  /// The code of a number that this process shares with `peer`, as it is in tags; or -1: not known yet.
  int code_of(int peer, Number number) const;
  /// Finds out, unless that is under way; it may be known at once.
  void need(int peer, Number number);
  /// Takes and answers what has arrived.
  void look();
  /// Where its messages go that somebody else has come upon.
  ServiceMessages& messages() { return messages_; }
  /// True once something is known that was not.
  bool take_learned();
  /// Whether the two hold all codes. Whoever needs one later asks again.
  bool is_refused(int peer, Number number) const;
  void forget_refusals();

  int code_count() const { return code_count_; }

  /// Before the transport is closed.
  void close() noexcept { messages_.close(); }

 private:
  struct Pair {
    explicit Pair(int code_count) : blocks(code_count) {}

    CodeBlocks blocks;
    std::vector<Number> asked;     ///< by this process, and not answered yet
    std::vector<Number> deferred;  ///< until this process has made them
    std::vector<Number> refused;
    std::vector<Number> promised;   ///< of the upper: the answer to a state will say more of them
    std::int64_t states = 0;        ///< that the upper has sent, or that the lower has taken
    std::int64_t blocks_taken = 0;  ///< by the upper
    /// Codes of blocks that the upper has not confirmed: they may be in use there. Of the lower.
    std::deque<std::vector<int>> unconfirmed;
    std::int64_t confirmed = 0;
  };

  Pair& pair_with(int peer);
  std::vector<bool> held(int peer, Pair& pair);
  /// How many communicators that are alive here, made before `before`, have no code with `peer` yet.
  std::int64_t count_without_code(int peer, const Pair& pair, Number before) const;
  template <class Function>
  void for_each_alive(int peer, Function of) const;
  bool is_made(int peer, Number number) const;
  void refuse(Pair& pair, Number number);
  void defer(Pair& pair, Number number);
  void add_block(Pair& pair, Number first, const std::vector<int>& codes);
  void handle(int source, const std::vector<std::int64_t>& words);
  void tell_state(int peer, Pair& pair, Number number);
  void tell_next_state(int peer, Pair& pair);
  void give(int peer, Pair& pair, Number number, bool is_made_there, std::vector<bool> in_use);
  void ask_again();

  World& world_;
  int code_count_;
  std::int64_t created_ = 0;
  std::unordered_map<int, std::unique_ptr<Pair>> pairs_;
  ServiceMessages messages_;
  bool is_used_ = false;  ///< somebody may need a code
  bool has_deferred_ = false;
  bool has_refused_ = false;
  bool learned_ = false;
};

}  // namespace wisp::detail
