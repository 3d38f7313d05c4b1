#include "wisp/detail/sort/local_sort.hpp"

#ifdef WISP_HAS_HIGHWAY
#include <hwy/contrib/sort/vqsort.h>

#include <cstring>
#include <limits>
#endif

namespace wisp::detail {

#ifdef WISP_HAS_HIGHWAY

namespace {

template <class Number>
bool sorted(void* numbers, std::size_t count, bool ascending) {
  // It fetches random numbers and memory when it is made.
  static thread_local hwy::Sorter sorter;
  auto* const first = static_cast<Number*>(numbers);
  if (ascending) {
    sorter(first, count, hwy::SortAscending());
  } else {
    sorter(first, count, hwy::SortDescending());
  }
  return true;
}

/// Floating-point numbers as integers of the same order, and back. (As numbers, Highway 1.0 loses
/// infinities.)
template <class Integer>
void flip_negative(void* numbers, std::size_t count) {
  auto* at = static_cast<std::byte*>(numbers);
  for (std::size_t i = 0; i < count; ++i, at += sizeof(Integer)) {
    Integer bits;
    std::memcpy(&bits, at, sizeof(bits));
    if (bits < 0) bits ^= std::numeric_limits<Integer>::max();
    std::memcpy(at, &bits, sizeof(bits));
  }
}

template <class Integer>
bool sorted_as(void* numbers, std::size_t count, bool ascending) {
  flip_negative<Integer>(numbers, count);
  sorted<Integer>(numbers, count, ascending);
  flip_negative<Integer>(numbers, count);
  return true;
}

}  // namespace

bool sort_numbers(void* numbers, std::size_t count, NumberKind kind, std::size_t bytes, bool ascending) {
  const bool is_wide = bytes == 8;
  switch (kind) {
    case NumberKind::signed_integer:
      return is_wide ? sorted<std::int64_t>(numbers, count, ascending)
                     : sorted<std::int32_t>(numbers, count, ascending);
    case NumberKind::unsigned_integer:
      return is_wide ? sorted<std::uint64_t>(numbers, count, ascending)
                     : sorted<std::uint32_t>(numbers, count, ascending);
    case NumberKind::floating:
      return is_wide ? sorted_as<std::int64_t>(numbers, count, ascending)
                     : sorted_as<std::int32_t>(numbers, count, ascending);
    default:
      return false;
  }
}

#else

bool sort_numbers(void*, std::size_t, NumberKind, std::size_t, bool) {
  return false;
}

#endif

}  // namespace wisp::detail
