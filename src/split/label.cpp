#include <algorithm>
#include <bit>

#include "transport/throw_error.hpp"
#include "wisp/split.hpp"

// Numbers as bytes in whose lexicographic order they are ordered as numbers: the most significant byte first,
// and the sign so that negative ones come first.

namespace wisp {
namespace {

constexpr std::byte sign_bit{0x80};

/// -0 becomes 0, and every NaN the same one, behind all other numbers.
template <class T>
void make_canonical(std::byte* number) {
  T value;
  std::memcpy(&value, number, sizeof value);
  if (value == 0) value = 0;
  std::memcpy(number, &value, sizeof value);
  if (value != value) {
    std::fill_n(number, sizeof value, std::byte{0xff});
    number[std::endian::native == std::endian::little ? sizeof value - 1 : 0] = std::byte{0x7f};
  }
}

void order_number(std::byte* number, std::size_t width, Label::Kind kind) {
  if constexpr (std::endian::native == std::endian::little) std::reverse(number, number + width);
  if (kind == Label::Kind::signed_numbers) number[0] ^= sign_bit;
  if (kind == Label::Kind::floating_numbers) {
    // Of negative numbers the larger magnitude comes first.
    const bool is_negative = (number[0] & sign_bit) != std::byte{};
    if (is_negative) std::transform(number, number + width, number, [](std::byte b) { return ~b; });
    if (!is_negative) number[0] ^= sign_bit;
  }
}

}  // namespace

Label::Label(Kind kind, const void* data, std::size_t count, std::size_t width)
    : kind_(kind), width_(width), bytes_(count * width) {
  const bool is_of_floats = width == sizeof(float) || width == sizeof(double);
  if (kind == Kind::floating_numbers ? !is_of_floats : width == 0) {
    detail::throw_error(MPI_ERR_ARG, "wisp::Label: width = {} is none of such numbers", width);
  }
  if (data == nullptr && !bytes_.empty())
    detail::throw_error(MPI_ERR_ARG, "wisp::Label: data is null for {} numbers", count);
  if (!bytes_.empty()) std::memcpy(bytes_.data(), data, bytes_.size());
  if (kind_ == Kind::floating_numbers) unify_equal_numbers();
}

void Label::unify_equal_numbers() {
  for (std::size_t at = 0; at < bytes_.size(); at += width_) {
    std::byte* number = bytes_.data() + at;
    width_ == sizeof(float) ? make_canonical<float>(number) : make_canonical<double>(number);
  }
}

std::vector<std::byte> Label::ordered_bytes(const char* call, const char* argument) const {
  if (kind_ == Kind::padded) {
    detail::throw_error(MPI_ERR_ARG,
                        "{}: the type of {} has padding or bytes that do not say all: give an Order", call,
                        argument);
  }
  std::vector<std::byte> ordered = bytes_;
  if (kind_ == Kind::text || kind_ == Kind::bytes) return ordered;
  for (std::size_t at = 0; at < ordered.size(); at += width_)
    order_number(ordered.data() + at, width_, kind_);
  return ordered;
}

void Order::throw_size_error(std::size_t bytes, std::size_t expected) {
  detail::throw_error(MPI_ERR_ARG, "wisp::Order: a label has {} bytes, but the order is of values of {}",
                      bytes, expected);
}

}  // namespace wisp
