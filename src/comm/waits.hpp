#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

// Who waits for whom, as far as ranks have told, and why.

namespace wisp::detail {

/// What one rank waits for; ranks are those of the World.
struct Wait {
  static constexpr int anyone = -1;
  static constexpr int outside = -2;  ///< a process that is not in this World

  int peer = anyone;
  bool is_receive = true;
  std::string operation;  ///< "wisp::bcast"
  std::string place;      ///< "call 17 on world[0..7]"
};

/// "in wisp::bcast (call 17 on world) for a message from rank 0"
std::string text_of(const Wait& wait);

/// What a rank has answered.
struct Doing {
  std::chrono::milliseconds idle{0};  ///< how long nothing has moved there
  bool is_blocked = true;             ///< in a wait; else it looks now and then
  std::vector<Wait> waits;            ///< the first few
};

/// Why a rank waits: each of the path waits for the next one.
struct Explanation {
  enum class End { cycle, silent, moving, anyone, too_long };

  struct Step {
    int rank;
    Wait wait;
  };
  std::vector<Step> path;
  End end = End::moving;
  int last = Wait::anyone;  ///< whom the last of the path waits for; of a cycle, where it begins

  /// Of a cycle: leaves out what leads to it, and begins with its lowest rank.
  void begin_with_lowest();
};

/// Follows the waits of `rank` as far as they are known: the explanation, or the ranks that are to be asked.
/// All of its waits: a receive that is posted for later is one of them, so it is no cycle if any of them
/// leads to a rank that moves.
std::variant<Explanation, std::vector<int>> explain(int rank, const Doing& mine,
                                                    const std::map<int, Doing>& known,
                                                    const std::set<int>& silent,
                                                    std::chrono::milliseconds least_idle);

/// To whom a rank tells what it has found, before it says so itself: ranks 0 to 3, and those whose numbers
/// are its own without some of its lowest bits. Ranks that are busy now may wait for us later, so it is not
/// looked for among all; and where the first are silent, few say it.
std::vector<int> to_report_to(int rank);

/// One paragraph.
std::string text_of(const Explanation& why, std::chrono::milliseconds idle);

/// The ranks that a report of it is about: a later one of the same is not printed again.
std::int64_t subject_of(const Explanation& why);

}  // namespace wisp::detail
