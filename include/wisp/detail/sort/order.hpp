#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <type_traits>

#include "wisp/detail/sort/local_sort.hpp"
#include "wisp/sort_options.hpp"
#include "wisp/task.hpp"

// What becomes of the order that a caller gives: the order of what a projection makes of elements, and one
// that does not throw while others wait.

namespace wisp::detail {

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
  Task<> instead_of(Task<> user) const {
    try {
      co_await std::move(user);
    } catch (...) {
      rethrow();
      throw;
    }
    rethrow();
  }

 private:
  std::exception_ptr thrown_;
};

/// The order; after it has thrown, all elements are equal: so algorithms that other ranks take part in come
/// to their end.
template <class T, class Less>
auto guard_order(Less less, OrderFailure& failure) {
  if constexpr (!can_throw<T, Less>) {
    return less;
  } else {
    return [less, &failure](const T& a, const T& b) -> bool {
      if (failure.has_happened()) return false;
      try {
        return less(a, b);
      } catch (...) {
        failure.keep(std::current_exception());
        return false;
      }
    };
  }
}

}  // namespace wisp::detail
