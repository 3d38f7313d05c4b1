#pragma once

#include <algorithm>

#include "transport/type_layout.hpp"

namespace wisp::detail {

/// A vector as the bytes of its type signature, which all ranks cut alike: counts and datatypes may differ
/// from rank to rank, only the signature is the same. In place if the bytes lie in order, else packed.
class SignatureBytes {
 public:
  enum class Data { here, to_come };

  /// As many pieces as are not empty.
  static std::size_t most_pieces(std::size_t bytes) { return (bytes + line - 1) / line; }

  SignatureBytes(const Buffer& vector, Data data, int pieces)
      : vector_(vector),
        layout_(TypeLayout::of(vector.type)),
        bytes_(vector.count * layout_.size),
        lines_(most_pieces(bytes_), pieces) {
    if (layout_.contiguous) return;
    packed_ = ScratchVector(bytes_);
    if (data == Data::here) pack(vector, layout_, packed_.data());
  }

  Buffer piece(int which) const {
    const std::size_t begin = begin_of(which);
    std::byte* all = layout_.contiguous ? static_cast<std::byte*>(vector_.address) : packed_.data();
    return {all + begin, begin_of(which + 1) - begin, MPI_BYTE};
  }

  /// What has come goes to its place.
  void unpack_received() const {
    if (!layout_.contiguous) unpack(packed_.data(), vector_, layout_);
  }

 private:
  static constexpr std::size_t line = 64;  // so that pieces begin where copies are fast

  std::size_t begin_of(int piece) const { return std::min(bytes_, lines_.begin(piece) * line); }

  Buffer vector_;
  TypeLayout layout_;
  std::size_t bytes_;
  Balance lines_;
  ScratchVector packed_;
};

}  // namespace wisp::detail
