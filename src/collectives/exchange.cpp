// Blocks to ranks that do not know of them, in two ways.
//
//   consensus   each block by itself, in a message that tells its sender when it was received. Whose messages
//               were all received begins a barrier; when that ends, nothing is on its way any more. Another
//               barrier: all have heard of it.              m partners:  2 m o + (2 + 2 ⌈log2 p⌉) α + n β
//   grid        blocks in bundles over a grid of k dimensions, however few or many partners a rank has; large
//               ones are told of there, and go straight          k p^(1/k) o + k (α + n β)
//
// Memory: of its partners, and in the grid of what passes a rank on its way; nothing for each of p ranks.
//
// Source: Hoefler, Siebert, Lumsdaine 2010, section 4 (NBX)

#include <algorithm>
#include <vector>

#include "collectives/checks.hpp"
#include "collectives/collective.hpp"
#include "collectives/parcels.hpp"
#include "collectives/two_level.hpp"
#include "wisp/detail/channel_collectives.hpp"
#include "wisp/exchange.hpp"

namespace wisp {

void Arrivals::sort() {
  std::ranges::stable_sort(blocks_, {}, &Block::source);
}

namespace detail {

void unpack_elements(const std::byte* from, const Buffer& to) {
  unpack(from, to, TypeLayout::of(to.type));
}

/// Whoever receives, until nothing comes any more. (Coroutines hold it: it has a name for all files.)
struct Listening {
  Posted probe;
  bool is_over = false;

  void end() {
    is_over = true;
    probe.cancel();
  }
};

namespace {

using T = const Terms&;

constexpr double typical_partners = 6;

Task<> receive_all(Channel lane, Listening& listening, Arrivals& arrivals) {
  Posts receives;
  while (!listening.is_over) {
    listening.probe = lane.post_probe_any();
    const Envelope found = co_await listening.probe;
    if (listening.is_over) break;  // cancelled: all that was sent has been found before
    const int source = lane.source_of(found);
    std::byte* const block = arrivals.add(source, found.bytes);
    receives.add(lane.post_receive({block, found.bytes, MPI_PACKED}, source));
  }
  co_await receives;
}

Task<> agree_on_end(Channel channel, Posts& sends, Listening& listening) {
  try {
    co_await sends;
    co_await barrier_on(std::move(channel));
  } catch (...) {
    listening.end();
    throw;
  }
  listening.end();
}

void take_own(const Outgoing& message, int rank, Arrivals& arrivals) {
  std::byte* const block = arrivals.add(rank, bytes_of(message.block));
  if (block != nullptr) pack(message.block, TypeLayout::of(message.block.type), block);
}

using More = std::shared_ptr<const Arguments::More>;

Task<> exchange_by_consensus(Channel channel, More given) {
  const Channel lane = channel.lane(0);
  Arrivals& arrivals = *given->arrivals;
  arrivals.clear();
  Posts sends;
  for (const Outgoing& message : given->messages) {
    if (message.destination == channel.rank()) {
      take_own(message, channel.rank(), arrivals);
    } else {
      sends.add(lane.post_ssend(message.block, message.destination));
    }
  }
  Listening listening;
  co_await when_all(receive_all(lane, listening, arrivals), agree_on_end(channel, sends, listening));
  arrivals.sort();
  // Tags come back: who has not heard of the end must not take a later one's messages for this one's.
  co_await barrier_on(channel);
}

Task<> exchange_over_grid(Channel channel, ExchangeGrid grid, More given) {
  const std::size_t threshold = straight_bytes(grid.levels(), channel.machine());
  const Channel straight = channel.lane(0);
  Arrivals& arrivals = *given->arrivals;
  arrivals.clear();
  Delivered delivered;
  Posts large;
  std::vector<Parcel> parcels;
  for (const Outgoing& message : given->messages) {
    const int way = grid.way_to(message.destination);
    if (way == 0) {
      take_own(message, channel.rank(), arrivals);
      continue;
    }
    parcels.push_back(make_parcel(way, message.block, bytes_of(message.block), threshold, delivered.memory));
    if (parcels.back().is_straight) large.add(straight.post_send(message.block, message.destination));
  }
  co_await carry_parcels(std::move(channel), grid, BundleHeader::ways_and_sizes, std::move(parcels),
                         delivered);
  for (const Parcel& parcel : delivered.parcels) {
    const int source = grid.source(parcel.way);
    std::byte* const block = arrivals.add(source, parcel.bytes);
    if (parcel.is_straight) {
      large.add(straight.post_receive({block, parcel.bytes, MPI_PACKED}, source));
    } else {
      std::copy_n(parcel.data, parcel.bytes, block);
    }
  }
  co_await large;
  arrivals.sort();
}

Cost consensus_cost(T t) {
  const double partners = std::min(typical_partners, t.p - 1);
  const double startups = 2 * partners + 2 * t.log2;
  const double bytes = partners * typical_block;
  return {startups,
          bytes,
          steps_of_all(t.machine, 4, turns_of_all) + 2 * t.log2,
          t.p * startups,
          t.p * bytes,
          exchange_seconds(t.machine, 2 * partners, typical_block) + t.path(1 + 2 * t.log2, 0)};
}
/// What a rank has on its way at a time, for each rank.
double bytes_of_few(int ranks) {
  return typical_partners * typical_block / ranks;
}

Cost sparse_grid_cost(T t) {
  const double bytes = bytes_of_few(t.of.ranks);
  return cost_of_grid(cheapest_grid(t.of.ranks, t.machine, bytes), t.machine, bytes);
}
Task<> run_sparse_grid(Channel&& channel, const Arguments& given) {
  const RadixGrid grid = cheapest_grid(channel.size(), channel.machine(), bytes_of_few(channel.size()));
  const ExchangeGrid ring(channel.rank(), grid);
  return exchange_over_grid(std::move(channel), ring, given.more);
}

Cost sparse_two_level_cost(T t) {
  const double bytes = bytes_of_few(t.of.ranks);
  return {.seconds = seconds_of(cheapest_node_grids(t.of.nodes, t.machine, bytes), t.machine, bytes)};
}
Task<> run_sparse_two_level(Channel&& channel, const Arguments& given) {
  const NodeGrids grids =
      cheapest_node_grids(given.nodes->shape(), channel.machine(), bytes_of_few(channel.size()));
  const ExchangeGrid grid(given.nodes, channel.rank(), grids);
  return exchange_over_grid(std::move(channel), grid, given.more);
}

constexpr Algorithm exchange_algorithms[] = {
    {"grid", sparse_grid_cost, run_sparse_grid},
    {"consensus", consensus_cost,
     [](Channel&& channel, const Arguments& given) {
       return exchange_by_consensus(std::move(channel), given.more);
     }},
    {two_level_name, sparse_two_level_cost, run_sparse_two_level, is_even}};

}  // namespace

constinit const Collective exchange_row{"exchange", exchange_algorithms};

}  // namespace detail

Operation exchange(const Comm& comm, std::span<const Outgoing> messages, Arrivals& arrivals,
                   const CollectiveOptions& options) {
  detail::Call call = detail::call_on(comm, "wisp::exchange");
  for (const Outgoing& message : messages) {
    detail::check_within(MPI_ERR_RANK, call.name, "destination", message.destination, 0, comm.size() - 1);
    detail::check_buffer(call.name, "block", message.block);
  }
  detail::Arguments::More& more = call.more();
  more.messages.assign(messages.begin(), messages.end());
  more.arrivals = &arrivals;
  return detail::make_operation(comm, detail::exchange_row, options, std::move(call));
}

}  // namespace wisp
