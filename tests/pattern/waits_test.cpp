#include "comm/waits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace wisp::detail {
namespace {

using End = Explanation::End;
using std::chrono::milliseconds;

constexpr milliseconds long_idle(1000);

Doing waiting_for(const std::vector<int>& peers, const std::string& operation = "wisp::bcast",
                  const std::string& place = "call 1 on world") {
  Doing doing{long_idle, true, {}};
  for (const int peer : peers) doing.waits.push_back({peer, true, operation, place});
  return doing;
}

/// As a rank finds out: it asks whom it is told to ask; who is not in `all` does not answer.
Explanation explained(int rank, const std::map<int, Doing>& all, int* questions = nullptr) {
  std::map<int, Doing> known;
  std::set<int> silent;
  for (;;) {
    const auto found = explain(rank, all.at(rank), known, silent, long_idle / 2);
    if (const auto* why = std::get_if<Explanation>(&found)) return *why;
    for (const int peer : std::get<std::vector<int>>(found)) {
      EXPECT_FALSE(known.contains(peer) || silent.contains(peer) || peer == rank);
      if (questions != nullptr) ++*questions;
      if (all.contains(peer)) {
        known[peer] = all.at(peer);
      } else {
        silent.insert(peer);
      }
    }
  }
}

std::vector<int> path_of(const Explanation& why) {
  std::vector<int> ranks;
  for (const auto& step : why.path) ranks.push_back(step.rank);
  return ranks;
}

TEST(WaitsTest, AChainEndsAtWhoDoesNotAnswer) {
  const std::map<int, Doing> all{{1, waiting_for({2})}, {2, waiting_for({3})}};
  const Explanation why = explained(1, all);
  EXPECT_EQ(why.end, End::silent);
  EXPECT_EQ(why.last, 3);
  EXPECT_EQ(path_of(why), (std::vector{1, 2}));
  EXPECT_EQ(subject_of(why), 3);
  EXPECT_EQ(
      text_of(why, milliseconds(61400)),
      "wisp: nothing has moved for 61 s: rank 1 waits in wisp::bcast (call 1 on world) for a message from "
      "rank 2; rank 2 waits in wisp::bcast (call 1 on world) for a message from rank 3; rank 3 does not "
      "answer: it waits in no call of wisp\n");
}

TEST(WaitsTest, OfSeveralPeersTheOneThatDoesNotAnswerIsWhy) {
  const std::map<int, Doing> all{{0, waiting_for({1, 2, 3})}, {1, waiting_for({0})}, {3, waiting_for({0})}};
  const Explanation why = explained(0, all);
  EXPECT_EQ(why.end, End::silent);
  EXPECT_EQ(why.last, 2);
}

TEST(WaitsTest, ACycleIsFoundFromInsideAndFromOutside) {
  const std::map<int, Doing> all{
      {0, waiting_for({2}, "wisp::bcast")}, {1, waiting_for({0})}, {2, waiting_for({0}, "wisp::reduce")}};
  const Explanation inside = explained(0, all);
  EXPECT_EQ(inside.end, End::cycle);
  EXPECT_EQ(inside.last, 0);
  EXPECT_EQ(path_of(inside), (std::vector{0, 2}));
  EXPECT_NE(text_of(inside, long_idle).find("rank 0 and rank 2 call different operations in the same place"),
            std::string::npos);
  const Explanation outside = explained(1, all);
  EXPECT_EQ(outside.end, End::cycle);
  EXPECT_EQ(outside.last, 0);
  EXPECT_EQ(path_of(outside), (std::vector{1, 0, 2}));
}

TEST(WaitsTest, AReceiveThatIsPostedForLaterMakesNoCycle) {
  std::map<int, Doing> all{{0, waiting_for({1, 2})}, {1, waiting_for({0})}, {2, waiting_for({3})}};
  Explanation why = explained(0, all);  // rank 3 computes
  EXPECT_EQ(why.end, End::silent);
  EXPECT_EQ(path_of(why), (std::vector{0, 2}));
  all[3] = {milliseconds(1), true, {}};
  EXPECT_EQ(explained(0, all).end, End::moving);
  EXPECT_EQ(explained(1, all).end, End::moving);
}

TEST(WaitsTest, WhileSomebodyMovesNobodyIsWhy) {
  std::map<int, Doing> all{{0, waiting_for({1, 2})}, {2, waiting_for({0})}};  // rank 1 computes
  EXPECT_EQ(explained(0, all).end, End::silent);
  all[2].idle = milliseconds(1);
  EXPECT_EQ(explained(0, all).end, End::moving);
}

TEST(WaitsTest, ACycleIsTheSameWhoeverFindsIt) {
  const std::map<int, Doing> all{
      {1, waiting_for({5})}, {5, waiting_for({3})}, {3, waiting_for({1})}, {7, waiting_for({5})}};
  for (const auto& one : all) {
    Explanation why = explained(one.first, all);
    ASSERT_EQ(why.end, End::cycle);
    why.begin_with_lowest();
    EXPECT_EQ(path_of(why), (std::vector{1, 5, 3}));
    EXPECT_EQ(why.last, 1);
    EXPECT_LT(subject_of(why), 0);  // no rank that is waited for
  }
}

TEST(WaitsTest, WhoWaitsForItselfIsACycle) {
  const Explanation why = explained(4, {{4, waiting_for({4})}});
  EXPECT_EQ(why.end, End::cycle);
  EXPECT_EQ(why.last, 4);
}

TEST(WaitsTest, WhoeverMovesIsNoStall) {
  std::map<int, Doing> all{{0, waiting_for({1})}, {1, waiting_for({0})}};
  all[1].idle = milliseconds(3);
  EXPECT_EQ(explained(0, all).end, End::moving);
}

TEST(WaitsTest, WhoWaitsForAnybodyIsTheEnd) {
  const std::map<int, Doing> all{{0, waiting_for({1})}, {1, waiting_for({Wait::anyone})}};
  const Explanation why = explained(0, all);
  EXPECT_EQ(why.end, End::anyone);
  EXPECT_EQ(subject_of(why), 1);
}

TEST(WaitsTest, OfManyRanksWhoFindTheSameFewSayItWhereTheFirstAreSilent) {
  EXPECT_EQ(to_report_to(0), std::vector<int>());
  EXPECT_EQ(to_report_to(2), (std::vector<int>{0, 1}));
  EXPECT_EQ(to_report_to(13), (std::vector<int>{0, 1, 2, 3, 8, 12}));
  int say_it = 0;
  for (int rank = 4; rank < 1024; ++rank) {
    const std::vector<int> to = to_report_to(rank);
    EXPECT_TRUE(std::ranges::is_sorted(to));
    EXPECT_LT(to.back(), rank);
    if (to.back() < 4) ++say_it;
  }
  EXPECT_EQ(say_it, 8);  // 4, 8, 16, …, 512
}

TEST(WaitsTest, EveryGraphOfWaitsIsExplainedAndEveryRankIsAskedOnce) {
  std::uint64_t state = 1;
  const auto random = [&](int bound) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int>((state >> 33) % static_cast<std::uint64_t>(bound));
  };
  for (int round = 0; round < 2000; ++round) {
    const int ranks = 1 + random(100);
    std::map<int, Doing> all;
    for (int rank = 0; rank < ranks; ++rank) {
      if (rank > 0 && random(10) == 0) continue;  // it does not answer
      std::vector<int> peers;
      for (int i = 0; i <= random(3); ++i) peers.push_back(random(ranks));
      all[rank] = waiting_for(peers);
    }
    int questions = 0;
    const Explanation why = explained(0, all, &questions);
    EXPECT_LE(questions, 3 * ranks);
    ASSERT_FALSE(why.path.empty());
    EXPECT_TRUE(why.end == End::silent || why.end == End::cycle || why.end == End::too_long);
    EXPECT_EQ(why.end == End::silent, !all.contains(why.last));
    const std::vector<int> path = path_of(why);
    EXPECT_EQ(why.end == End::cycle, std::ranges::count(path, why.last) > 0);
    EXPECT_EQ(std::set<int>(path.begin(), path.end()).size(), path.size());
  }
}

}  // namespace
}  // namespace wisp::detail
