#pragma once

#include <mpi.h>

#include <complex>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>
#include <type_traits>

namespace wisp {

template <class T>
concept HasDatatype = std::is_arithmetic_v<T> || std::same_as<T, std::byte> ||
    std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

/// The MPI datatype of a C++ arithmetic, byte or complex type.
template <HasDatatype T>
MPI_Datatype datatype_of() {
  if constexpr (std::same_as<T, std::byte>)
    return MPI_BYTE;
  else if constexpr (std::same_as<T, char>)
    return MPI_CHAR;
  else if constexpr (std::same_as<T, wchar_t>)
    return MPI_WCHAR;
  else if constexpr (std::same_as<T, bool>)
    return MPI_CXX_BOOL;
  else if constexpr (std::same_as<T, float>)
    return MPI_FLOAT;
  else if constexpr (std::same_as<T, double>)
    return MPI_DOUBLE;
  else if constexpr (std::same_as<T, long double>)
    return MPI_LONG_DOUBLE;
  else if constexpr (std::same_as<T, std::complex<float>>)
    return MPI_C_FLOAT_COMPLEX;
  else if constexpr (std::same_as<T, std::complex<double>>)
    return MPI_C_DOUBLE_COMPLEX;
  else if constexpr (std::same_as<T, long>)
    return MPI_LONG;
  else if constexpr (std::same_as<T, unsigned long>)
    return MPI_UNSIGNED_LONG;
  else if constexpr (std::same_as<T, long long>)
    return MPI_LONG_LONG;
  else if constexpr (std::same_as<T, unsigned long long>)
    return MPI_UNSIGNED_LONG_LONG;
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? MPI_INT : MPI_UNSIGNED;
  else if constexpr (sizeof(T) == 2)
    return std::is_signed_v<T> ? MPI_INT16_T : MPI_UINT16_T;
  else
    return std::is_signed_v<T> ? MPI_INT8_T : MPI_UINT8_T;
}

/// `count` elements of an MPI datatype at `address`, to be read. Made implicitly from contiguous ranges
/// (std::span, std::vector, std::array) of types that have a datatype; their count is the whole range.
struct ConstBuffer {
  const void* address = nullptr;
  std::size_t count = 0;
  MPI_Datatype type = MPI_BYTE;

  ConstBuffer() = default;
  ConstBuffer(const void* first, std::size_t elements, MPI_Datatype datatype)
      : address(first), count(elements), type(datatype) {}
  template <std::ranges::contiguous_range R>
  requires HasDatatype<std::ranges::range_value_t<R>> ConstBuffer(
      const R& range)  // NOLINT(google-explicit-constructor): a range is a buffer
      : address(std::ranges::data(range)),
        count(std::ranges::size(range)),
        type(datatype_of<std::ranges::range_value_t<R>>()) {}
};

/// The same, to be written.
struct Buffer {
  void* address = nullptr;
  std::size_t count = 0;
  MPI_Datatype type = MPI_BYTE;

  Buffer() = default;
  Buffer(void* first, std::size_t elements, MPI_Datatype datatype)
      : address(first), count(elements), type(datatype) {}
  template <std::ranges::contiguous_range R>
  requires HasDatatype<std::ranges::range_value_t<R>> &&
      (!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>)
          Buffer(R&& range)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : address(std::ranges::data(range)),
        count(std::ranges::size(range)),
        type(datatype_of<std::ranges::range_value_t<R>>()) {}

  operator ConstBuffer() const { return {address, count, type}; }  // NOLINT(google-explicit-constructor)
};

/// One variable as a buffer of one element.
template <HasDatatype T>
Buffer buffer_of(T& variable) {
  return {&variable, 1, datatype_of<T>()};
}
template <HasDatatype T>
ConstBuffer buffer_of(const T& variable) {
  return {&variable, 1, datatype_of<T>()};
}

/// Says, as in MPI, that the input already lies in the output buffer.
inline ConstBuffer in_place() {
  return {MPI_IN_PLACE, 0, MPI_DATATYPE_NULL};
}
/// The same of an output, where the input lies.
inline Buffer buffer_in_place() {
  return {MPI_IN_PLACE, 0, MPI_DATATYPE_NULL};
}
inline bool is_in_place(const ConstBuffer& buffer) {
  return buffer.address == MPI_IN_PLACE;
}

}  // namespace wisp
