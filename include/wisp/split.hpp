#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "wisp/chain.hpp"

/// Splitting a group by any color and ordering it by any key: MPI_Comm_split for strings, structs, and bytes,
/// for up to millions of processes.
///
/// Source: Moody, Ahn, de Supinski 2011, section 3.

namespace wisp {

namespace detail {

template <class T>
struct IsArray : std::false_type {};
template <class T, std::size_t n>
struct IsArray<std::array<T, n>> : std::bool_constant<std::is_arithmetic_v<T> && (n > 0)> {};
template <class T, std::size_t n>
struct IsArray<T[n]> : std::bool_constant<std::is_arithmetic_v<T>> {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
#ifdef __SIZEOF_INT128__  // integers to the standard library in -std=gnu++20 alone
__extension__ using Int128 = __int128;
__extension__ using UnsignedInt128 = unsigned __int128;
#else
using Int128 = void;
using UnsignedInt128 = void;
#endif
template <class T>
using ElementOf = std::ranges::range_value_t<T>;
template <class T>
concept IsText = std::convertible_to<const T&, std::string_view>;

}  // namespace detail

class Label;

/// What can be a color or key of one size: numbers, enumerations, arrays of numbers, and any other trivially
/// copyable type.
template <class T>
concept FixedLabel = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !detail::IsText<T> &&
                     !detail::IsOptional<T>::value && !std::same_as<T, Label> &&
                     (detail::IsArray<T>::value || !std::ranges::range<T>);

/// The data of a color or key. Without any, there is no splitting (or ordering); all ranks agree on that, and
/// on the type. Of strings and byte ranges, each rank's may have its own length.
///
/// Without an Order of the user's, numbers are ordered as numbers (of floating-point ones, NaN comes last and
/// is equal to itself, and -0 is 0), arrays of numbers, strings and bytes lexicographically, and other types
/// by their bytes, which must say all: a type with padding needs an Order.
class Label {
 public:
  enum class Kind { none, unsigned_numbers, signed_numbers, floating_numbers, text, bytes, padded };

  Label() = default;
  template <FixedLabel T>
  Label(const T& value)  // NOLINT(google-explicit-constructor): a value is a color
      : kind_(kind_of<T>()), width_(width_of<T>()), bytes_(sizeof(T)) {
    std::memcpy(bytes_.data(), &value, sizeof(T));
    if (kind_ == Kind::floating_numbers) unify_equal_numbers();
  }
  Label(std::string_view text)  // NOLINT(google-explicit-constructor)
      : Label(std::as_bytes(std::span(text))) {
    kind_ = Kind::text;
  }
  Label(const std::string& text) : Label(std::string_view(text)) {}  // NOLINT(google-explicit-constructor)
  Label(const char* text) : Label(std::string_view(text)) {}         // NOLINT(google-explicit-constructor)
  Label(std::span<const std::byte> bytes)                            // NOLINT(google-explicit-constructor)
      : kind_(Kind::text), bytes_(bytes.begin(), bytes.end()) {}
  /// Without a value: this rank is left out of all groups (MPI_UNDEFINED). Any number is a color like others.
  template <class T>
  requires FixedLabel<T> || std::convertible_to<T, std::string_view> Label(
      const std::optional<T>& value)  // NOLINT(google-explicit-constructor)
      : Label(value.has_value() ? Label(*value) : Label(nothing<T>())) {
    is_undefined_ = !value.has_value();
  }
  /// `count` numbers, or bytes (count times width), as they lie in memory. Floating-point numbers are of 4
  /// or 8.
  Label(Kind kind, const void* data, std::size_t count, std::size_t width);

  Kind kind() const noexcept { return kind_; }
  bool is_given() const noexcept { return kind_ != Kind::none; }
  bool is_undefined() const noexcept { return is_undefined_; }
  bool has_own_length() const noexcept { return kind_ == Kind::text; }
  void leave_out() noexcept { is_undefined_ = true; }

  const std::vector<std::byte>& bytes() const noexcept { return bytes_; }
  /// Bytes whose lexicographic order is the order of the values. Throws an Error that names the call and the
  /// argument if there are none, for padding.
  std::vector<std::byte> ordered_bytes(const char* call, const char* argument) const;

 private:
  /// Of floating-point numbers: those that are equal get the same bytes.
  void unify_equal_numbers();

  template <class T>
  static constexpr Kind kind_of() {
    if constexpr (detail::IsArray<T>::value) {
      return kind_of<detail::ElementOf<T>>();
    } else if constexpr (std::is_enum_v<T>) {
      return kind_of<std::underlying_type_t<T>>();
    } else if constexpr (std::is_integral_v<T>) {
      return std::is_signed_v<T> ? Kind::signed_numbers : Kind::unsigned_numbers;
    } else if constexpr (std::is_same_v<T, detail::Int128>) {
      return Kind::signed_numbers;
    } else if constexpr (std::is_same_v<T, detail::UnsignedInt128>) {
      return Kind::unsigned_numbers;
    } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      return Kind::floating_numbers;
    } else {
      return std::has_unique_object_representations_v<T> ? Kind::bytes : Kind::padded;
    }
  }
  /// What stands for no value: of the same size, if values have one.
  template <class T>
  static auto nothing() {
    if constexpr (detail::IsText<T>) {
      return std::string_view();
    } else {
      return T{};
    }
  }
  template <class T>
  static constexpr std::size_t width_of() {
    if constexpr (detail::IsArray<T>::value) {
      return sizeof(detail::ElementOf<T>);
    } else {
      return sizeof(T);
    }
  }

