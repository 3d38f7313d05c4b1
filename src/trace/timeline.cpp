#include "trace/timeline.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

namespace wisp::detail {
namespace {

using Kind = TraceRecord::Kind;

/// A record with its rank, and the texts' numbers of all ranks.
struct Event : TraceRecord {
  int rank = -1;
  int context = -1;  ///< the number of the communicator on its rank
};

struct Pair {
  const Event* send;
  const Event* receive;
};

/// All ranks' records; `texts` gets each text once.
std::vector<Event> events_of(const std::vector<RankTrace>& ranks, std::vector<std::string>& texts) {
  std::map<std::string, int> numbers;
  std::vector<Event> events;
  for (const RankTrace& rank : ranks) {
    std::vector<int> global;
    for (const std::string& text : rank.texts) {
      const auto [known, is_new] = numbers.try_emplace(text, static_cast<int>(texts.size()));
      if (is_new) texts.push_back(text);
      global.push_back(known->second);
    }
    const auto number = [&](int local) {
      return local >= 0 && as_size(local) < global.size() ? global[as_size(local)] : -1;
    };
    for (const TraceRecord& record : rank.records) {
      Event event{record, rank.rank};
      event.context = record.communicator;
      event.operation = number(record.operation);
      event.communicator = number(record.communicator);
      events.push_back(event);
    }
  }
  return events;
}

/// Messages of one pair with one tag arrive in the order of their sending.
std::vector<Pair> pairs_of(const std::vector<Event>& events, std::size_t& unmatched) {
  struct Queue {
    std::vector<const Event*> sends;
    std::vector<const Event*> receives;
  };
  std::map<std::tuple<int, int, std::uint64_t, std::int64_t>, Queue> queues;
  for (const Event& event : events) {
    if (event.kind == Kind::send) {
      queues[{event.rank, event.peer, event.world, event.tag}].sends.push_back(&event);
    } else if (event.kind == Kind::receive || event.kind == Kind::arrival) {
      queues[{event.peer, event.rank, event.world, event.tag}].receives.push_back(&event);
    }
  }
  std::vector<Pair> pairs;
  for (auto& [of, queue] : queues) {
    // Records were written when messages ended.
    std::ranges::stable_sort(queue.sends, {}, &Event::begin);
    std::ranges::stable_sort(queue.receives, {}, &Event::begin);
    const std::size_t both = std::min(queue.sends.size(), queue.receives.size());
    for (std::size_t i = 0; i < both; ++i) pairs.push_back({queue.sends[i], queue.receives[i]});
    unmatched += queue.sends.size() + queue.receives.size() - 2 * both;
  }
  return pairs;
}

/// What is to be added to each rank's times, in nanoseconds.
std::map<int, std::int64_t> corrections(const std::vector<RankTrace>& ranks, const std::vector<Pair>& pairs) {
  std::map<int, std::string> host;
  for (const RankTrace& rank : ranks) host[rank.rank] = rank.host;
  std::map<std::pair<std::string, std::string>, std::int64_t> fastest;
  for (const Pair& pair : pairs) {
    const std::string& from = host[pair.send->rank];
    const std::string& to = host[pair.receive->rank];
    if (from == to) continue;
    const auto took = static_cast<std::int64_t>(pair.receive->end - pair.send->begin);
    const auto [least, is_new] = fastest.try_emplace({from, to}, took);
    if (!is_new) least->second = std::min(least->second, took);
  }
  std::map<std::string, std::int64_t> of_host;
  std::deque<std::string> known;
  for (const RankTrace& rank :
       ranks) {  // each of those that have no messages with earlier ones keeps its clock
    if (!of_host.try_emplace(rank.host, 0).second) continue;
    known.push_back(rank.host);
    while (!known.empty()) {
      const std::string from = known.front();
      known.pop_front();
      for (const auto& [way, took] : fastest) {
        const auto back = fastest.find({way.second, way.first});
        if (way.first != from || back == fastest.end() || of_host.contains(way.second)) continue;
        of_host[way.second] = of_host[from] + (back->second - took) / 2;
        known.push_back(way.second);
      }
    }
  }
  std::map<int, std::int64_t> of_rank;
  for (const RankTrace& rank : ranks) of_rank[rank.rank] = of_host[rank.host];
  return of_rank;
}

/// Since when a rank has waited at a time, if it has.
class Waits {
 public:
  explicit Waits(std::vector<TracedOperation> waits) {
    for (const TracedOperation& wait : waits) of_rank_[wait.rank].push_back(wait);
    for (auto& [rank, of_rank] : of_rank_) std::ranges::stable_sort(of_rank, {}, &TracedOperation::begin);
  }

