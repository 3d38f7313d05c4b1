#pragma once

#include <cstdint>
#include <optional>

#include "chain/link.hpp"

namespace wisp::detail {

/// An address and data on their way to or from one process. Small data lie behind the address, and their
/// size, in one message; larger ones go alone, so that they are not copied. What there is not (no address, no
/// data) is not sent; both sides know it, and the size of the data: another one is an error.
class AddressedMessage {
 public:
  // It and the data are needed, where they are, until the messages are done.
  void send(Posts& posts, const Link& link, const Address& to, const Address& told,
            const std::optional<ConstBuffer>& data);
  void receive(Posts& posts, const Link& link, const Address& from, bool tells_address,
               const std::optional<Buffer>& data);
  /// After a receive is done: the address, if one was to come. The data are where they belong then.
  Address open();

 private:
  struct Header {
    Address told;
    std::uint64_t bytes = ~std::uint64_t{0};  ///< of the data; before they come, too many
  };
  static_assert(sizeof(Header) == header_bytes);

  ScratchVector memory_;
  Header header_;
  std::optional<Buffer> data_;  ///< of a receive, where what lies in `memory_` belongs
  const char* operation_ = "";
  int from_ = -1;
  bool tells_address_ = false;
  bool is_packed_ = false;
};

}  // namespace wisp::detail
