#include "chain/addressed_message.hpp"

#include <cstring>

#include "collectives/block_list.hpp"
#include "transport/throw_error.hpp"

namespace wisp::detail {
namespace {

/// Up to here a copy costs less than one more message.
constexpr std::size_t largest_packed = 4096;

bool is_small(std::size_t bytes) {
  return bytes <= largest_packed;
}

void ensure_bytes(ScratchVector& memory, std::size_t bytes) {
  if (memory.bytes() != bytes) memory = ScratchVector(bytes);
}

}  // namespace

void AddressedMessage::send(Posts& posts, const Link& link, const Address& to, const Address& told,
                            const std::optional<ConstBuffer>& data) {
  const std::size_t bytes = data ? bytes_of(*data) : 0;
  header_ = {told, bytes};
  if (!told.exists()) {
    if (data) posts.add(link.post_send(*data, to));
  } else if (!data) {
    posts.add(link.post_send(item(std::as_const(header_.told)), to));
  } else if (is_small(bytes)) {
    ensure_bytes(memory_, sizeof header_ + bytes);
    std::memcpy(memory_.data(), &header_, sizeof header_);
    pack(*data, TypeLayout::of(data->type), memory_.data() + sizeof header_);
    posts.add(link.post_send({memory_.data(), memory_.bytes(), MPI_BYTE}, to));
  } else {
    posts.add(link.post_send(item(std::as_const(header_)), to));
    posts.add(link.post_send(*data, to));
  }
}

void AddressedMessage::receive(Posts& posts, const Link& link, const Address& from, bool tells_address,
                               const std::optional<Buffer>& data) {
  tells_address_ = tells_address;
  data_ = data;
  const std::size_t bytes = data ? bytes_of(*data) : 0;
  is_packed_ = tells_address && data && is_small(bytes);
  operation_ = link.operation();
  from_ = from.rank;
  header_ = {};
  if (!tells_address) {
    if (data) posts.add(link.post_receive(*data, from));
  } else if (!data) {
    posts.add(link.post_receive(item(header_.told), from));
  } else if (is_packed_) {
    ensure_bytes(memory_, sizeof header_ + bytes);
    std::memcpy(memory_.data(), &header_, sizeof header_);
    posts.add(
        link.post_receive({memory_.data(), memory_.bytes(), MPI_BYTE}, from, Link::Holds::header_and_data));
  } else {
    posts.add(link.post_receive(item(header_), from));
    posts.add(link.post_receive(*data, from));
  }
}

Address AddressedMessage::open() {
  if (!tells_address_) return {};
  if (is_packed_) std::memcpy(&header_, memory_.data(), sizeof header_);
  if (!header_.told.exists() || (data_ && header_.bytes == Header().bytes)) {
    throw_error(MPI_ERR_OTHER,
                "{}: a simulated cluster carries too few bytes of a message for chains "
                "(SimulationOptions::carried_bytes)",
                operation_);
  }
  if (!is_packed_) return header_.told;
  if (header_.bytes != bytes_of(*data_))
    throw_unequal_sizes(operation_, from_, header_.bytes, bytes_of(*data_));
  unpack(memory_.data() + sizeof header_, *data_, TypeLayout::of(data_->type));
  return header_.told;
}

}  // namespace wisp::detail
