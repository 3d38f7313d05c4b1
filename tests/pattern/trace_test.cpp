#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "error_of.hpp"
#include "trace/record.hpp"
#include "trace/timeline.hpp"

namespace wisp::detail {
namespace {

using RecordKind = TraceRecord::Kind;

RankTrace rank_on(int rank, const std::string& host = "here") {
  return {rank, 3, host, {"wisp::bcast", "world"}, {}};
}

TraceRecord message(RecordKind kind, std::uint64_t begin, std::uint64_t end, int peer, std::int64_t tag = 0) {
  TraceRecord record{
      .begin = begin, .end = end, .bytes = 8, .tag = tag, .peer = peer, .operation = 0, .kind = kind};
  if (kind == RecordKind::receive) {
    record.bytes = 0;
    record.communicator = 1;
    record.call = 0;
  }
  return record;
}

TraceRecord wait_of(std::uint64_t begin, std::uint64_t end, int communicator = 1) {
  TraceRecord wait;
  wait.begin = begin;
  wait.end = end;
  wait.communicator = communicator;
  return wait;
}

TEST(TraceTest, WhatIsWrittenIsRead) {
  std::mt19937_64 random(1);
  TraceWriter writer;
  std::vector<TraceRecord> records;
  std::vector<std::byte> bytes;
  std::set<std::size_t> ends_of_chunks;
  for (int i = 0; i < 1000; ++i) {
    TraceRecord record;
    record.kind = static_cast<RecordKind>(1 + random() % 4);
    const int bits = static_cast<int>(random() % 64);
    record.begin = random() >> bits;  // also earlier than the one before
    record.end = record.begin + (random() >> 32);
    record.communicator = static_cast<int>(random() % 3) - 1;
    if (record.kind != RecordKind::wait) {
      record.peer = static_cast<int>(random() % 100) - 1;
      record.world = static_cast<std::uint32_t>(random() >> bits);
      record.tag = static_cast<std::int64_t>(random() >> 1 >> bits);
      if (record.kind == RecordKind::send) record.bytes = random() >> bits;
      record.operation = static_cast<int>(random() % 5) - 1;
      record.call = static_cast<int>(random() % 1000) - 1;
    }
    if (i % 4 != 0 && record.kind == records.back().kind) {  // of the operation of the one before
      const TraceRecord& before = records.back();
      record.communicator = before.communicator;
      record.world = before.world;
      record.tag = before.tag;
      record.operation = before.operation;
      record.call = before.call;
    }
    writer.add(record);
    records.push_back(record);
    if (i % 300 == 0) {
      EXPECT_EQ(writer.add_text("text " + std::to_string(i)), i / 300);
    }
    if (i % 400 == 0) {
      const auto chunk = writer.take_chunk(7, 9, "host");
      bytes.insert(bytes.end(), chunk.begin(), chunk.end());
      ends_of_chunks.insert(bytes.size());
      EXPECT_EQ(writer.bytes(), 0);
    }
  }
  const auto chunk = writer.take_chunk(7, 9, "host");
  bytes.insert(bytes.end(), chunk.begin(), chunk.end());
  std::vector<RankTrace> ranks;
  read_trace(bytes, "file", ranks);
  ASSERT_EQ(ranks.size(), 1);
  EXPECT_EQ(ranks[0].rank, 7);
  EXPECT_EQ(ranks[0].ranks, 9);
  EXPECT_EQ(ranks[0].host, "host");
  EXPECT_EQ(ranks[0].texts, (std::vector<std::string>{"text 0", "text 300", "text 600", "text 900"}));
  EXPECT_TRUE(ranks[0].records == records);

  // Wherever it is cut off: whole chunks.
  for (std::size_t length = 1; length < bytes.size(); length += 1 + length / 50) {
    std::vector<RankTrace> cut;
    EXPECT_EQ(read_trace(std::span(bytes).first(length), "some.file", cut), !ends_of_chunks.contains(length));
    for (const RankTrace& rank : cut) {
      EXPECT_LT(rank.records.size(), records.size());
      EXPECT_TRUE(std::ranges::equal(rank.records, std::span(records).first(rank.records.size())));
    }
  }
  bytes[0] = std::byte{0};
  EXPECT_NE(test::error_of([&] { read_trace(bytes, "some.file", ranks); }).find("is no trace"),
            std::string::npos);
}

TEST(TraceTest, MessagesOfOnePairAndTagArePairedInTheirOrder) {
  std::vector<RankTrace> ranks{rank_on(0), rank_on(1)};
  // The second receive has ended, so it is written, before the first.
  ranks[0].records = {message(RecordKind::send, 100, 100, 1), message(RecordKind::send, 200, 200, 1),
                      message(RecordKind::send, 250, 250, 1, 5), message(RecordKind::send, 300, 300, 1)};
  ranks[1].records = {message(RecordKind::receive, 90, 280, 0), message(RecordKind::receive, 80, 310, 0),
                      message(RecordKind::receive, 85, 270, 0, 5), message(RecordKind::receive, 85, 300, 3)};
  const Timeline timeline = timeline_of(ranks);
  EXPECT_EQ(timeline.ranks, 2);
  EXPECT_EQ(timeline.unmatched, 2);
  ASSERT_EQ(timeline.messages.size(), 3);
  const auto& [first, second, other] =
      std::tie(timeline.messages[0], timeline.messages[1], timeline.messages[2]);
  EXPECT_DOUBLE_EQ(first.sent, 20e-9);
  EXPECT_DOUBLE_EQ(first.posted, 0);
  EXPECT_DOUBLE_EQ(first.received, 230e-9);
  EXPECT_DOUBLE_EQ(second.posted, 10e-9);
  EXPECT_DOUBLE_EQ(other.received, 190e-9);
  EXPECT_EQ(timeline.texts[static_cast<std::size_t>(first.communicator)], "world");
}

TEST(TraceTest, TheCriticalPathIsThatOfTheWaits) {
  // 0 works until 100, sends to 1; 1 has waited, works until 300, sends to 2, where the receive is posted as
  // late as 500: nobody has waited for that message.
  std::vector<RankTrace> ranks{rank_on(0), rank_on(1), rank_on(2)};
  ranks[0].records = {message(RecordKind::send, 100, 110, 1)};
  ranks[1].records = {message(RecordKind::receive, 10, 150, 0), message(RecordKind::send, 300, 310, 2)};
  ranks[2].records = {message(RecordKind::receive, 500, 510, 1), message(RecordKind::receive, 0, 600, 1, 3)};
  ranks[1].records.push_back(message(RecordKind::send, 400, 410, 2, 3));
  const Timeline timeline = timeline_of(ranks);
  ASSERT_EQ(timeline.critical_path.size(), 5);
  const std::vector<int> along{0, 1, 1, 2, 2};
  double at = 0;
  for (std::size_t i = 0; i < along.size(); ++i) {
    const PathStep& step = timeline.critical_path[i];
    EXPECT_EQ(step.rank, along[i]) << i;
    EXPECT_EQ(step.message >= 0, i % 2 == 1) << i;
    EXPECT_DOUBLE_EQ(step.begin, at) << i;
    at = step.end;
  }
  EXPECT_DOUBLE_EQ(timeline.critical_path[1].begin, 100e-9);
  EXPECT_DOUBLE_EQ(timeline.critical_path[3].begin, 400e-9);
  EXPECT_DOUBLE_EQ(at, 600e-9);
}

TEST(TraceTest, AReceiverThatComesLateKeepsASynchronousSenderWaiting) {
  std::vector<RankTrace> ranks{rank_on(0), rank_on(1)};
  ranks[0].records = {message(RecordKind::send, 0, 900, 1)};
  ranks[1].records = {message(RecordKind::receive, 700, 800, 0)};
  const Timeline timeline = timeline_of(ranks);
  ASSERT_EQ(timeline.critical_path.size(), 3);
  EXPECT_EQ(timeline.critical_path[0].rank, 1);
  EXPECT_DOUBLE_EQ(timeline.critical_path[0].end, 700e-9);
  EXPECT_EQ(timeline.critical_path[2].rank, 0);
}

TEST(TraceTest, ClocksOfHostsAreSetByTheirFastestMessages) {
  // That of the second host is 1,000,000 ahead; a message takes 50 at least.
  constexpr std::uint64_t ahead = 1000000;
  std::vector<RankTrace> ranks{rank_on(0), rank_on(1, "there")};
  for (std::uint64_t i = 0; i < 20; ++i) {
    const std::uint64_t begin = 1000 + 500 * i;
    const std::uint64_t slow = i % 5 * 20;
    ranks[0].records.push_back(message(RecordKind::send, begin, begin, 1));
    ranks[1].records.push_back(message(RecordKind::receive, begin + ahead, begin + ahead + 50 + slow, 0));
    ranks[1].records.push_back(message(RecordKind::send, begin + ahead + 200, begin + ahead + 200, 0));
    ranks[0].records.push_back(message(RecordKind::receive, begin, begin + 250 + slow, 1));
  }
  const Timeline timeline = timeline_of(ranks);
  EXPECT_EQ(timeline.messages.size(), 40);
  EXPECT_LT(timeline.seconds, 11e-6);
  for (const TracedMessage& one : timeline.messages) {
    EXPECT_GE(one.received - one.sent, 49e-9);
    EXPECT_LE(one.received - one.sent, 131e-9);
  }
}

TEST(TraceTest, AWaitIsThatOfTheOneOperationInIt) {
  std::vector<RankTrace> ranks{rank_on(0), rank_on(1)};
  ranks[0].records = {message(RecordKind::send, 100, 110, 1)};
  ranks[1].records = {message(RecordKind::receive, 100, 150, 0)};
  ranks[1].records.push_back(wait_of(40, 200));
  const Timeline timeline = timeline_of(ranks);
  ASSERT_EQ(timeline.operations.size(), 2);
  EXPECT_DOUBLE_EQ(timeline.operations[1].begin, 0);
  EXPECT_DOUBLE_EQ(timeline.operations[1].end, 160e-9);
  EXPECT_EQ(timeline.operations[0].call, 0);
}

TEST(TraceTest, WhoComputesMeanwhileHasNotWaited) {
  // Rank 0 has posted its receive at 0, and computes until 1,000; the message has been sent at 50.
  std::vector<RankTrace> ranks{rank_on(0), rank_on(1)};
  ranks[0].records = {message(RecordKind::receive, 0, 1010, 1), wait_of(1000, 1015)};
  ranks[1].records = {message(RecordKind::send, 50, 60, 0)};
  const Timeline late = timeline_of(ranks);
  ASSERT_EQ(late.critical_path.size(), 1);
  EXPECT_EQ(late.critical_path[0].rank, 0);
  // It was there before: then it has waited.
  ranks[1].records = {message(RecordKind::send, 1005, 1006, 0)};
  EXPECT_EQ(timeline_of(ranks).critical_path.size(), 3);
  // What has been taken when it came was waited for since the wait began; without a wait nobody knows.
  ranks[0].records = {message(RecordKind::arrival, 1009, 1010, 1), wait_of(1000, 1015)};
  EXPECT_EQ(timeline_of(ranks).critical_path.size(), 3);
  EXPECT_DOUBLE_EQ(timeline_of(ranks).operations[0].begin, 0);
  ranks[0].records.pop_back();
  EXPECT_EQ(timeline_of(ranks).critical_path.size(), 1);
}

TEST(TraceTest, OperationsOfCommunicatorsWithOneNameAreTheirOwn) {
  std::vector<RankTrace> ranks{rank_on(0), rank_on(1)};
  for (RankTrace& rank : ranks) rank.texts = {"wisp::barrier", "world[0..3]", "world[0..3]"};
  for (int which = 1; which <= 2; ++which) {
    const auto at = static_cast<std::uint64_t>(1000 * which);
    TraceRecord send = message(RecordKind::send, at, at + 10, 1, which);
    TraceRecord receive = message(RecordKind::receive, at, at + 20, 0, which);
    send.communicator = receive.communicator = which;
    send.call = receive.call = 0;
    ranks[0].records.push_back(send);
    ranks[1].records.push_back(receive);
  }
  const Timeline timeline = timeline_of(ranks);
  ASSERT_EQ(timeline.operations.size(), 4);
  for (const TracedOperation& one : timeline.operations) EXPECT_LT(one.end - one.begin, 30e-9);
}

TEST(TraceTest, OfNothingThereIsNothing) {
  EXPECT_EQ(timeline_of({}).ranks, 0);
  EXPECT_TRUE(timeline_of({rank_on(3)}).critical_path.empty());
}

}  // namespace
}  // namespace wisp::detail
