// A sequence of basic types is a number in the base of `radix`, modulo 2⁶⁴, of which each type is a digit:
// two sequences join by one product, and n of the same by log n.

#include "transport/type_signature.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "transport/type_layout.hpp"
#include "wisp/detail/as_size.hpp"
#include "wisp/detail/mix.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {
namespace {

struct Signature {
  static constexpr std::uint64_t radix = 0x9e3779b97f4a7c15;

  std::uint64_t digits = 0;
  std::uint64_t weight = 1;  ///< the radix to the number of digits
  bool is_anything = false;
};

Signature join(const Signature& first, const Signature& second) {
  return {first.digits * second.weight + second.digits, first.weight * second.weight,
          first.is_anything || second.is_anything};
}

Signature repeat(Signature one, std::uint64_t times) {
  Signature all;
  for (; times > 0; times /= 2) {
    if (times % 2 == 1) all = join(all, one);
    one = join(one, one);
  }
  return all;
}

bool is_among(MPI_Datatype type, std::initializer_list<MPI_Datatype> types) {
  return std::ranges::find(types, type) != types.end();
}

Signature of_digit(std::uint64_t kind, std::uint64_t size) {
  return {mix(kind << 32 | size), Signature::radix, false};
}

/// Numbers by what they are, whatever they are called; others by their name, for handles differ from rank to
/// rank.
Signature of_named(MPI_Datatype type) {
  if (is_among(type, {MPI_BYTE, MPI_PACKED})) return {0, 1, true};
  int size = 0;
  check_mpi(MPI_Type_size(type, &size), "MPI_Type_size");
  if (is_among(type, {MPI_CHAR, MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_INT8_T,
                      MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2,
                      MPI_INTEGER4, MPI_INTEGER8, MPI_AINT, MPI_OFFSET, MPI_COUNT})) {
    return of_digit(1, static_cast<std::uint64_t>(size));
  }
  if (is_among(type, {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
                      MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T})) {
    return of_digit(2, static_cast<std::uint64_t>(size));
  }
  if (is_among(type, {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION}))
    return of_digit(3, static_cast<std::uint64_t>(size));
  std::array<char, MPI_MAX_OBJECT_NAME + 1> name{};
  int length = 0;
  check_mpi(MPI_Type_get_name(type, name.data(), &length), "MPI_Type_get_name");
  std::uint64_t digit = 1;
  for (const char letter : std::string_view(name.data()))
    digit = mix(digit + static_cast<unsigned char>(letter));
  return {digit, Signature::radix, false};
}

Signature of_type(MPI_Datatype type);

/// MPI's pairs have the signature of their two.
std::optional<Signature> of_pair(MPI_Datatype type) {
  const std::array<std::array<MPI_Datatype, 3>, 9> pairs = {
      {{MPI_FLOAT_INT, MPI_FLOAT, MPI_INT},
       {MPI_DOUBLE_INT, MPI_DOUBLE, MPI_INT},
       {MPI_LONG_INT, MPI_LONG, MPI_INT},
       {MPI_SHORT_INT, MPI_SHORT, MPI_INT},
       {MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE, MPI_INT},
       {MPI_2INT, MPI_INT, MPI_INT},
       {MPI_2INTEGER, MPI_INTEGER, MPI_INTEGER},
       {MPI_2REAL, MPI_REAL, MPI_REAL},
       {MPI_2DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION}}};
  for (const auto& [pair, first, second] : pairs) {
    if (type == pair) return join(of_named(first), of_named(second));
  }
  return std::nullopt;
}

/// What a datatype was made of; the datatypes are given back.
struct Contents {
  explicit Contents(MPI_Datatype type) {
    const TypeEnvelope of = envelope_of(type);
    if (of.is_named()) return;
    combiner = of.large_counts > 0 ? unknown : of.combiner;
    if (combiner == unknown) return;
    integers.resize(as_size(of.integers));
    addresses.resize(as_size(of.addresses));
    types.resize(as_size(of.types));
    check_mpi(MPI_Type_get_contents(type, of.integers, of.addresses, of.types, integers.data(),
                                    addresses.data(), types.data()),
              "MPI_Type_get_contents");
  }
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;
  ~Contents() {
    for (MPI_Datatype& type : types) {
      if (!envelope_of(type).is_predefined()) MPI_Type_free(&type);
    }
  }

  std::uint64_t product(std::size_t first, std::size_t count) const {
    std::uint64_t all = 1;
    for (std::size_t i = 0; i < count; ++i) all *= static_cast<std::uint64_t>(integers[first + i]);
    return all;
  }
  std::uint64_t sum(std::size_t first, std::size_t count) const {
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < count; ++i) all += static_cast<std::uint64_t>(integers[first + i]);
    return all;
  }

  static constexpr int unknown = -1;
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;
};

Signature of_derived(const Contents& made) {
  const auto number = [&](std::size_t place) { return made.product(place, 1); };
  const auto of_first = [&](std::uint64_t times) { return repeat(of_type(made.types.at(0)), times); };
  switch (made.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return of_first(1);
    case MPI_COMBINER_CONTIGUOUS:
      return of_first(number(0));
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
      return of_first(made.product(0, 2));  // blocks, elements of each
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
      return of_first(made.sum(1, static_cast<std::size_t>(number(0))));
    case MPI_COMBINER_SUBARRAY: {
      const auto dimensions = static_cast<std::size_t>(number(0));
      return of_first(made.product(1 + dimensions, dimensions));
    }
    case MPI_COMBINER_STRUCT: {
      Signature all;
      for (std::size_t i = 0; i < made.types.size(); ++i) {
        all = join(all, repeat(of_type(made.types[i]), number(1 + i)));
      }
      return all;
    }
    default:  // distributed arrays, and types of Fortran that are made by their precision
      return {0, 1, true};
  }
}

Signature of_type(MPI_Datatype type) {
  const Contents made(type);
  if (made.combiner != MPI_COMBINER_NAMED) return of_derived(made);
  if (const std::optional<Signature> pair = of_pair(type)) return *pair;
  return of_named(type);
}

}  // namespace

std::optional<std::uint64_t> signature_of(MPI_Datatype type, std::size_t count) {
  const Signature all = repeat(of_type(type), count);
  return all.is_anything ? std::nullopt : std::optional(all.digits);
}

}  // namespace wisp::detail
