// All-to-all over a grid: blocks go together along the grid's dimensions, large ones straight.
//
//   k dimensions: k p^(1/k) α + k n β        large blocks: p α + n β, and the grid's messages without data
//
// Source: Bruck et al. 1997; Kang, Ross et al., arXiv 2411.02581

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/parcels.hpp"
#include "pattern/ring.hpp"
#include "transport/throw_error.hpp"

namespace wisp::detail {

Task<> alltoall_grid(Channel channel, BlockList send, BlockList receive, RadixGrid grid, bool is_regular) {
  const int size = channel.size();
  const int rank = channel.rank();
  const std::size_t threshold =
      is_regular ? std::numeric_limits<std::size_t>::max() : straight_bytes(grid, channel.world().machine());
  const Channel straight = channel.lane(0);
  Posts large;
  std::vector<ScratchVector> unwanted;
  Delivered delivered;
  std::vector<Parcel> parcels;
  parcels.reserve(as_size(size) - 1);
  for (int way = 1; way < size; ++way) {
    const int target = ring_next(rank, way, size);
    const std::size_t bytes = send.bytes(target);
    const bool is_straight = bytes >= threshold;
    if (is_straight) large.add(straight.post_send(send(target), target));
    parcels.push_back({way, is_straight, bytes,
                       is_straight ? nullptr : packed_data(send(target), bytes, delivered.memory)});
  }
  copy_block(send(rank), receive(rank));
  const BundleHeader header = is_regular ? BundleHeader::none : BundleHeader::sizes;
  co_await carry_parcels(std::move(channel), grid, header, std::move(parcels), delivered);
  std::optional<Parcel> wrong;
  for (const Parcel& parcel : delivered.parcels) {
    const int source = ring_previous(rank, parcel.way, size);
    const bool fits = parcel.bytes == receive.bytes(source);
    if (!fits && !wrong) wrong = parcel;
    if (parcel.is_straight) {
      // Received in any case: nobody waits for ever, and no later operation gets it.
      const Buffer to = fits ? receive(source)
                             : Buffer(unwanted.emplace_back(parcel.bytes).data(), parcel.bytes, MPI_PACKED);
      large.add(straight.post_receive(to, source));
    } else if (fits && parcel.bytes > 0) {
      unpack(parcel.data, receive(source), receive.layout(source));
    }
  }
  co_await large;
  if (wrong) {
    const int source = ring_previous(rank, wrong->way, size);
    throw_error(MPI_ERR_TRUNCATE, "{}: rank {} sends {} bytes to rank {}, where {} are expected",
                straight.operation(), source, wrong->bytes, rank, receive.bytes(source));
  }
}

}  // namespace wisp::detail
