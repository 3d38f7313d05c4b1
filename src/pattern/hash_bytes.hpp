#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wisp/detail/mix.hpp"

namespace wisp::detail {

/// A hash of bytes, eight at a time; those of one length and of another differ as well.
constexpr std::uint64_t hash_bytes(std::span<const std::byte> bytes) {
  std::uint64_t hash = mix(bytes.size());
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    word = word << 8 | std::to_integer<std::uint64_t>(bytes[i]);
    if (i % 8 == 7 || i + 1 == bytes.size()) hash = mix(hash ^ word) + word;
    if (i % 8 == 7) word = 0;
  }
  return hash;
}

}  // namespace wisp::detail
