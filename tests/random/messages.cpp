// Messages of two ranks.

#include <algorithm>
#include <numeric>

#include "random/launch.hpp"

namespace wisp::test {
namespace {

Task<> await_all(std::shared_ptr<std::vector<Request>> requests) {
  for (Request& request : *requests) co_await request;
}

/// Receives from anyone, in the order of arrival; the first number says which message it is.
Task<> receive_from_any(Comm comm, int count, int tag, bool probes, bool any_number,
                        std::function<void(const Status&, const std::vector<std::int64_t>&)> seen) {
  for (int i = 0; i < count; ++i) {
    std::vector<std::int64_t> got(64, -1);
    Status status;
    const int wanted = any_number ? any_tag : tag;
    if (probes) {
      const Status found = co_await probe(comm, any_source, wanted);
      status = co_await receive(comm, got, found.source, found.tag);
    } else {
      status = co_await receive(comm, got, any_source, wanted);
    }
    got.resize(status.bytes / sizeof(std::int64_t));
    seen(status, got);
  }
}

}  // namespace

/// Messages between random pairs, which each receiver takes by name, from anyone, or as they come.
void Running::prepare_messages() {
  struct Sent {
    int source, destination, tag, index;
    std::size_t cells;
  };
  Draw draw = Draw(spec_.seed).with(9);
  // Tags of this operation alone: those of others on the communicator may be on their way too.
  const int tag = spec_.id % 20 * 3;
  std::vector<Sent> messages(static_cast<std::size_t>(draw.below(3 * size_ + 1)));
  for (std::size_t i = 0; i < messages.size(); ++i) {
    messages[i] = {draw.below(size_), draw.below(size_), tag + draw.below(3), static_cast<int>(i), 0};
    messages[i].cells = cells_of(static_cast<int>(i), 5);
  }
  const auto is_by_name = [&](int receiver) {
    return Draw(spec_.seed).with(10).with(static_cast<std::uint64_t>(receiver)).below(2) == 0;
  };
  struct Work {
    Side* side;
    Sent message;
  };
  auto sends = std::make_shared<std::vector<Work>>();
  auto receives = std::make_shared<std::vector<Work>>();
  auto plain = std::make_shared<std::vector<std::vector<std::int64_t>>>();
  auto plain_sends = std::make_shared<std::vector<Sent>>();
  int from_any = 0;
  for (const Sent& message : messages) {
    const bool is_named = is_by_name(message.destination);
    if (message.source == rank_) {
      if (is_named) {
        Side& side = add_regular(1, message.cells);
        fill(side, 0, rank_, message.index, false);
        sends->push_back({&side, message});
      } else {
        std::vector<std::int64_t> data(1 + message.cells % 60);
        for (std::size_t i = 0; i < data.size(); ++i)
          data[i] = i == 0 ? message.index : value(rank_, message.index, i);
        plain->push_back(std::move(data));
        plain_sends->push_back(message);
      }
    }
    if (message.destination == rank_) {
      if (!is_named) {
        ++from_any;
        continue;
      }
      Side& side = add_regular(1, message.cells);
      fill(side, 0, message.source, message.index, true);
      receives->push_back({&side, message});
    }
  }
  // Those of one source and tag stay in order.
  auto order = std::make_shared<std::vector<std::size_t>>(receives->size());
  std::iota(order->begin(), order->end(), std::size_t{0});
  draw_.shuffle(*order);
  const auto stream = [](const Work& work) { return work.message.source * 1000 + work.message.tag; };
  for (std::size_t i = 0; i < order->size(); ++i) {
    for (std::size_t j = i + 1; j < order->size(); ++j) {
      std::size_t& a = (*order)[i];
      std::size_t& b = (*order)[j];
      if (stream((*receives)[a]) == stream((*receives)[b]) && a > b) std::swap(a, b);
    }
  }
  const bool synchronous = draw.once_in(4);
  const bool probes = draw.once_in(2);
  auto left = std::make_shared<std::vector<Sent>>();
  for (const Sent& message : messages) {
    if (message.destination == rank_ && !is_by_name(rank_)) left->push_back(message);
  }
  auto wrong = std::make_shared<std::string>();
  const auto seen = [=, this](const Status& status, const std::vector<std::int64_t>& got) {
    const auto found = std::ranges::find_if(
        *left, [&](const Sent& message) { return !got.empty() && message.index == got[0]; });
    if (found == left->end()) {
      *wrong = "a message came that was not sent, or came twice";
      return;
    }
    const Sent message = *found;
    // Nothing of this source and tag may have been overtaken.
    const auto same = [&](const Sent& m) { return m.source == message.source && m.tag == message.tag; };
    if (std::ranges::find_if(*left, same) != found)
      *wrong = "messages of one source and tag are out of order";
    if (status.source != message.source || status.tag != message.tag)
      *wrong = "a status names another message";
    if (got.size() != 1 + message.cells % 60) *wrong = "a message has another size";
    for (std::size_t i = 1; i < got.size() && wrong->empty(); ++i) {
      if (got[i] != value(message.source, message.index, i)) *wrong = "a message has other data";
    }
    left->erase(found);
  };
  checks_.push_back([=] { return *wrong; });
  launch_ = [=, this](Face, std::string_view) -> Request {
    auto requests = std::make_shared<std::vector<Request>>();
    for (const std::size_t i : *order) {
      const Work& work = (*receives)[i];
      requests->push_back(comm_.ireceive(work.side->buffer(), work.message.source, work.message.tag));
    }
    for (const Work& work : *sends) {
      const ConstBuffer data = work.side->const_buffer();
      requests->push_back(synchronous ? comm_.issend(data, work.message.destination, work.message.tag)
                                      : comm_.isend(data, work.message.destination, work.message.tag));
    }
    for (std::size_t i = 0; i < plain->size(); ++i) {
      const Sent& message = (*plain_sends)[i];
      requests->push_back(comm_.isend((*plain)[i], message.destination, message.tag));
    }
    if (spec_.any_tag && from_any > 0) {
      requests->push_back(comm_.start(receive_from_any(comm_, from_any, tag, probes, true, seen)));
      return comm_.start(await_all(requests));
    }
    // One receiver for each of the tags: others' messages stay.
    for (int t = 0; t < 3 && from_any > 0; ++t) {
      const auto count = std::ranges::count_if(*left, [&](const Sent& m) { return m.tag == tag + t; });
      requests->push_back(
          comm_.start(receive_from_any(comm_, static_cast<int>(count), tag + t, probes, false, seen)));
    }
    return comm_.start(await_all(requests));
  };
}

}  // namespace wisp::test
