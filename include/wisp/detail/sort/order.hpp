#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <type_traits>

#include "wisp/sort_options.hpp"
#include "wisp/sort_order.hpp"
#include "wisp/task.hpp"

// What becomes of the order that a caller gives: the order of what a projection makes of elements, and one
// that does not throw while others wait.

namespace wisp::detail {

/// What elements must be, said where they are given.
template <class T>
constexpr void check_elements() {
  static_assert(std::is_trivially_copyable_v<T>,
                "wisp moves elements as bytes: they must be trivially copyable");
  static_assert(std::is_default_constructible_v<T>,
                "wisp makes elements before it knows them: they must be default-constructible");
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                "wisp aligns elements as new does, not further");
}
/// The same of elements in vectors.
template <class T>
constexpr void check_vector_elements() {
  check_elements<T>();
  static_assert(!std::is_same_v<T, bool>, "std::vector<bool> keeps bits, no elements: use a vector of char");
}

/// Takes two elements, gives a bool, and can be called where it is const.
template <class Less, class T>
concept OrderOf = std::is_invocable_r_v<bool, const Less&, const T&, const T&>;

template <class Projection, class T>
concept ProjectionOf = std::invocable<Projection&, const T&> && !std::convertible_to<Projection, SortOptions>;

template <class T, class Less, class Projection>
auto project(Less less, Projection projection) {
  if constexpr (std::is_same_v<Projection, std::identity>) {
    return less;
  } else {
    return [less, projection](const T& a, const T& b) -> bool {
      return less(std::invoke(projection, a), std::invoke(projection, b));
    };
  }
}

enum class NumberKind { none, signed_integer, unsigned_integer, floating };

template <class T>
constexpr NumberKind number_kind() {
  const bool has_width = sizeof(T) == 4 || sizeof(T) == 8;
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) return NumberKind::floating;
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (has_width) return std::is_signed_v<T> ? NumberKind::signed_integer : NumberKind::unsigned_integer;
  }
  return NumberKind::none;
}

template <class T, class Less>
constexpr bool is_ascending = std::is_same_v<Less, Ascending> || std::is_same_v<Less, std::less<T>> ||
                              std::is_same_v<Less, std::less<>>;
template <class T, class Less>
constexpr bool is_descending = std::is_same_v<Less, std::greater<T>> || std::is_same_v<Less, std::greater<>>;
/// Numbers in an order that a processor knows.
template <class T, class Less>
constexpr bool sorts_numbers = number_kind<T>() != NumberKind::none &&
                               (is_ascending<T, Less> || is_descending<T, Less>);

template <class T, class Less>
constexpr bool can_throw = !std::is_nothrow_invocable_v<Less&, const T&, const T&> && !sorts_numbers<T, Less>;

/// The first exception of an order.
class OrderFailure {
 public:
  bool has_happened() const noexcept { return bool(thrown_); }
  void keep(std::exception_ptr thrown) noexcept { thrown_ = std::move(thrown); }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }
  /// Awaits what uses the order; its exception comes before what followed from it.
  template <class Result>
  Task<Result> instead_of(Task<Result> user) const {
    try {
      if constexpr (std::is_void_v<Result>) {
        co_await std::move(user);
        rethrow();
      } else {
        Result result = co_await std::move(user);
        rethrow();
        co_return result;
      }
    } catch (...) {
      rethrow();
      throw;
    }
  }

 private:
  std::exception_ptr thrown_;
};

/// An order that may throw; after it has, all elements are equal: so algorithms that other ranks take part in
/// come to their end. What sorts by it on one rank takes it `unguarded`: an order that becomes another one
/// in the midst of std::sort may lead it beyond its elements.
template <class T, class Less>
class GuardedOrder {
 public:
  GuardedOrder(Less less, OrderFailure& failure) : less_(std::move(less)), failure_(&failure) {}

  bool operator()(const T& a, const T& b) const {
    if (has_failed()) return false;
    try {
      return less_(a, b);
    } catch (...) {
      failure_->keep(std::current_exception());
      return false;
    }
  }
  bool has_failed() const noexcept { return failure_->has_happened(); }

  /// `use(less)` with an order that throws, until it does. False then: what was used is in any state.
  template <class Use>
  bool unguarded(Use use) const {
    if (has_failed()) return false;
    try {
      use(less_);
    } catch (...) {
      failure_->keep(std::current_exception());
    }
    return !has_failed();
  }

 private:
  Less less_;
  OrderFailure* failure_;
};

template <class T, class Less>
auto guard_order(Less less, OrderFailure& failure) {
  if constexpr (!can_throw<T, Less>) {
    return less;
  } else {
    return GuardedOrder<T, Less>(std::move(less), failure);
  }
}

/// Whether an order may have thrown, and whether it has on this rank. What ranks decide alone by such an
/// order, they decide alike only if it has on none of them.
template <class Less>
constexpr bool may_have_failed = false;
template <class T, class Less>
constexpr bool may_have_failed<GuardedOrder<T, Less>> = true;
template <class Less>
bool has_failed(const Less& less) noexcept {
  if constexpr (may_have_failed<Less>) {
    return less.has_failed();
  } else {
    return false;
  }
}

/// What is found by an order that has thrown is nothing for any rank.
inline void throw_if_failed(const char* call, std::uint64_t failed_ranks) {
  if (failed_ranks == 0) return;
  throw Error(MPI_ERR_OTHER, std::string(call) + ": the order has thrown an exception on " +
                                 std::to_string(failed_ranks) + " ranks");
}
/// What has been counted by it cannot be.
[[noreturn]] inline void throw_no_order(const char* call) {
  throw Error(MPI_ERR_ARG, std::string(call) +
                               ": the order is no strict weak order, not the same on all ranks, or it has "
                               "thrown an exception on another one");
}

/// `use(less)` of an algorithm of the standard library, on this rank alone. False if the order has thrown,
/// now or before: then what was to be sorted is in any state.
template <class Less, class Use>
bool use_unguarded(const Less& less, Use use) {
  if constexpr (may_have_failed<Less>) {
    return less.unguarded(use);
  } else {
    use(less);
    return true;
  }
}

}  // namespace wisp::detail
