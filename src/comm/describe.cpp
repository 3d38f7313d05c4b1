#include "comm/describe.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "comm/world.hpp"
#include "transport/throw_error.hpp"
#include "wisp/comm.hpp"

namespace wisp::detail {

std::string describe(const Group& group, int size_below, const std::string& name_below) {
  constexpr int most_named = 8;
  if (group.empty()) return "no ranks of " + name_below;
  const Range& range = group.range();
  if (group.is_range()) {
    if (range == Range{0, 1, size_below}) return name_below;
    const int last = range.to_parent(range.size - 1);
    if (range.size == 1) return formatted("{}[{}]", name_below, range.first);
    if (range.stride == 1) return formatted("{}[{}..{}]", name_below, range.first, last);
    return formatted("{}[{}..{}:{}]", name_below, range.first, last, range.stride);
  }
  std::vector<int> first;
  for (int rank = 0; rank < std::min(group.size(), most_named); ++rank) first.push_back(group.to_world(rank));
  return formatted("{}{{{}{}}}", name_below, joined(first), group.size() > most_named ? ", …" : "");
}

std::string describe(const Context& context) {
  const World& world = *context.world;
  const std::string& below = world.facts().name;
  if (context.name != nullptr) return *context.name;
  if (context.kind == TagLayout::Kind::raw) return below + " (raw)";
  if (context.named != nullptr) return describe(context.named->group, world.size(), below);
  const Group group = context.group();
  return group.empty() ? "a chain of " + below : describe(group, world.size(), below);
}

int call_of(const Context& context, int tag) {
  const TagLayout& tags = context.world->tags();
  if (!tags.is_counted(tag)) return -1;
  return static_cast<int>(tags.count_before(tag, context.counters->collectives));
}

std::string place_of(const Message& message) {
  if (message.context == nullptr) return "the library's own";
  const Context& context = *message.context;
  const TagLayout& tags = context.world->tags();
  std::string name = describe(context);
  // Which one it is of those that the two share: others may have the same ranks.
  if (context.is_numbered && context.name == nullptr && message.peer >= 0)
    name += formatted("#{}", context.number_with(message.peer));
  if (message.tag < 0) return formatted("any tag on {}", name);
  using Lane = TagLayout::Lane;
  const Lane lane = tags.lane(message.tag);
  const int number = tags.number(message.tag);
  if (lane == Lane::point_to_point || lane == Lane::creation) return formatted("tag {} on {}", number, name);
  const int lanes = static_cast<int>(lane);
  if (lane == Lane::own_tag || lanes >= static_cast<int>(Lane::of_own_tag))
    return formatted("own_tag {} on {}", number, name);
  if (tags.is_persistent(message.tag)) return formatted("a persistent call on {}", name);
  return formatted("call {} on {}", call_of(context, message.tag) + 1, name);
}

void for_each_wait(const World& world, const std::function<void(Message&)>& of) {
  const auto of_this = [&](Message& message) {
    if (message.world == &world && is_awaited(message)) of(message);
  };
  for (Message* message : world.engine().pending()) of_this(*message);
  world.mailbox().for_each_waiting(of_this);
}

Wait wait_of(const Message& message, const World& world) {
  int peer = Wait::anyone;
  if (message.peer >= 0) peer = message.world->rank_in(world, message.peer);
  if (message.peer >= 0 && peer < 0) peer = Wait::outside;
  return {peer, message.is_receive, message.operation, place_of(message)};
}

std::vector<Wait> waits_in(const World& world, const Context* context) {
  // The newest first, and of those that are alike one: many may have been posted for later.
  constexpr std::size_t most = 16;
  std::vector<const Message*> messages;
  const auto add = [&](const Message& message) {
    const bool is_meant = context != nullptr ? message.context == context : message.world == &world;
    if (is_meant && is_awaited(message)) messages.push_back(&message);
  };
  for (const Message* message : world.engine().pending()) add(*message);
  world.mailbox().for_each_waiting(add);
  std::set<std::tuple<int, bool, const char*>> seen;
  std::vector<Wait> waits;
  for (auto message = messages.rbegin(); message != messages.rend() && waits.size() < most; ++message) {
    const Message& one = **message;
    if (seen.insert({one.peer, one.is_receive, one.operation}).second) waits.push_back(wait_of(one, world));
  }
  return waits;
}

}  // namespace wisp::detail

namespace wisp {

std::string Comm::describe() const {
  if (!context_) return "no communicator";
  const detail::EngineLock lock = detail::lock(context_, "wisp::Comm::describe");
  const detail::World& world = *context_->world;
  if (context_->name != nullptr) return *context_->name;
  const std::string name = detail::describe(group_, world.size(), world.facts().name);
  return is_raw() ? name + " (raw)" : name;
}

void Comm::set_name(std::string_view name) const {
  const detail::EngineLock lock = detail::lock(context_, "wisp::Comm::set_name");
  if (context_->uniform_code == 0 && !is_raw()) {
    context_->world->set_name(std::string(name));
  } else {
    context_->name = std::make_unique<const std::string>(name);
  }
}

std::string describe(const Request& request) {
  if (!request.active()) return "an inactive request";
  const detail::EngineLock lock = detail::lock(request.context_, "wisp::describe");
  const std::string name = detail::describe(*request.context_.get());
  if (request.done()) return "a request on " + name + " that is done";
  std::vector<std::string> waits;
  for (const detail::Wait& wait : detail::waits_in(*request.context_->world, request.context_.get())) {
    waits.push_back(detail::text_of(wait));
  }
  const std::string others = waits.empty() ? "for what is not told" : detail::joined(waits, "; ");
  return "a request on " + name + ", which waits " + others;
}

}  // namespace wisp
