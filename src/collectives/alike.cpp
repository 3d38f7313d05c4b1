// With WISP_CHECK=1, ranks compare their calls before a collective: operation, root, bytes, operator,
// datatype and algorithm travel as a list of numbers that rank 0 broadcasts, whatever each rank is about to
// do.

#include "collectives/alike.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "collectives/reduction.hpp"
#include "transport/throw_error.hpp"
#include "transport/type_layout.hpp"
#include "transport/type_signature.hpp"

namespace wisp::detail {
namespace {

constexpr std::size_t name_words = 5;
constexpr std::size_t algorithm_words = 3;
constexpr std::size_t algorithm_at = name_words + Said().size();

std::int64_t number_of_types(const Alike& mine) {
  if (mine.bytes <= 0 || mine.type == MPI_DATATYPE_NULL) return any_number;
  const auto elements = as_size(mine.bytes) / TypeLayout::of(mine.type).size;
  const std::optional<std::uint64_t> signature = signature_of(mine.type, elements);
  return signature ? static_cast<std::int64_t>(*signature >> 1)
                   : any_number;  // one bit less: none is negative
}

/// Cut where it is longer than `count` words.
void append(std::vector<std::int64_t>& words, std::string_view text, std::size_t count) {
  const std::size_t begin = words.size();
  words.resize(begin + count);
  text.copy(reinterpret_cast<char*>(&words[begin]), count * sizeof(std::int64_t) - 1);
}

std::string text_in(const std::vector<std::int64_t>& words, std::size_t begin, std::size_t count) {
  std::string text(count * sizeof(std::int64_t), '\0');
  std::memcpy(text.data(), &words[begin], text.size());
  return text.c_str();
}

}  // namespace

std::vector<std::int64_t> words_of(const char* call, const Said& said, std::string_view algorithm) {
  std::vector<std::int64_t> words;
  append(words, call, name_words);
  words.insert(words.end(), said.begin(), said.end());
  append(words, algorithm, algorithm_words);
  return words;
}

TwoSaid said_of_same_call(const char* call, const Difference& found) {
  if (found.rank == 0) {  // rank 0 here differs from rank 0 elsewhere
    throw_error(MPI_ERR_COMM, "{}: the ranks do not agree on who is in the communicator, or in which order",
                call);
  }
  if (found.count == 0 || found.values.empty()) {  // what came were no words of a call
    throw_error(MPI_ERR_OTHER, "{}: {} does not call what rank 0 calls: a collective of a chain, or none",
                call, found.count == 0 ? "a rank" : formatted("rank {}", found.rank));
  }
  const std::string here = text_in(found.values, 0, name_words);
  const std::string there = text_in(found.root_values, 0, name_words);
  if (here != there) {
    throw_error(MPI_ERR_OTHER, "{}: rank {} calls {} where rank 0 calls {}", call, found.rank, here, there);
  }
  TwoSaid said{};
  std::copy_n(found.values.begin() + name_words, said.there.size(), said.there.begin());
  std::copy_n(found.root_values.begin() + name_words, said.of_root.size(), said.of_root.begin());
  return said;
}

Said said_of(const Alike& mine) {
  constexpr int kinds = 4;
  return {mine.root, mine.bytes, number_of(mine.op) * kinds + mine.kind, number_of_types(mine)};
}

void throw_difference(const char* call, const Difference& found) {
  const auto [there, of_root] = said_of_same_call(call, found);
  const auto differ = [&](std::size_t i) {
    return there[i] != of_root[i] && there[i] != any_number && of_root[i] != any_number;
  };
  const char* what[] = {"root", "bytes"};
  for (std::size_t i = 0; i < 2; ++i) {
    if (!differ(i)) continue;
    throw_error(i == 0 ? MPI_ERR_ROOT : MPI_ERR_TRUNCATE, "{}: {} = {} on rank {}, but {} on rank 0", call,
                what[i], there[i], found.rank, of_root[i]);
  }
  if (differ(2)) {
    throw_error(MPI_ERR_OP, "{}: the operator of rank {} is not that of rank 0", call, found.rank);
  }
  if (differ(3)) {
    throw_error(MPI_ERR_TYPE, "{}: the datatype of rank {} has other elements than that of rank 0", call,
                found.rank);
  }
  throw_error(MPI_ERR_ARG, "{}: algorithm = {} on rank {}, but {} on rank 0", call,
              text_in(found.values, algorithm_at, algorithm_words), found.rank,
              text_in(found.root_values, algorithm_at, algorithm_words));
}

Task<> compare_calls_on(Channel channel) {
  const char* call = channel.operation();
  return check_alike(std::move(channel), call, {});
}

}  // namespace wisp::detail