  Kind kind_ = Kind::none;
  std::size_t width_ = 1;  ///< bytes of a number
  bool is_undefined_ = false;
  std::vector<std::byte> bytes_;
};

/// How labels compare, if not by themselves; the same on all ranks. Both functions are given the bytes of
/// labels, aligned for any type, and do not throw: other ranks would wait for ever.
struct Order {
  using Bytes = std::span<const std::byte>;

  /// Below, equal to, or above 0, as the first comes before, with, or after the second. A weak order: equal
  /// colors are one group, equal keys are ordered by rank.
  std::function<int(Bytes, Bytes)> compare;
  /// Equal for equal labels. With a `compare` but no hash, the hash algorithms cannot be used.
  std::function<std::uint64_t(Bytes)> hash;
  /// Of all labels, also of undefined ones; 0: of any.
  std::size_t bytes = 0;

  /// By `less(a, b)` on values, or on std::string_view.
  template <class T, class Less = std::less<>>
  static Order by(Less less = {}) {
    Order order;
    if constexpr (!std::same_as<T, std::string_view>) order.bytes = sizeof(T);
    order.compare = [less](Bytes a, Bytes b) {
      const T x = value_of<T>(a);
      const T y = value_of<T>(b);
      return less(x, y) ? -1 : less(y, x) ? 1 : 0;
    };
    return order;
  }
  /// With a hash of values, for equality that is not that of bytes.
  template <class T, class Hash>
  Order& hashed_by(Hash of_value) {
    hash = [of_value](Bytes of) { return static_cast<std::uint64_t>(of_value(value_of<T>(of))); };
    return *this;
  }

 private:
  template <class T>
  static T value_of(Bytes of) {
    if constexpr (std::same_as<T, std::string_view>) {
      return {reinterpret_cast<const char*>(of.data()), of.size()};
    } else {
      static_assert(FixedLabel<T>, "wisp::Order: a trivially copyable type, or std::string_view");
      if (of.size() != sizeof(T)) throw_size_error(of.size(), sizeof(T));
      T value;
      std::memcpy(&value, of.data(), sizeof(T));
      return value;
    }
  }
  [[noreturn]] static void throw_size_error(std::size_t bytes, std::size_t expected);

 public:
  Order() = default;
  Order(std::function<int(Bytes, Bytes)> by, std::function<std::uint64_t(Bytes)> of)
      : compare(std::move(by)), hash(std::move(of)) {}
};

struct SplitOptions {
  /// One of `split_algorithms()`; empty: the one that suits. The same on all ranks.
  std::string_view algorithm = {};
  /// Tells it from operations that start in another order on other ranks.
  std::optional<int> own_tag = {};
};

std::vector<std::string_view> split_algorithms();
/// The algorithm that a split of so many ranks takes without a name. The labels say what is asked.
std::string_view chosen_split(const Chain& chain, const Label& color, const Order& color_order = {},
                              const Label& key = {}, const Order& key_order = {});

/// The ranks with this rank's color, in the order of their keys, and of their old ranks where keys are equal;
/// the empty chain if the color is undefined. `comm_or_chain` may be either. Without a color all ranks stay
/// together; without a key they stay in order. Use `Chain::to_comm` for messages between any two.
///
/// Wrong arguments throw an Error before any message. Costs: docs/splits.md.
Chain split(const Chain& comm_or_chain, const Label& color, const Order& color_order = {},
            const Label& key = {}, const Order& key_order = {}, const SplitOptions& options = {});
/// The same as a Request; `made` is complete when it is done.
Request isplit(const Chain& comm_or_chain, Chain& made, const Label& color, const Order& color_order = {},
               const Label& key = {}, const Order& key_order = {}, const SplitOptions& options = {});
/// The same as a task to await.
Task<Chain> async_split(Chain comm_or_chain, Label color, Order color_order = {}, Label key = {},
                        Order key_order = {}, SplitOptions options = {});

// Splits that many want.

/// By a string, in the old order.
Chain by_string(const Chain& chain, std::string_view color);
/// By what MPI calls the processor: the ranks of one host.
Chain by_host(const Chain& chain);
/// By the memory that processes can share: one running system, and one view of its shared memory.
Chain by_shared_memory(const Chain& chain);
/// The colors of these.
std::string host_name();
std::string shared_memory_name();

/// The group of a rank, and the chain of the first ranks of all groups (empty on the others), in the order of
/// these ranks.
struct TwoLevels {
  Chain members;
  Chain leaders;
};
TwoLevels two_level(const Chain& chain, const Label& color, const Order& color_order = {},
                    const SplitOptions& options = {});
Task<TwoLevels> async_two_level(Chain chain, Label color, Order color_order = {}, SplitOptions options = {});

/// A rank's place without a chain of its own: its group's number in the order of the groups' first ranks, how
/// many groups there are, and its rank in, and the size of, its group. All -1 but `groups` where the color is
/// undefined.
struct GroupRank {
  int group = -1;
  int groups = 0;
  int rank = -1;
  int size = -1;
};
GroupRank group_rank(const Chain& chain, const Label& color, const Order& color_order = {},
                     const SplitOptions& options = {});
Task<GroupRank> async_group_rank(Chain chain, Label color, Order color_order = {}, SplitOptions options = {});

}  // namespace wisp
