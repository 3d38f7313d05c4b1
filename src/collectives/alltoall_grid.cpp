// All-to-all over a grid: blocks go together along the grid's dimensions, large ones straight.
//
//   k dimensions: k p^(1/k) α + k n β        large blocks: p α + n β, and the grid's messages without data
//
// Source: Bruck et al. 1997; Kang, Ross et al., arXiv 2411.02581

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/parcels.hpp"
#include "transport/throw_error.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {

Task<> alltoall_grid(Channel channel, BlockList send, BlockList receive, ExchangeGrid grid, bool is_regular) {
  const int size = channel.size();
  const int rank = channel.rank();
  const std::size_t threshold =
      is_regular ? std::numeric_limits<std::size_t>::max() : straight_bytes(grid.levels(), channel.machine());
  const Channel straight = channel.lane(0);
  Delivered delivered;
  std::vector<ScratchVector> unwanted;
  std::vector<std::pair<int, Posted>> due;  // large blocks, by their source
  Posts large;
  std::vector<Parcel> parcels;
  parcels.reserve(as_size(size) - 1);
  for (int way = 1; way < size; ++way) {
    const int source = grid.source(way);
    if (receive.bytes(source) < threshold) continue;
    due.emplace_back(source, straight.post_receive(receive(source), source));
  }
  for (int way = 1; way < size; ++way) {
    const int target = grid.target(way);
    const Buffer block = send(target);
    parcels.push_back(make_parcel(way, block, send.bytes(target), threshold, delivered.memory));
    if (parcels.back().is_straight) large.add(straight.post_send(block, target));
  }
  copy_block(send(rank), receive(rank));

  const BundleHeader header = is_regular ? BundleHeader::none : BundleHeader::sizes;
  co_await carry_parcels(std::move(channel), grid, header, std::move(parcels), delivered);
  // Whatever is on its way is received, and what does not come is not waited for: all ranks end, and no later
  // operation gets anything of it.
  std::optional<Parcel> wrong;
  for (const Parcel& parcel : delivered.parcels) {
    const int source = grid.source(parcel.way);
    const std::size_t expected = receive.bytes(source);
    const bool is_due = expected >= threshold;
    if (parcel.bytes != expected && !wrong) wrong = parcel;
    if (parcel.is_straight && !is_due) {
      std::byte* const room = unwanted.emplace_back(parcel.bytes).data();
      large.add(straight.post_receive({room, parcel.bytes, MPI_PACKED}, source));
    } else if (!parcel.is_straight && is_due) {
      std::erase_if(due, [&](const auto& one) { return one.first == source; });
    } else if (parcel.bytes == expected && !is_due && expected > 0) {
      unpack(parcel.data, receive(source), receive.layout(source));
    }
  }
  for (auto& [source, posted] : due) large.add(std::move(posted));
  try {
    co_await large;
  } catch (const Error&) {
    if (!wrong) throw;  // one that was too long
  }
  if (wrong) {
    const int source = grid.source(wrong->way);
    throw_error(MPI_ERR_TRUNCATE, "{}: rank {} sends {} bytes to rank {}, where {} are expected",
                straight.operation(), source, wrong->bytes, rank, receive.bytes(source));
  }
}

}  // namespace wisp::detail
