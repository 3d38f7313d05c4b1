#pragma once

#include <mpi.h>

#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <limits>
#include <memory>
#include <ranges>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "wisp/detail/as_size.hpp"

namespace wisp {

/// What travels of a struct, for structs of one's own: a tuple of pointers to members, which are themselves
/// of types that have a datatype, or arrays of those.
///
///     template <>
///     inline constexpr auto wisp::members_of<Particle> = std::tuple(&Particle::position, &Particle::mass);
template <class T>
inline constexpr auto members_of = nullptr;

template <class T>
concept HasMembers = !std::is_null_pointer_v<std::remove_cv_t<decltype(members_of<T>)>>;

namespace detail {
/// Of a member or element that is an array, those of the array.
template <class M>
struct Elements {
  using Type = std::remove_cv_t<M>;
  static constexpr int count = 1;
};
template <class M, std::size_t n>
struct Elements<M[n]> {
  using Type = typename Elements<M>::Type;
  static constexpr int count = static_cast<int>(n) * Elements<M>::count;
};
template <class M, std::size_t n>
struct Elements<std::array<M, n>> : Elements<M[n]> {};

template <class T>
concept IsNumber = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::same_as<T, std::complex<float>> ||
    std::same_as<T, std::complex<double>> || std::same_as<T, std::complex<long double>>;
template <class T>
concept IsArrayOfThose = !std::same_as<typename Elements<T>::Type, T> &&
                         (IsNumber<typename Elements<T>::Type> || HasMembers<typename Elements<T>::Type>);
}  // namespace detail

template <class T>
concept HasDatatype = detail::IsNumber<T> || HasMembers<T> || detail::IsArrayOfThose<std::remove_cv_t<T>>;

namespace detail {
/// As std::float32_t has that of float.
template <class T, class Known>
inline constexpr bool has_format_of =
    std::is_floating_point_v<T> &&
    sizeof(T) == sizeof(Known) && std::numeric_limits<T>::digits == std::numeric_limits<Known>::digits;
template <HasMembers T>
MPI_Datatype datatype_of_struct();
template <IsArrayOfThose T>
MPI_Datatype datatype_of_array();
/// Bytes of data of so many elements.
std::size_t bytes_in(std::size_t count, MPI_Datatype type);
}  // namespace detail

/// The MPI datatype of a C++ arithmetic, enumeration, byte or complex type, of a struct with members_of, or
/// of an array of those; that of a struct or array is made once, and freed when MPI ends (so MPI must run,
/// and the thread may call it).
template <HasDatatype T>
MPI_Datatype datatype_of() {
  if constexpr (!std::same_as<T, std::remove_cv_t<T>>)
    return datatype_of<std::remove_cv_t<T>>();
  else if constexpr (std::same_as<T, std::byte>)
    return MPI_BYTE;
  else if constexpr (HasMembers<T>)
    return detail::datatype_of_struct<T>();
  else if constexpr (detail::IsArrayOfThose<T>)
    return detail::datatype_of_array<T>();
  else if constexpr (std::is_enum_v<T>)
    return datatype_of<std::underlying_type_t<T>>();
  else if constexpr (std::same_as<T, char>)
    return MPI_CHAR;
  else if constexpr (std::same_as<T, wchar_t>)
    return MPI_WCHAR;
  else if constexpr (std::same_as<T, bool>)
    return MPI_CXX_BOOL;
  else if constexpr (std::same_as<T, long double>)
    return MPI_LONG_DOUBLE;
  else if constexpr (detail::has_format_of<T, float>)
    return MPI_FLOAT;
  else if constexpr (detail::has_format_of<T, double>)
    return MPI_DOUBLE;
  else if constexpr (std::same_as<T, std::complex<float>>)
    return MPI_C_FLOAT_COMPLEX;
  else if constexpr (std::same_as<T, std::complex<double>>)
    return MPI_C_DOUBLE_COMPLEX;
  else if constexpr (std::same_as<T, std::complex<long double>>)
    return MPI_C_LONG_DOUBLE_COMPLEX;
  else if constexpr (std::same_as<T, long>)
    return MPI_LONG;
  else if constexpr (std::same_as<T, unsigned long>)
    return MPI_UNSIGNED_LONG;
  else if constexpr (std::same_as<T, long long>)
    return MPI_LONG_LONG;
  else if constexpr (std::same_as<T, unsigned long long>)
    return MPI_UNSIGNED_LONG_LONG;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 4)
    return std::is_signed_v<T> ? MPI_INT : MPI_UNSIGNED;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 2)
    return std::is_signed_v<T> ? MPI_INT16_T : MPI_UINT16_T;
  else {
    static_assert(std::is_integral_v<T> && sizeof(T) == 1, "wisp::datatype_of: MPI has no such numbers");
    return std::is_signed_v<T> ? MPI_INT8_T : MPI_UINT8_T;
  }
}

namespace detail {

struct StructMember {
  MPI_Aint offset;
  int count;
  MPI_Datatype type;

