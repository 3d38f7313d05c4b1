// With WISP_CHECK=1, ranks compare what they split by: sizes and orders of labels, and the algorithm.

#include <algorithm>
#include <string>

#include "chain/algorithms.hpp"
#include "collectives/alike.hpp"
#include "split/split_case.hpp"
#include "transport/throw_error.hpp"

namespace wisp::detail {
namespace {

constexpr int kind_bits = 4;
constexpr std::int64_t has_compare = 1 << kind_bits;
constexpr std::int64_t has_hash = has_compare << 1;
constexpr int flag_bits = kind_bits + 2;

/// What all ranks say alike of a color or a key, as a number.
std::int64_t shape_of(const SplitField& field) {
  if (!field.is_given) return 0;
  const std::size_t bytes = field.has_own_length ? 0 : field.bytes.size();
  return static_cast<std::int64_t>(field.kind) + (field.order.compare ? has_compare : 0) +
         (field.order.hash ? has_hash : 0) + (signed_of(bytes) << flag_bits);
}

std::string describe(std::int64_t shape) {
  const char* names[] = {"not given", "unsigned numbers", "signed numbers", "floating-point numbers",
                         "text",      "any bytes",        "any bytes"};
  std::string said = names[shape & (has_compare - 1)];
  if (shape >> flag_bits > 0) said = formatted("{} bytes of {}", shape >> flag_bits, said);
  if ((shape & has_compare) != 0) said += " with a compare";
  if ((shape & has_hash) != 0) said += " with a hash";
  return said;
}

}  // namespace

Task<> check_same_split(Link link, const SplitCase& of, std::string_view algorithm) {
  const std::vector<std::string_view> names = split_algorithms();
  const auto number = std::find(names.begin(), names.end(), algorithm) - names.begin();
  const std::vector<std::int64_t> words =
      words_of(of.call, {shape_of(of.color), shape_of(of.key), number, any_number});
  const std::optional<Difference> found =
      co_await find_difference(std::move(link), words, static_cast<int>(words.size()));
  if (!found) co_return;
  const auto [there, of_root] = said_of_same_call(of.call, *found);
  const char* what[] = {"color", "key"};
  for (std::size_t i = 0; i < 2; ++i) {
    if (there[i] == of_root[i]) continue;
    throw_error(MPI_ERR_ARG, "{}: {} is {} on rank {}, but {} on rank 0", of.call, what[i],
                describe(there[i]), found->rank, describe(of_root[i]));
  }
  throw_error(MPI_ERR_ARG, "{}: algorithm = {} on rank {}, but {} on rank 0", of.call,
              names[as_size(there[2])], found->rank, names[as_size(of_root[2])]);
}

}  // namespace wisp::detail
