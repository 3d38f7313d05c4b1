#pragma once

#include <type_traits>

namespace wisp {

/// Ascending order of anything with <. Of floating-point numbers, NaN comes after all others, and -0 is
/// equal to 0.
struct Ascending {
  template <class T>
  requires requires(const T& a, const T& b) { static_cast<bool>(a < b); }
  bool operator()(const T& a, const T& b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return (a < b) || (b != b && a == a);
    } else {
      return a < b;
    }
  }
};

}  // namespace wisp