  auto operator<=>(const StructMember&) const = default;
};
/// From the list of all that were made, or made of the members. (It knows no names of types: those of unnamed
/// namespaces can be the same in two files.)
MPI_Datatype struct_type(std::span<const StructMember> members, std::size_t bytes);

/// Of T, whose own or whose base's it is.
template <class T, class Of, class M>
StructMember struct_member(M Of::*member) {
  static const union {
    char nothing;
    T object;
  } place{};
  using Member = Elements<std::remove_cv_t<M>>;
  static_assert(HasDatatype<typename Member::Type>, "wisp::members_of: a member has no datatype");
  const auto* begin = reinterpret_cast<const char*>(&place);
  const auto* at = reinterpret_cast<const volatile char*>(std::addressof(place.object.*member));
  return {const_cast<const char*>(at) - begin, Member::count, datatype_of<typename Member::Type>()};
}

template <HasMembers T>
MPI_Datatype datatype_of_struct() {
  static_assert(std::is_trivially_copyable_v<T>, "wisp::members_of: the struct is not trivially copyable");
  return std::apply(
      [](auto... members) {
        const StructMember all[] = {struct_member<T>(members)...};
        return struct_type(all, sizeof(T));
      },
      members_of<T>);
}

template <IsArrayOfThose T>
MPI_Datatype datatype_of_array() {
  using Element = typename Elements<T>::Type;
  static_assert(Elements<T>::count > 0, "wisp::datatype_of: an array of nothing");
  const StructMember all[] = {{0, Elements<T>::count, datatype_of<Element>()}};
  return struct_type(all, sizeof(T));
}

/// `length` elements of so many `bytes`, the next of which are `stride` elements further.
MPI_Datatype make_run(MPI_Datatype element, std::size_t length, std::ptrdiff_t stride, std::size_t bytes);
void free_run(MPI_Datatype& type) noexcept;
[[noreturn]] void throw_not_contiguous();

template <class View>
std::size_t run_of(const View& view) {
  if constexpr (View::rank() == 1) {
    return 1;
  } else {
    if (view.extent(1) > 1 && view.stride(1) != 1) throw_not_contiguous();
    return as_size(view.extent(1));
  }
}

}  // namespace detail

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
  requires HasDatatype<std::ranges::range_value_t<R>> && std::ranges::contiguous_range<const R> &&
      std::ranges::sized_range<const R>
      ConstBuffer(const R& range)  // NOLINT(google-explicit-constructor): a range is a buffer
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
  requires HasDatatype<std::ranges::range_value_t<R>> && std::ranges::sized_range<R> &&
      (!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>)
          Buffer(R&& range)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : address(std::ranges::data(range)),
        count(std::ranges::size(range)),
        type(datatype_of<std::ranges::range_value_t<R>>()) {}

  operator ConstBuffer() const { return {address, count, type}; }  // NOLINT(google-explicit-constructor)
};

/// `count` runs of `length` elements each, which begin `stride` elements from each other: a column of a
/// matrix, a block of its rows. A Buffer is made of it without a copy, to be written if T is not const; it
/// must not outlive this, but an operation that has started may.
template <class T>
requires HasDatatype<std::remove_const_t<T>>
class Strided {
 public:
  Strided(T* first, std::size_t count, std::ptrdiff_t stride, std::size_t length = 1)
      : first_(first),
        count_(count),
        type_(detail::make_run(datatype_of<std::remove_const_t<T>>(), length, stride, sizeof(T))) {}
  /// Of anything that has data_handle(), extent(i) and stride(i), as std::mdspan: of one dimension, or of two
  /// the second of which is contiguous.
  template <class View>
  requires requires(const View& view) {
    view.data_handle();
    view.extent(0);
    view.stride(0);
  } &&(View::rank() == 1 || View::rank() == 2) explicit Strided(const View& view)
      : Strided(view.data_handle(), detail::as_size(view.extent(0)),
                static_cast<std::ptrdiff_t>(view.stride(0)), detail::run_of(view)) {
  }
  Strided(Strided&& other) noexcept
      : first_(other.first_), count_(other.count_), type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  Strided& operator=(Strided&& other) noexcept {
    std::swap(first_, other.first_);
    std::swap(count_, other.count_);
    std::swap(type_, other.type_);
    return *this;
  }
  ~Strided() { detail::free_run(type_); }

  operator ConstBuffer() const { return {first_, count_, type_}; }  // NOLINT(google-explicit-constructor)
  operator Buffer() const requires(!std::is_const_v<T>) {           // NOLINT(google-explicit-constructor)
    return {first_, count_, type_};
  }

 private:
  T* first_;
  std::size_t count_;
  MPI_Datatype type_;
};
template <class View>
Strided(const View&) -> Strided<std::remove_pointer_t<decltype(std::declval<const View&>().data_handle())>>;

/// One variable as a buffer of one element; an array as one of its elements, whatever its dimensions.
template <HasDatatype T>
Buffer buffer_of(T& variable) {
  using Variable = detail::Elements<std::remove_cv_t<T>>;
  return {&variable, Variable::count, datatype_of<typename Variable::Type>()};
}
template <HasDatatype T>
ConstBuffer buffer_of(const T& variable) {
  using Variable = detail::Elements<std::remove_cv_t<T>>;
  return {&variable, Variable::count, datatype_of<typename Variable::Type>()};
}

/// What in_place() is, wherever MPI has MPI_IN_PLACE.
struct InPlace {
  // NOLINTBEGIN(google-explicit-constructor): it is a buffer
  operator ConstBuffer() const { return {MPI_IN_PLACE, 0, MPI_DATATYPE_NULL}; }
  operator Buffer() const { return {MPI_IN_PLACE, 0, MPI_DATATYPE_NULL}; }
  // NOLINTEND(google-explicit-constructor)
};
/// Says, as in MPI, that the input already lies in the output; of the output of a scatter, that it stays
/// where the input lies.
constexpr InPlace in_place() {
  return {};
}
/// The same as a buffer to be written.
inline Buffer buffer_in_place() {
  return in_place();
}
inline bool is_in_place(const ConstBuffer& buffer) {
  return buffer.address == MPI_IN_PLACE;
}

}  // namespace wisp