  std::optional<double> since(int rank, double time) const {
    const auto of_rank = of_rank_.find(rank);
    if (of_rank == of_rank_.end()) return std::nullopt;
    auto after = std::ranges::upper_bound(of_rank->second, time, {}, &TracedOperation::begin);
    constexpr int most_nested = 4;
    for (int i = 0; i < most_nested && after != of_rank->second.begin(); ++i) {
      --after;
      if (after->end >= time) return after->begin;
    }
    return std::nullopt;
  }

 private:
  std::map<int, std::vector<TracedOperation>> of_rank_;
};

void add_operations(Timeline& timeline, const std::vector<TracedOperation>& waits) {
  using Key = std::tuple<int, int, int, int, int>;
  std::map<Key, TracedOperation> open;
  const auto close = [&](const TracedOperation& ended) { timeline.operations.push_back(ended); };
  std::vector<TracedOperation> ends;
  for (const TracedMessage& message : timeline.messages) {
    ends.push_back({message.from, message.sent, message.left, message.operation, message.communicator,
                    message.call, message.from_context});
    ends.push_back({message.to, message.posted, message.received, message.operation, message.communicator,
                    message.call, message.to_context});
  }
  std::ranges::stable_sort(ends, {}, &TracedOperation::begin);
  for (const TracedOperation& part : ends) {
    const auto [place, is_new] =
        open.try_emplace(Key{part.rank, part.operation, part.communicator, part.call, part.context}, part);
    if (is_new) continue;
    TracedOperation& before = place->second;
    if (part.call < 0 && part.begin > before.end) {  // nobody numbers these: another one
      close(std::exchange(before, part));
    } else {
      before.end = std::max(before.end, part.end);
    }
  }
  for (const auto& [key, last] : open) close(last);
  const auto by_begin = [](const TracedOperation& one) { return std::tuple(one.rank, one.begin); };
  std::ranges::stable_sort(timeline.operations, {}, by_begin);
  // A wait is that of the operation on its communicator that it contains, if there is just one.
  std::vector<std::pair<TracedOperation*, const TracedOperation*>> longer;
  for (const TracedOperation& wait : waits) {
    if (wait.communicator < 0) continue;
    auto at = std::ranges::lower_bound(timeline.operations, by_begin(wait), {}, by_begin);
    TracedOperation* only = nullptr;
    int inside = 0;
    for (; at != timeline.operations.end() && at->rank == wait.rank && at->begin <= wait.end; ++at) {
      if (at->communicator != wait.communicator || at->context != wait.context) continue;
      only = &*at;
      ++inside;
    }
    if (inside == 1) longer.emplace_back(only, &wait);
  }
  for (const auto& [operation, wait] : longer) {
    operation->begin = std::min(operation->begin, wait->begin);
    operation->end = std::max(operation->end, wait->end);
  }
  std::ranges::stable_sort(timeline.operations, {}, by_begin);
}

/// Backwards from the last end: along a rank to the latest message that it had to wait for, and from there on
/// where the other side began to take part in it.
void add_critical_path(Timeline& timeline) {
  struct End {
    double time;
    int message;
    bool is_receive;
  };
  std::map<int, std::vector<End>> ends;
  for (std::size_t i = 0; i < timeline.messages.size(); ++i) {
    const TracedMessage& message = timeline.messages[i];
    ends[message.to].push_back({message.received, static_cast<int>(i), true});
    ends[message.from].push_back({message.left, static_cast<int>(i), false});
  }
  for (auto& [rank, of_rank] : ends) std::ranges::stable_sort(of_rank, {}, &End::time);
  const auto last = std::ranges::max_element(timeline.operations, {}, &TracedOperation::end);
  if (last == timeline.operations.end()) return;
  int rank = last->rank;
  double time = last->end;
  std::vector<PathStep> path;
  std::vector<bool> passed(timeline.messages.size());
  for (std::optional<End> next;; next.reset()) {
    auto& of_rank = ends[rank];
    while (!of_rank.empty() && !next) {
      const End end = of_rank.back();
      of_rank.pop_back();
      if (end.time > time || passed[as_size(end.message)]) continue;
      const TracedMessage& message = timeline.messages[as_size(end.message)];
      // Who was there later has kept the other one waiting; a sender only if it did wait.
      const bool waited_for_sender = message.sent >= message.awaited;
      const bool waited_for_receiver =
          message.posted > message.awaited_to_leave && message.left >= message.posted;
      if (end.is_receive ? waited_for_sender : waited_for_receiver) next = end;
    }
    if (!next) break;
    const TracedMessage& message = timeline.messages[as_size(next->message)];
    passed[as_size(next->message)] = true;
    path.push_back({rank, next->time, time, -1});
    const double since = next->is_receive ? message.sent : message.posted;
    path.push_back({rank, since, next->time, next->message});
    rank = next->is_receive ? message.from : message.to;
    time = since;
  }
  path.push_back({rank, 0, time, -1});
  std::ranges::reverse(path);
  timeline.critical_path = std::move(path);
}

}  // namespace

Timeline timeline_of(const std::vector<RankTrace>& ranks) {
  Timeline timeline;
  for (const RankTrace& rank : ranks) timeline.ranks = std::max(timeline.ranks, rank.rank + 1);
  std::vector<Event> events = events_of(ranks, timeline.texts);
  const std::vector<Pair> pairs = pairs_of(events, timeline.unmatched);
  const std::map<int, std::int64_t> correction = corrections(ranks, pairs);
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  for (Event& event : events) {
    const auto by = static_cast<std::uint64_t>(correction.at(event.rank));
    event.begin += by;
    event.end += by;
    first = std::min(first, event.begin);
  }
  const auto seconds = [&](std::uint64_t time) { return 1e-9 * static_cast<double>(time - first); };
  std::vector<TracedOperation> waits;
  for (const Event& event : events) {
    timeline.seconds = std::max(timeline.seconds, seconds(event.end));
    if (event.kind == Kind::wait)
      waits.push_back(
          {event.rank, seconds(event.begin), seconds(event.end), -1, event.communicator, -1, event.context});
  }
  const Waits waits_of(waits);
  for (const Pair& pair : pairs) {
    const Event& send = *pair.send;
    const Event& receive = *pair.receive;
    TracedMessage message{send.rank,
                          receive.rank,
                          seconds(send.begin),
                          seconds(send.end),
                          seconds(receive.begin),
                          seconds(receive.end),
                          seconds(receive.begin),
                          seconds(send.begin),
                          send.bytes,
                          send.operation,
                          receive.communicator >= 0 ? receive.communicator : send.communicator,
                          receive.call,
                          send.context,
                          receive.context};
    if (const auto since = waits_of.since(receive.rank, message.received)) {
      message.awaited = receive.kind == Kind::arrival ? *since : std::max(*since, message.posted);
      message.posted = std::min(message.posted, message.awaited);
    }
    if (const auto since = waits_of.since(send.rank, message.left))
      message.awaited_to_leave = std::max(*since, message.sent);
    timeline.messages.push_back(message);
  }
  std::ranges::stable_sort(timeline.messages, {}, &TracedMessage::sent);
  add_operations(timeline, waits);
  add_critical_path(timeline);
  return timeline;
}

}  // namespace wisp::detail
