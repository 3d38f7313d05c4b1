#include <array>

#include "wisp/detail/channel_collectives.hpp"
#include "wisp/detail/sort/pieces.hpp"
#include "wisp/detail/sort/string_run.hpp"

namespace wisp::detail {

StringMerger ReceivedStrings::merge() const {
  std::vector<StringReader> readers;
  for (std::size_t i = 0; i + 1 < begins.size(); ++i)
    readers.emplace_back(std::span(coded).subspan(begins[i], begins[i + 1] - begins[i]));
  return StringMerger(std::move(readers));
}

Task<ReceivedStrings> exchange_strings(Channel channel, const StringRuns& runs, std::vector<Slot> first,
                                       std::vector<Slot> last) {
  using Sizes = std::array<std::size_t, 2>;  // of a first string, and of the rest
  ReceivedStrings received;
  std::vector<StringStretch> stretches;
  std::vector<Sizes> sizes_sent;
  std::vector<Sizes> sizes(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    stretches.push_back(stretch_of(runs.runs[i % runs.runs.size()], first[i], last[i]));
    sizes_sent.push_back({stretches.back().head.size(), stretches.back().rest.size()});
  }
  co_await alltoall_on(channel, {sizes_sent.data(), sizes_sent.size() * sizeof(Sizes), MPI_BYTE},
                       {sizes.data(), sizes.size() * sizeof(Sizes), MPI_BYTE});
  for (const Sizes& size : sizes) received.begins.push_back(received.begins.back() + size[0] + size[1]);
  received.coded.resize(received.begins.back());
  std::vector<OutgoingPiece> outgoing;
  std::vector<IncomingPiece> incoming;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const int rank = static_cast<int>(i / runs.runs.size());
    outgoing.push_back({rank, stretches[i].head});
    outgoing.push_back({rank, stretches[i].rest});
    const std::span<std::byte> room = std::span(received.coded).subspan(received.begins[i]);
    incoming.push_back({rank, room.first(sizes[i][0])});
    incoming.push_back({rank, room.subspan(sizes[i][0], sizes[i][1])});
  }
  co_await exchange_pieces(channel, std::move(outgoing), std::move(incoming));
  co_return received;
}

}  // namespace wisp::detail
