#pragma once

#include <span>
#include <vector>

#include "collectives/exchange_grid.hpp"
#include "transport/type_layout.hpp"
#include "wisp/channel.hpp"
#include "wisp/task.hpp"

/// Blocks on their way over a grid of ranks, bundled into few messages.

namespace wisp::detail {

struct Parcel {
  int way = 0;               ///< over the grid, from its sender to its receiver
  bool is_straight = false;  ///< its data go by themselves; this tells of them
  std::size_t bytes = 0;
  const std::byte* data = nullptr;
};

/// Of a block of so many bytes, straight from the threshold on. Its data are where they lie, if they have no
/// gaps, else packed in new memory.
Parcel make_parcel(int way, const ConstBuffer& block, std::size_t bytes, std::size_t threshold,
                   std::vector<ScratchVector>& memory);

/// What a bundle says of its parcels. On a grid all ranks send alike: where there is one for each way, those
/// of a bundle that comes have the ways of those that are sent.
enum class BundleHeader { none, sizes, ways_and_sizes };

std::size_t bundle_bytes(std::span<const Parcel> parcels, BundleHeader header);
/// Into as much room as it needs.
void write_bundle(std::span<const Parcel> parcels, BundleHeader header, std::span<std::byte> room);
/// The size of a bundle with a header, which its first bytes tell.
std::size_t told_bytes(const std::byte* from);
/// Appends the parcels, whose data stay where they are. `alike` has their ways, and without a header their
/// sizes. An error if they do not fit into the bundle.
void read_bundle(const std::byte* from, std::span<const Parcel> alike, BundleHeader header,
                 std::vector<Parcel>& to);

/// What has come to its receiver, and the memory in which it lies.
struct Delivered {
  std::vector<Parcel> parcels;
  std::vector<ScratchVector> memory;
};

/// Brings each parcel to the end of its way. Those of a sender for a receiver stay in order.
Task<> carry_parcels(Channel channel, ExchangeGrid grid, BundleHeader header, std::vector<Parcel> parcels,
                     Delivered& delivered);

}  // namespace wisp::detail
