// Blocks to many ranks in few messages. In each level of the grid, all parcels whose way has the same digit
// go one step together; who passes them on needs to know nothing of them.
//
//   | bytes | size size … | data data … |      k levels: k p^(1/k) messages, each block moved at most k times
//
// Bundles are of any size: the first so many bytes come at once, into room that was made for them, and say
// whether more follow.
//
// Source: Bruck et al. 1997; Kang, Ross et al., arXiv 2411.02581 (radix, sizes with the data)

#include "collectives/parcels.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "pattern/packed_number.hpp"
#include "transport/device_memory.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {
namespace {

[[noreturn]] void throw_damaged() {
  throw Error(MPI_ERR_OTHER,
              "wisp: a bundle of blocks is damaged: ranks have named different algorithms, or a simulated "
              "cluster carries too few bytes of a message (SimulationOptions::carried_bytes)");
}

std::uint64_t read_number(const std::byte*& from, const std::byte* end) {
  std::byte last{};
  const std::uint64_t number = read_packed([&] {
    if (from == end) throw_damaged();
    return last = *from++;
  });
  if (last >= std::byte{128}) throw_damaged();
  return number;
}

std::size_t carried_bytes(const Parcel& parcel) {
  return parcel.is_straight ? 0 : parcel.bytes;
}

/// The numbers of a header, one after the other.
template <class Put>
void tell(std::span<const Parcel> parcels, BundleHeader header, Put put) {
  if (header == BundleHeader::ways_and_sizes) put(parcels.size());
  int before = 0;
  for (const Parcel& parcel : parcels) {
    if (header == BundleHeader::ways_and_sizes) put(without_sign(parcel.way - before));
    before = parcel.way;
    put(std::uint64_t{parcel.bytes} << 1 | (parcel.is_straight ? 1U : 0U));
  }
}

/// Room for the first part of a bundle of which only the parcels are known, or not even those.
std::size_t first_room(std::size_t parcels, BundleHeader header) {
  constexpr std::size_t least = 1024;
  constexpr std::size_t of_parcel = 16;
  return header == BundleHeader::sizes ? least + of_parcel * parcels : least;
}

/// Parcels in the order of a digit of their ways.
struct Sorted {
  std::vector<Parcel> parcels;
  std::vector<std::size_t> begins;

  Sorted(const std::vector<Parcel>& of, const ExchangeGrid& grid, int level)
      : parcels(of.size()), begins(as_size(grid.digits(level)) + 2) {
    const auto digit = [&](const Parcel& parcel) { return as_size(grid.digit(parcel.way, level)); };
    for (const Parcel& parcel : of) ++begins[digit(parcel) + 2];
    for (std::size_t i = 2; i < begins.size(); ++i) begins[i] += begins[i - 1];
    for (const Parcel& parcel : of) parcels[begins[digit(parcel) + 1]++] = parcel;
  }
  std::span<const Parcel> operator[](int digit) const {
    const std::size_t begin = begins[as_size(digit)];
    return std::span(parcels).subspan(begin, begins[as_size(digit) + 1] - begin);
  }
};

/// A bundle that comes in.
struct Incoming {
  ScratchVector memory;
  std::size_t room;
};

}  // namespace

Parcel make_parcel(int way, const ConstBuffer& block, std::size_t bytes, std::size_t threshold,
                   std::vector<ScratchVector>& memory) {
  Parcel parcel{way, bytes >= threshold, bytes};
  if (parcel.is_straight || bytes == 0) return parcel;
  const TypeLayout layout = TypeLayout::of(block.type);
  if (layout.contiguous && !is_of_device(block.address)) {
    parcel.data = static_cast<const std::byte*>(block.address) + layout.true_lower;
  } else {
    ScratchVector& packed = memory.emplace_back(bytes);
    pack(block, layout, packed.data());
    parcel.data = packed.data();
  }
  return parcel;
}

std::size_t bundle_bytes(std::span<const Parcel> parcels, BundleHeader header) {
  std::size_t bytes = 0;
  for (const Parcel& parcel : parcels) bytes += carried_bytes(parcel);
  if (header == BundleHeader::none) return bytes;
  tell(parcels, header, [&](std::uint64_t number) { bytes += packed_bytes(number); });
  return sizeof(std::uint64_t) + bytes;
}

void write_bundle(std::span<const Parcel> parcels, BundleHeader header, std::span<std::byte> room) {
  std::byte* to = room.data();
  if (header != BundleHeader::none) {
    const std::uint64_t bytes = room.size();
    std::memcpy(to, &bytes, sizeof(bytes));
    to += sizeof(bytes);
    tell(parcels, header, [&](std::uint64_t number) { to = write_packed(to, number); });
  }
  for (const Parcel& parcel : parcels) to = std::copy_n(parcel.data, carried_bytes(parcel), to);
}

