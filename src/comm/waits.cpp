#include "comm/waits.hpp"

#include <algorithm>
#include <optional>

#include "transport/throw_error.hpp"

namespace wisp::detail {
namespace {

using std::chrono::milliseconds;

/// What is looked at of a stall of many ranks.
constexpr std::size_t most_ranks = 64;

/// One that is waited for, and where it was come upon.
struct Reached {
  int rank;
  const Doing* doing;
  std::size_t from;  ///< the place of the one that waits for it
  const Wait* by;
};

std::vector<Explanation::Step> path_to(const std::vector<Reached>& reached, std::size_t at,
                                       const Wait& last) {
  std::vector<Explanation::Step> path{{reached[at].rank, last}};
  for (; at != 0; at = reached[at].from) path.push_back({reached[reached[at].from].rank, *reached[at].by});
  std::ranges::reverse(path);
  return path;
}

const Wait& first_for_one(const Doing& doing) {
  const auto named = std::ranges::find_if(doing.waits, [](const Wait& wait) { return wait.peer >= 0; });
  return named == doing.waits.end() ? doing.waits.front() : *named;
}

/// Of ranks that wait for each other only.
Explanation walk(int rank, const Doing& mine, const std::map<int, Doing>& known) {
  using End = Explanation::End;
  Explanation why;
  int at = rank;
  for (const Doing* now = &mine;; now = &known.at(at)) {
    const Wait& next = first_for_one(*now);
    why.path.push_back({at, next});
    at = why.last = next.peer;
    const bool is_on_path = std::ranges::any_of(why.path, [&](const auto& step) { return step.rank == at; });
    if (at < 0 || is_on_path || why.path.size() >= most_ranks || !known.contains(at)) {
      why.end = at < 0 ? End::anyone : is_on_path ? End::cycle : End::too_long;
      return why;
    }
  }
}

bool is_same_place(const Wait& one, const Wait& other) {
  return one.place == other.place && one.operation != other.operation;
}

}  // namespace

std::variant<Explanation, std::vector<int>> explain(int rank, const Doing& mine,
                                                    const std::map<int, Doing>& known,
                                                    const std::set<int>& silent, milliseconds least_idle) {
  using End = Explanation::End;
  std::vector<Reached> reached{{rank, &mine, 0, nullptr}};
  bool is_moving = false;
  std::optional<Explanation> is_silent;  // which is why, unless somebody moves
  for (std::size_t at = 0; at < reached.size() && at < most_ranks; ++at) {
    const Doing& doing = *reached[at].doing;
    if (doing.waits.empty() || (at > 0 && doing.idle < least_idle)) {
      is_moving = true;
      continue;
    }
    std::vector<int> unknown;
    for (const Wait& wait : doing.waits) {
      if (silent.contains(wait.peer)) {
        if (!is_silent) is_silent = Explanation{path_to(reached, at, wait), End::silent, wait.peer};
        continue;
      }
      const auto is_theirs = [&](const Reached& one) { return one.rank == wait.peer; };
      if (wait.peer < 0 || std::ranges::any_of(reached, is_theirs)) continue;
      if (const auto told = known.find(wait.peer); told != known.end()) {
        reached.push_back({wait.peer, &told->second, at, &wait});
      } else if (std::ranges::count(unknown, wait.peer) == 0) {
        unknown.push_back(wait.peer);
      }
    }
    if (!unknown.empty()) return unknown;
  }
  if (is_moving) return Explanation{};
  return is_silent ? *is_silent : walk(rank, mine, known);
}

std::vector<int> to_report_to(int rank) {
  constexpr int first_ranks = 4;
  std::vector<int> to;
  for (int other = rank & (rank - 1); other >= first_ranks; other &= other - 1) to.push_back(other);
  for (int other = std::min(rank, first_ranks) - 1; other >= 0; --other) to.push_back(other);
  std::ranges::reverse(to);
  return to;
}

void Explanation::begin_with_lowest() {
  path.erase(path.begin(), std::ranges::find(path, last, &Step::rank));
  std::ranges::rotate(path, std::ranges::min_element(path, {}, &Step::rank));
  last = path.front().rank;
}

std::int64_t subject_of(const Explanation& why) {
  if (why.end == Explanation::End::cycle) return -1 - why.last;
  return why.last < 0 ? why.path.back().rank : why.last;
}

std::string text_of(const Wait& wait) {
  if (!wait.is_receive && wait.peer == Wait::anyone)  // MPI's own
    return formatted("in {} ({}) for all ranks", wait.operation, wait.place);
  const std::string peer = wait.peer == Wait::anyone ? "any rank"
                           : wait.peer < 0           ? "a process outside of world"
                                                     : formatted("rank {}", wait.peer);
  return formatted("in {} ({}) {} {}", wait.operation, wait.place,
                   wait.is_receive ? "for a message from" : "until a message is taken by", peer);
}

std::string text_of(const Explanation& why, milliseconds idle) {
  using End = Explanation::End;
  std::vector<std::string> sentences;
  for (const auto& [rank, wait] : why.path) {
    sentences.push_back(formatted("rank {} waits {}", rank, text_of(wait)));
  }
  std::string text = joined(sentences, "; ");
  const double seconds = static_cast<double>(idle.count()) / 1000;
  if (why.end == End::silent) {
    text += formatted("; rank {} does not answer: it waits in no call of wisp", why.last);
  } else if (why.end == End::cycle) {
    const auto first =
        std::ranges::find_if(why.path, [&](const auto& step) { return step.rank == why.last; });
    text += ": a cycle";
    for (auto one = first; one != why.path.end(); ++one) {
      const auto after = one + 1 == why.path.end() ? first : one + 1;
      if (is_same_place(one->wait, after->wait)) {
        text += formatted(", for rank {} and rank {} call different operations in the same place", one->rank,
                          after->rank);
        break;
      }
    }
  } else if (why.end == End::too_long) {
    text += "; and so on";
  }
  return formatted("wisp: nothing has moved for {:.{}f} s: {}\n", seconds, seconds < 10 ? 1 : 0, text);
}

}  // namespace wisp::detail
