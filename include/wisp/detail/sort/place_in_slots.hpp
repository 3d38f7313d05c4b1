#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "wisp/channel.hpp"
#include "wisp/detail/balance.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

/// Sends elements on, in their order, to the ranks whose slots they fill; `before` are on lower ranks.
/// Messages begin with the first slot, so they are received from whoever sends first: nobody needs to know
/// from whom. The last of a channel, for later messages from anybody could be taken for these.
template <class T>
Task<> place_in_slots(Channel channel, Balance balance, std::vector<T>& data, Slot before) {
  const Channel lane = channel.lane(0);
  const Interval own = balance.slots(channel.rank());
  const Interval filled{before, before + data.size()};
  std::vector<T> placed(own.size());
  std::vector<std::vector<std::byte>> messages;
  Slot missing = own.size();
  Posts sends;
  for (Slot first = filled.first; first < filled.last;) {
    const int target = balance.owner(first);
    const Slot last = std::min(filled.last, balance.slots(target).last);
    const auto piece = std::span<const T>(data).subspan(first - filled.first, last - first);
    if (target == channel.rank()) {
      std::copy(piece.begin(), piece.end(), placed.begin() + static_cast<std::ptrdiff_t>(first - own.first));
      missing -= piece.size();
    } else {
      std::vector<std::byte>& message = messages.emplace_back(sizeof(Slot) + piece.size_bytes());
      std::memcpy(message.data(), &first, sizeof(Slot));
      std::memcpy(message.data() + sizeof(Slot), piece.data(), piece.size_bytes());
      sends.add(lane.post_send({message.data(), message.size(), MPI_BYTE}, target));
    }
    first = last;
  }
  std::vector<std::byte> message(missing == 0 ? 0 : sizeof(Slot) + missing * sizeof(T));
  while (missing > 0) {
    const Posted receive = lane.post_receive_from_any({message.data(), message.size(), MPI_BYTE});
    const Envelope envelope = co_await receive;
    const std::size_t bytes = envelope.bytes - sizeof(Slot);
    Slot first = 0;
    std::memcpy(&first, message.data(), sizeof(Slot));
    std::memcpy(placed.data() + (first - own.first), message.data() + sizeof(Slot), bytes);
    missing -= bytes / sizeof(T);
  }
  co_await sends;
  data = std::move(placed);
}

}  // namespace wisp::detail
