#include "comm/failures.hpp"

#include <algorithm>

#include "comm/describe.hpp"
#include "comm/world.hpp"
#include "transport/process_failure.hpp"
#include "wisp/comm.hpp"

namespace wisp::detail {
namespace {

/// The tag that stands for a communicator: raw ones share all tags but for the number. A creation stands for
/// itself: the next one is how others go on.
int tag_of_all(const Context& context, int tag) {
  const TagLayout& tags = context.world->tags();
  if (tags.lane(tag) == TagLayout::Lane::creation) return tag;
  const bool is_raw = context.kind == TagLayout::Kind::raw;
  return tags.encode(context.kind, TagLayout::Lane::numbered, is_raw ? tags.number(tag) : 0);
}

/// Whether the messages with a rank are told by its code here; a chain's are not.
bool has_member(const Context& context, int rank) {
  if (context.named != nullptr) return context.named->group.from_world(rank) >= 0;
  if (context.code_here >= 0) return false;
  return !context.is_numbered || context.members.from_world(rank) >= 0;
}

bool is_collective(const Message& message) {
  return message.context != nullptr && message.tag >= 0 &&
         message.context->world->tags().lane(message.tag) != TagLayout::Lane::point_to_point;
}

/// As its peer tells it; -1: unknown.
WireTag communicator_of(const Message& message) {
  Context* const context = message.context;
  if (context == nullptr || message.tag < 0 || !has_member(*context, message.peer)) return -1;
  return context->tag_from(tag_of_all(*context, message.tag), message.peer);
}

}  // namespace

void Failures::note(const Message& message, int failed) {
  if (!is_collective(message) || left_here_because_of(message) >= 0) return;
  left_.push_back({shared(message.context), tag_of_all(*message.context, message.tag), failed});
}

int Failures::left_here_because_of(const Message& message) const {
  if (!is_collective(message)) return -1;
  const int tag = tag_of_all(*message.context, message.tag);
  const auto found = std::ranges::find_if(
      left_, [&](const LeftHere& one) { return one.context.get() == message.context && one.tag == tag; });
  return found == left_.end() ? -1 : found->failed;
}

Failures::Told Failures::told_to(int peer) {
  Told told;
  told.failed = ranks_;
  for (const LeftHere& one : left_) {
    if (has_member(*one.context.get(), peer))
      told.left.push_back({one.context->tag_to(one.tag, peer), one.failed});
  }
  for_each_wait(world_, [&](const Message& message) {
    if (message.context == nullptr || message.tag < 0 || !has_member(*message.context, peer)) return;
    told.waits.push_back(message.context->tag_to(tag_of_all(*message.context, message.tag), peer));
  });
  return told;
}

int Failures::left_because_of(const Message& message, const Told& told) {
  const WireTag here = communicator_of(message);
  const auto found = std::ranges::find(told.left, here, &Told::Left::communicator);
  return here < 0 || found == told.left.end() ? -1 : found->failed;
}

int Failures::elsewhere_because_of(const Message& message, const Told& told) const {
  const WireTag here = communicator_of(message);
  if (here >= 0 && std::ranges::count(told.waits, here) > 0) return -1;
  const auto news = std::ranges::find_if(told.failed, [&](int rank) { return !ranks_.contains(rank); });
  return news == told.failed.end() ? -1 : *news;
}

std::vector<Failures::Ending> Failures::find_waits(const std::function<int(const Message&)>& failed) const {
  std::vector<Ending> found;
  for_each_wait(world_, [&](Message& message) {
    if (const int rank = failed(message); rank >= 0) found.push_back({&message, rank});
  });
  return found;
}

int Failures::source_gone(const Message& message, const std::set<int>& failed) const {
  const auto is_why = [&](int rank) {
    if (acknowledged_.contains(rank) && !is_collective(message)) return false;
    if (const auto may = world_.mailbox().may_come_from(message, rank)) return *may;
    return message.context != nullptr &&
           (message.context->code_here >= 0 || has_member(*message.context, rank));
  };
  const auto found = std::ranges::find_if(failed, is_why);
  return message.peer >= 0 || found == failed.end() ? -1 : *found;
}

bool Failures::end_waits_for(const std::set<int>& failed, const std::set<int>& sources) {
  const auto ending = find_waits([&](const Message& message) {
    if (failed.contains(message.peer)) return message.peer;
    const int because_of = left_here_because_of(message);
    return because_of >= 0 ? because_of : source_gone(message, sources);
  });
  end(ending);
  return !ending.empty();
}

void Failures::end(const std::vector<Ending>& waits) {
  for (const Ending& wait : waits) {
    wait.message->error = process_failure_class;
    wait.message->failed = wait.failed;
    wait.message->world->failures().note(*wait.message, wait.failed);
    end_waiting(*wait.message);
  }
}

}  // namespace wisp::detail

namespace wisp {

std::vector<int> Comm::failed() const {
  constexpr const char* call = "wisp::Comm::failed";
  const detail::EngineLock lock = detail::lock(context_, call);
  detail::check_there(*this, call);
  detail::World& world = *context_->world;
  for (const int rank : world.transport().failed()) world.failures().add_rank(rank);
  world.failures().acknowledge();
  std::vector<int> ranks;
  for (const int rank : world.failures().ranks()) {
    if (const int here = group_.from_world(rank); here >= 0) ranks.push_back(here);
  }
  std::ranges::sort(ranks);
  return ranks;
}

}  // namespace wisp
