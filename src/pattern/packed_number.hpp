#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wisp::detail {

// Numbers in as few bytes as they need: seven bits in each, the lowest first; all but the last have the
// eighth.

constexpr std::size_t packed_bytes(std::uint64_t number) {
  std::size_t bytes = 1;
  while (number >>= 7) ++bytes;
  return bytes;
}

inline std::byte* write_packed(std::byte* to, std::uint64_t number) {
  for (; number >= 128; number >>= 7) *to++ = static_cast<std::byte>(number | 128);
  *to++ = static_cast<std::byte>(number);
  return to;
}

inline void append_packed(std::vector<std::byte>& to, std::uint64_t number) {
  for (; number >= 128; number >>= 7) to.push_back(static_cast<std::byte>(number | 128));
  to.push_back(static_cast<std::byte>(number));
}

/// `next()` gives a byte.
template <class Next>
std::uint64_t read_packed(Next next) {
  auto byte = static_cast<std::uint64_t>(next());
  std::uint64_t number = byte & 127;
  for (int shift = 7; byte >= 128 && shift < 64; shift += 7) {
    byte = static_cast<std::uint64_t>(next());
    number |= (byte & 127) << shift;
  }
  return number;
}

/// Small numbers of either sign as small numbers without one: 0, -1, 1, -2, …
constexpr std::uint64_t without_sign(std::int64_t number) {
  return static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63);
}
constexpr std::int64_t with_sign(std::uint64_t number) {
  return static_cast<std::int64_t>(number >> 1) ^ -static_cast<std::int64_t>(number & 1);
}

}  // namespace wisp::detail
