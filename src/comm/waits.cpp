#include "comm/waits.hpp"

#include <algorithm>

#include "transport/throw_error.hpp"

namespace wisp::detail {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t longest_path = 64;

bool is_same_place(const Wait& one, const Wait& other) {
  return one.place == other.place && one.operation != other.operation;
}

}  // namespace

std::variant<Explanation, std::vector<int>> explain(int rank, const Doing& mine,
                                                    const std::map<int, Doing>& known,
                                                    const std::set<int>& silent, milliseconds least_idle) {
  using End = Explanation::End;
  Explanation why;
  const Doing* now = &mine;
  for (;;) {
    std::vector<int> unknown;
    for (const Wait& wait : now->waits) {
      if (wait.peer != Wait::anyone && wait.peer != rank && !known.contains(wait.peer) &&
          !silent.contains(wait.peer) && std::ranges::count(unknown, wait.peer) == 0) {
        unknown.push_back(wait.peer);
      }
    }
    if (!unknown.empty()) return unknown;
    const auto choose = [&]() -> const Wait* {
      const Wait* chosen = nullptr;
      for (const Wait& wait : now->waits) {
        if (silent.contains(wait.peer)) return &wait;  // that is why
        if (chosen == nullptr || (chosen->peer == Wait::anyone && wait.peer != Wait::anyone)) chosen = &wait;
      }
      return chosen;
    };
    const Wait* next = choose();
    const int from = why.path.empty() ? rank : why.last;
    if (next == nullptr) {  // it tells nothing: it is between two waits
      why.end = End::moving;
      return why;
    }
    why.path.push_back({from, *next});
    why.last = next->peer;
    if (next->peer == Wait::anyone) {
      why.end = End::anyone;
      return why;
    }
    if (silent.contains(next->peer)) {
      why.end = End::silent;
      return why;
    }
    const bool is_on_path =
        std::ranges::any_of(why.path, [&](const auto& step) { return step.rank == next->peer; });
    if (is_on_path || why.path.size() >= longest_path) {
      why.end = is_on_path ? End::cycle : End::too_long;
      return why;
    }
    now = &known.at(next->peer);
    if (now->idle < least_idle) {
      why.end = End::moving;
      return why;
    }
  }
}

std::int64_t subject_of(const Explanation& why) {
  if (why.end == Explanation::End::anyone) return why.path.back().rank;
  return why.last;
}

std::string text_of(const Wait& wait) {
  const std::string peer = wait.peer == Wait::anyone ? "any rank" : formatted("rank {}", wait.peer);
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
