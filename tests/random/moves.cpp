// Collectives that move blocks as they are.

#include <algorithm>

#include "collectives/block_list.hpp"
#include "random/launch.hpp"

namespace wisp::test {

/// The blocks of all ranks: of one size each, or of any sizes and places.
Running::Side& Running::add_all(const std::vector<std::size_t>& cells) {
  switch (spec_.kind) {
    case Kind::gather:
    case Kind::scatter:
    case Kind::allgather:
    case Kind::alltoall:
      return add_regular(cells.size(), cells_);
    case Kind::alltoallw:
      return add_blocks(cells, Spread::by_types);
    default:
      return add_blocks(cells, Draw(spec_.seed).with(15).with(static_cast<std::uint64_t>(rank_)).once_in(3)
                                   ? Spread::together
                                   : Spread::apart);
  }
}

std::vector<std::size_t> Running::cells_of_ranks() const {
  std::vector<std::size_t> cells(static_cast<std::size_t>(size_), cells_);
  if (spec_.kind == Kind::gather || spec_.kind == Kind::scatter || spec_.kind == Kind::allgather)
    return cells;
  for (std::size_t r = 0; r < cells.size(); ++r) cells[r] = cells_of(static_cast<int>(r), 0);
  return cells;
}

void Running::prepare_bcast() {
  Side* side = &add_regular(1, cells_);
  fill(*side, 0, root_, 0, rank_ != root_);
  WISP_LAUNCH_BOTH(bcast, side->buffer(), root_);
}

void Running::prepare_gather() {
  const std::vector<std::size_t> cells = cells_of_ranks();
  const bool to_all = spec_.kind == Kind::allgather || spec_.kind == Kind::allgatherv;
  const bool receives = to_all || rank_ == root_;
  const bool in_place = receives && is_in_place();
  Side* receive = receives ? &add_all(cells) : nullptr;
  Side* send = in_place ? nullptr : &add_regular(1, cells[static_cast<std::size_t>(rank_)]);
  if (send != nullptr) fill(*send, 0, rank_, 0, false);
  for (int r = 0; r < size_ && receives; ++r) {
    fill(*receive, static_cast<std::size_t>(r), r, 0, !(in_place && r == rank_));
  }
  const ConstBuffer input = in_place ? wisp::in_place() : send->const_buffer();
  const Buffer regular = receives ? receive->buffer() : Buffer();
  const Blocks irregular = receives ? receive->blocks() : Blocks();
  switch (spec_.kind) {
    case Kind::gather:
      WISP_LAUNCH_BOTH(gather, input, regular, root_);
      return;
    case Kind::gatherv:
      WISP_LAUNCH(gatherv, input, irregular, root_);
      return;
    case Kind::allgather:
      WISP_LAUNCH_BOTH(allgather, input, regular);
      return;
    default:
      WISP_LAUNCH(allgatherv, input, irregular);
  }
}

void Running::prepare_scatter() {
  const std::vector<std::size_t> cells = cells_of_ranks();
  const bool is_root = rank_ == root_;
  const bool in_place = is_root && is_in_place();
  Side* send = is_root ? &add_all(cells) : nullptr;
  Side* receive = in_place ? nullptr : &add_regular(1, cells[static_cast<std::size_t>(rank_)]);
  for (int r = 0; r < size_ && is_root; ++r) fill(*send, static_cast<std::size_t>(r), root_, r, false);
  if (receive != nullptr) fill(*receive, 0, root_, rank_, true);
  const Buffer output = in_place ? wisp::in_place() : receive->buffer();
  if (spec_.kind == Kind::scatter) {
    WISP_LAUNCH_BOTH(scatter, is_root ? send->const_buffer() : ConstBuffer(), output, root_);
  } else {
    WISP_LAUNCH(scatterv, is_root ? send->const_blocks() : ConstBlocks(), output, root_);
  }
}

void Running::prepare_alltoall() {
  const auto ranks = static_cast<std::size_t>(size_);
  const bool in_place = is_in_place();
  std::vector<std::size_t> sent(ranks, cells_), received(ranks, cells_);
  for (int r = 0; r < size_ && spec_.kind != Kind::alltoall; ++r) {
    const auto i = static_cast<std::size_t>(r);
    // In place, what two ranks send each other has one size.
    sent[i] = in_place ? cells_of(std::min(r, rank_), std::max(r, rank_)) : cells_of(rank_, r);
    received[i] = in_place ? sent[i] : cells_of(r, rank_);
  }
  Side* receive = &add_all(received);
  Side* send = in_place ? nullptr : &add_all(sent);
  for (int r = 0; r < size_; ++r) {
    const auto block = static_cast<std::size_t>(r);
    fill(send != nullptr ? *send : *receive, block, rank_, r, false);
    fill(*receive, block, r, rank_, true);
  }
  if (spec_.kind == Kind::alltoall) {
    WISP_LAUNCH(alltoall, in_place ? wisp::in_place() : send->const_buffer(), receive->buffer());
    return;
  }
  const ConstBlocks input = in_place ? wisp::in_place() : send->const_blocks();
  if (spec_.kind == Kind::alltoallv) {
    WISP_LAUNCH(alltoallv, input, receive->blocks());
  } else {
    WISP_LAUNCH(alltoallw, input, receive->blocks());
  }
}

/// Some pairs have a block, some two.
void Running::prepare_exchange() {
  base_ = Base::int64;
  const auto blocks_of = [&](int from, int to) {
    const auto drawn = static_cast<std::uint64_t>(value(from, 2 * size_ + to, 0)) % 5;
    return drawn < 3 ? static_cast<int>(drawn) : 0;
  };
  std::vector<std::size_t> cells;
  for (int to = 0; to < size_; ++to) {
    for (int k = 0; k < blocks_of(rank_, to); ++k) cells.push_back(cells_of(rank_, 2 * to + k));
  }
  Side& send = add_blocks(cells, Spread::by_types);
  const auto blocks = detail::BlockList::irregular(send.const_blocks(), static_cast<int>(cells.size()));
  std::vector<Outgoing> messages;
  for (int to = 0; to < size_; ++to) {
    for (int k = 0; k < blocks_of(rank_, to); ++k) {
      fill(send, messages.size(), rank_, 2 * to + k, false);
      messages.push_back({to, blocks(static_cast<int>(messages.size()))});
    }
  }
  const auto arrivals = std::make_shared<Arrivals>();
  WISP_LAUNCH(exchange, messages, *arrivals);
  checks_.push_back([=, this]() -> std::string {
    std::size_t next = 0;
    for (int from = 0; from < size_; ++from) {
      for (int k = 0; k < blocks_of(from, rank_); ++k, ++next) {
        std::vector<std::int64_t> expected(cells_of(from, 2 * rank_ + k));
        for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = value(from, 2 * rank_ + k, i);
        const bool is_there = next < arrivals->size() && (*arrivals)[next].source == from;
        if (!is_there || (*arrivals)[next].as<std::int64_t>() != expected) {
          return "block " + std::to_string(k) + " of rank " + std::to_string(from) +
                 " is not what arrived as " + std::to_string(next);
        }
      }
    }
    return next == arrivals->size() ? "" : "more has arrived than was sent";
  });
}

void Running::prepare_merge() {
  base_ = Base::int64;
  const auto sequence_of = [&](int rank) {
    std::vector<std::int64_t> sequence(cells_of(rank, 0));
    for (std::size_t i = 0; i < sequence.size(); ++i) sequence[i] = value(rank, 0, i);
    std::ranges::sort(sequence);
    return sequence;
  };
  const Layout plain = layout_of(0, base_, 0, false);
  const std::vector<std::int64_t> own = sequence_of(rank_);
  Side* send = &add_side(plain, type_of(base_), own.size());
  for (std::size_t i = 0; i < own.size(); ++i) send->area.set(i, own[i]);
  std::vector<std::int64_t> all;
  for (int r = 0; r < size_; ++r) {
    for (const std::int64_t x : sequence_of(r)) all.push_back(x);
  }
  std::ranges::sort(all);
  const bool receives = spec_.kind == Kind::allgatherm || rank_ == root_;
  Side* receive = &add_side(plain, type_of(base_), receives ? all.size() : 0);
  for (std::size_t i = 0; i < receive->count; ++i) receive->area.expect(i, all[i]);
  const Merge merge = [](void* first, void* first_end, void* second, void* second_end, void* result) {
    using I = std::int64_t;
    std::merge(static_cast<I*>(first), static_cast<I*>(first_end), static_cast<I*>(second),
               static_cast<I*>(second_end), static_cast<I*>(result));
  };
  const int root = root_;
  if (spec_.kind == Kind::gatherm) {
    WISP_LAUNCH(gatherm, send->const_buffer(), receive->buffer(), root, merge);
  } else {
    WISP_LAUNCH(allgatherm, send->const_buffer(), receive->buffer(), merge);
  }
}

}  // namespace wisp::test
