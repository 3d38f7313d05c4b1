#include "chain/addressed_message.hpp"

#include <cstring>

#include "collectives/block_list.hpp"

namespace wisp::detail {
namespace {

/// Up to here a copy costs less than one more message.
constexpr std::size_t largest_packed = 4096;

bool is_small(std::size_t bytes) {
  return bytes > 0 && bytes <= largest_packed;
}

void ensure_bytes(ScratchVector& memory, std::size_t bytes) {
  if (memory.bytes() != bytes) memory = ScratchVector(bytes);
}

}  // namespace

void AddressedMessage::send(Posts& posts, const Link& link, const Address& to, const Address& told,
                            const ConstBuffer& data) {
  const std::size_t bytes = bytes_of(data);
  address_ = told;
  if (told.exists() && is_small(bytes)) {
    ensure_bytes(memory_, sizeof told + bytes);
    std::memcpy(memory_.data(), &told, sizeof told);
    pack(data, TypeLayout::of(data.type), memory_.data() + sizeof told);
    posts.add(link.post_send({memory_.data(), memory_.bytes(), MPI_BYTE}, to));
    return;
  }
  if (told.exists()) posts.add(link.post_send(item(std::as_const(address_)), to));
  if (bytes > 0) posts.add(link.post_send(data, to));
}

void AddressedMessage::receive(Posts& posts, const Link& link, const Address& from, bool tells_address,
                               const Buffer& data) {
  const std::size_t bytes = bytes_of(data);
  tells_address_ = tells_address;
  is_packed_ = tells_address && is_small(bytes);
  data_ = data;
  if (is_packed_) {
    ensure_bytes(memory_, sizeof(Address) + bytes);
    posts.add(link.post_receive({memory_.data(), memory_.bytes(), MPI_BYTE}, from));
    return;
  }
  if (tells_address) posts.add(link.post_receive(item(address_), from));
  if (bytes > 0) posts.add(link.post_receive(data, from));
}

Address AddressedMessage::open() {
  if (!tells_address_) return {};
  if (!is_packed_) return address_;
  Address told;
  std::memcpy(&told, memory_.data(), sizeof told);
  unpack(memory_.data() + sizeof told, data_, TypeLayout::of(data_.type));
  return told;
}

}  // namespace wisp::detail