std::size_t told_bytes(const std::byte* from) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, from, sizeof(bytes));
  return bytes;
}

void read_bundle(const std::byte* from, std::span<const Parcel> alike, BundleHeader header,
                 std::vector<Parcel>& to) {
  const std::size_t first = to.size();
  if (header == BundleHeader::none) {
    to.insert(to.end(), alike.begin(), alike.end());
  } else {
    const std::size_t bytes = told_bytes(from);
    const std::byte* const end = from + bytes;
    if (bytes < sizeof(std::uint64_t)) throw_damaged();
    from += sizeof(std::uint64_t);
    const bool has_ways = header == BundleHeader::ways_and_sizes;
    const std::size_t parcels = has_ways ? read_number(from, end) : alike.size();
    int way = 0;
    for (std::size_t i = 0; i < parcels; ++i) {
      way = has_ways ? way + static_cast<int>(with_sign(read_number(from, end))) : alike[i].way;
      const std::uint64_t size = read_number(from, end);
      to.push_back({way, (size & 1) != 0, size >> 1});
    }
    auto left = static_cast<std::size_t>(end - from);
    for (std::size_t i = first; i < to.size(); ++i) {
      if (carried_bytes(to[i]) > left) throw_damaged();
      left -= carried_bytes(to[i]);
    }
    if (left != 0) throw_damaged();
  }
  for (std::size_t i = first; i < to.size(); ++i) {
    to[i].data = from;
    from += carried_bytes(to[i]);
  }
}

Task<> carry_parcels(Channel channel, ExchangeGrid grid, BundleHeader header, std::vector<Parcel> parcels,
                     Delivered& delivered) {
  for (int level = grid.levels() - 1; level >= 0; --level) {
    const int step = grid.step(level);
    const Sorted sorted(std::exchange(parcels, {}), grid, level);
    std::vector<Incoming> incoming;
    std::vector<ScratchVector> outgoing;
    Posts firsts;
    Posts rests;
    for (int digit = 1; digit < grid.digits(level); ++digit) {
      const std::size_t room = header == BundleHeader::none ? bundle_bytes(sorted[digit], header)
                                                            : first_room(sorted[digit].size(), header);
      Incoming& one = incoming.emplace_back(Incoming{ScratchVector(room), room});
      if (header != BundleHeader::none) std::memset(one.memory.data(), 0, sizeof(std::uint64_t));
      firsts.add(
          channel.post_receive_up_to({one.memory.data(), room, MPI_PACKED}, grid.source(digit * step)));
    }
    for (int digit = 1; digit < grid.digits(level); ++digit) {
      const std::size_t bytes = bundle_bytes(sorted[digit], header);
      const std::size_t first = std::min(bytes, incoming[as_size(digit) - 1].room);
      const int target = grid.target(digit * step);
      ScratchVector& bundle = outgoing.emplace_back(bytes);
      write_bundle(sorted[digit], header, {bundle.data(), bytes});
      const std::byte* rest = bundle.data() + first;
      if (bytes == first) {
        firsts.add(channel.post_send_packed(bundle, bytes, target));
      } else {
        firsts.add(channel.post_send({bundle.data(), first, MPI_PACKED}, target));
        rests.add(channel.post_send({rest, bytes - first, MPI_PACKED}, target));
      }
    }
    co_await firsts;
    for (int digit = 1; digit < grid.digits(level) && header != BundleHeader::none; ++digit) {
      auto& [memory, room] = incoming[as_size(digit) - 1];
      const std::size_t bytes = told_bytes(memory.data());
      if (bytes <= room) continue;
      ScratchVector whole(bytes);
      std::copy_n(memory.data(), room, whole.data());
      memory.swap(whole);
      rests.add(
          channel.post_receive({memory.data() + room, bytes - room, MPI_PACKED}, grid.source(digit * step)));
    }
    co_await rests;

    parcels.assign(sorted[0].begin(), sorted[0].end());
    for (int digit = 1; digit < grid.digits(level); ++digit) {
      ScratchVector& memory = incoming[as_size(digit) - 1].memory;
      read_bundle(memory.data(), sorted[digit], header, parcels);
      delivered.memory.push_back(std::move(memory));
    }
    const auto arrived = [&](const Parcel& parcel) { return grid.ends(parcel.way, level); };
    std::ranges::copy_if(parcels, std::back_inserter(delivered.parcels), arrived);
    std::erase_if(parcels, arrived);
  }
}

}  // namespace wisp::detail
