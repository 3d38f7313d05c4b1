// Sorting, and what else is done with an order. Numbers are sorted as they are. All else here is of words:
// keys of 64 bits, or several, whose order as numbers is that of the elements; python/wisp/_keys.py makes
// them.

#include "wisp/sort.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "python/module.hpp"
#include "python/mpi4py.hpp"
#include "python/request.hpp"
#include "wisp/collectives.hpp"
#include "wisp/select.hpp"
#include "wisp/sort_strings.hpp"
#include "wisp/sorted.hpp"

namespace wisp::python {
namespace {

using Array = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Word = std::uint64_t;
using Words = nb::ndarray<const Word, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const Word, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// As an array of `Shown`, which is T or its signed type.
template <class Shown, class T>
nb::object as_array_of(std::vector<T> data) {
  auto kept = std::make_unique<std::vector<T>>(std::move(data));
  std::vector<T>& elements = *kept;
  const nb::capsule owner(kept.release(),
                          [](void* vector) noexcept { delete static_cast<std::vector<T>*>(vector); });
  auto* const shown = reinterpret_cast<Shown*>(elements.data());
  return nb::cast(nb::ndarray<nb::numpy, Shown, nb::ndim<1>>(shown, {elements.size()}, owner));
}
template <class T>
nb::object as_array(std::vector<T> data) {
  return as_array_of<T>(std::move(data));
}

template <class T>
std::vector<T> copied(const T* data, std::size_t size) {
  return {data, data + size};
}

/// Puts the result where it outlives the task.
template <class T>
Task<> keep(Task<T> task, std::shared_ptr<T> in) {
  *in = co_await std::move(task);
}

/// A task as a request that gives what `convert` makes of its result; `held` lives as long.
template <class T, class Convert, class... Held>
OwnRequest started(const Comm& comm, Task<T> task, Convert convert, Held... held) {
  const auto result = std::make_shared<T>();
  Request request = comm.start(keep(std::move(task), result));
  return {std::move(request), Views(),
          [result, convert, held...](const Status&) { return convert(std::move(*result)); }};
}

/// An error on all ranks unless the signature is the same on all; 0: nobody asks.
Task<> check_alike(Comm comm, Word signature) {
  if (signature == 0) co_return;
  const Word mine[] = {signature, ~signature};
  Word most[2] = {};
  co_await allreduce(comm, mine, Buffer(most), MPI_MAX);
  if (most[0] != ~most[1]) throw Error(MPI_ERR_TYPE, "wisp::isort: ranks have elements of different types");
}

/// The sort has its place in the order of collectives before the check that comes first.
Task<> checked(Task<> check, Task<> sort) {
  co_await std::move(check);
  co_await std::move(sort);
}

/// Signed integers as unsigned ones without their sign: each type that is sorted takes a compiler long.
template <class T>
OwnRequest sort_of(const Comm& comm, const Array& array, const SortOptions& options, Word signature) {
  constexpr bool has_sign = std::is_integral_v<T> && std::is_signed_v<T>;
  using Sorted = typename std::conditional_t<has_sign, std::make_unsigned<T>, std::type_identity<T>>::type;
  const auto turn_sign = [](std::vector<Sorted>& all) {
    if constexpr (has_sign) {
      constexpr auto sign = static_cast<Sorted>(Sorted{1} << (8 * sizeof(T) - 1));
      for (Sorted& one : all) one = static_cast<Sorted>(one ^ sign);
    }
  };
  const auto data =
      std::make_shared<std::vector<Sorted>>(copied(static_cast<const Sorted*>(array.data()), array.size()));
  turn_sign(*data);
  Request request =
      comm.start(checked(check_alike(comm, signature), async_sort(comm, *data, Ascending(), options)));
  return {std::move(request), Views(), [data, turn_sign](const Status&) {
            turn_sign(*data);
            return as_array_of<T>(std::move(*data));
          }};
}

OwnRequest isort(const Comm& comm, const Array& array, const std::string& algorithm, bool stable,
                 Word signature) {
  SortOptions options;
  options.stable = stable;
  // Names that live on, for the sort looks at its own later.
  for (const char* name : {"", "janus", "rquick", "merge"}) {
    if (algorithm == name) options.algorithm = name;
  }
  if (options.algorithm != algorithm)
    throw_value_error("wisp.isort: algorithm = " + algorithm + " is none of janus, rquick, merge");
  const nb::dlpack::dtype type = array.dtype();
  std::optional<OwnRequest> made;
  const auto try_types = [&]<class... T>() {
    ((type == nb::dtype<T>() && (made.emplace(sort_of<T>(comm, array, options, signature)), true)) || ...);
  };
  try_types.operator()<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                       std::uint32_t, std::uint64_t, float, double>();
  if (!made) throw_type_error("wisp.isort: the elements are no numbers of 8 to 64 bits");
  return std::move(*made);
}

/// The places of keys that have `width` words each.
template <std::size_t width>
OwnRequest places_of(const Comm& comm, const Rows& keys) {
  using Key = std::array<Word, width>;
  std::vector<Key> all(keys.shape(0), Key{});
  for (std::size_t i = 0; i < all.size(); ++i)
    std::copy_n(keys.data() + i * keys.shape(1), keys.shape(1), all[i].begin());
  const auto data = std::make_shared<const std::vector<Key>>(std::move(all));
  return started(comm, async_argsort(comm, std::span<const Key>(*data), std::less<>()), &as_array<Word>,
                 data);
}

/// Longer keys as strings, with their places behind them.
Task<std::vector<Word>> places_of_strings(Comm comm, std::vector<std::string> strings) {
  Word before = 0;
  const Word mine = strings.size();
  co_await exscan(comm, buffer_of(mine), buffer_of(before), MPI_SUM);
  for (std::size_t i = 0; i < strings.size(); ++i) {
    for (int shift = 56; shift >= 0; shift -= 8)
      strings[i].push_back(static_cast<char>((before + i) >> shift));
  }
  co_await async_sort(comm, strings);
  std::vector<Word> places;
  for (const std::string& string : strings) {
    Word place = 0;
    for (const char c : string.substr(string.size() - 8)) place = place << 8 | static_cast<unsigned char>(c);
    places.push_back(place);
  }
  co_return places;
}

OwnRequest iargsort(const Comm& comm, const Rows& keys) {
  const std::size_t width = keys.shape(1);
  if (width == 1) {
    const std::span<const Word> words(keys.data(), keys.shape(0));
    return started(comm, async_argsort(comm, words), &as_array<Word>, keys);
  }
  if (width <= 2) return places_of<2>(comm, keys);
  if (width <= 4) return places_of<4>(comm, keys);
  if (width <= 8) return places_of<8>(comm, keys);
  std::vector<std::string> strings(keys.shape(0));
  for (std::size_t i = 0; i < strings.size(); ++i) {
    for (std::size_t j = 0; j < width; ++j) {
      for (int shift = 56; shift >= 0; shift -= 8)
        strings[i].push_back(static_cast<char>(keys(i, j) >> shift));
    }
  }
  return started(comm, places_of_strings(comm, std::move(strings)), &as_array<Word>);
}

OwnRequest isearchsorted(const Comm& comm, const Words& sorted, const Words& values, bool right) {
  const std::span<const Word> in(sorted.data(), sorted.size());
  const std::span<const Word> of(values.data(), values.size());
  return started(comm, async_bound(comm, in, of, right ? Bound::upper : Bound::lower), &as_array<Word>,
                 sorted, values);
}

OwnRequest itop_k(const Comm& comm, const Words& words, Word k) {
  const std::span<const Word> of(words.data(), words.size());
  return started(comm, async_top_k(comm, of, k), &as_array<Word>, words);
}

OwnRequest inth_element(const Comm& comm, const Words& words, Word n) {
  const std::span<const Word> of(words.data(), words.size());
  return started(
      comm, async_nth_element(comm, of, n), [](Word word) { return nb::cast(word); }, words);
}

Task<std::vector<Word>> unique_of(Comm comm, std::vector<Word> words) {
  co_await async_sort(comm, words);
  co_await async_unique(comm, words);
  co_await async_rebalance(comm, words);
  co_return words;
}

OwnRequest iunique(const Comm& comm, const Words& words) {
  return started(comm, unique_of(comm, copied(words.data(), words.size())), &as_array<Word>);
}

}  // namespace

void define_sort(nb::module_& module) {
  module.def("_isort", &isort, nb::arg("comm"), nb::arg("array"), nb::arg("algorithm"), nb::arg("stable"),
             nb::arg("signature"));
  module.def("_iargsort", &iargsort, nb::arg("comm"), nb::arg("keys"));
  module.def("_isearchsorted", &isearchsorted, nb::arg("comm"), nb::arg("sorted"), nb::arg("values"),
             nb::arg("right"));
  module.def("_itop_k", &itop_k, nb::arg("comm"), nb::arg("words"), nb::arg("k"));
  module.def("_inth_element", &inth_element, nb::arg("comm"), nb::arg("words"), nb::arg("n"));
  module.def("_iunique", &iunique, nb::arg("comm"), nb::arg("words"));
}

}  // namespace wisp::python
