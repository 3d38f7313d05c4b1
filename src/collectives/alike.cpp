// With WISP_CHECK=1, ranks compare their calls before a collective: operation, root, bytes, operator and
// datatype travel as a list of numbers that rank 0 broadcasts, whatever each rank is about to do.

#include "collectives/alike.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "collectives/reduction.hpp"
#include "transport/throw_error.hpp"
#include "transport/type_layout.hpp"
#include "transport/type_signature.hpp"

namespace wisp::detail {
namespace {

constexpr std::size_t name_words = 5;

std::int64_t number_of_types(const Alike& mine) {
  if (mine.bytes <= 0 || mine.type == MPI_DATATYPE_NULL) return any_number;
  const auto elements = as_size(mine.bytes) / TypeLayout::of(mine.type).size;
  const std::optional<std::uint64_t> signature = signature_of(mine.type, elements);
  return signature ? static_cast<std::int64_t>(*signature >> 1)
                   : any_number;  // one bit less: none is negative
}

std::string name_in(const std::vector<std::int64_t>& words) {
  std::string name(name_words * sizeof(std::int64_t), '\0');
  std::memcpy(name.data(), words.data(), name.size());
  return name.c_str();
}

}  // namespace

std::vector<std::int64_t> words_of(const char* call, const Said& said) {
  std::vector<std::int64_t> words(name_words);
  std::memcpy(words.data(), call, std::min(std::strlen(call), name_words * sizeof(std::int64_t) - 1));
  words.insert(words.end(), said.begin(), said.end());
  return words;
}

TwoSaid said_of_same_call(const char* call, const Difference& found) {
  if (found.values.empty()) {  // what came were no words of a call
    throw_error(MPI_ERR_OTHER,
                "{}: rank {} does not call what rank 0 calls: a collective of a chain, or none", call,
                found.rank);
  }
  const std::string here = name_in(found.values);
  const std::string there = name_in(found.root_values);
  if (here != there) {
    throw_error(MPI_ERR_OTHER, "{}: rank {} calls {} where rank 0 calls {}", call, found.rank, here, there);
  }
  TwoSaid said{};
  std::copy(found.values.begin() + name_words, found.values.end(), said.there.begin());
  std::copy(found.root_values.begin() + name_words, found.root_values.end(), said.of_root.begin());
  return said;
}

Said said_of(const Alike& mine) {
  return {mine.root, mine.bytes, number_of(mine.op), number_of_types(mine)};
}

void throw_difference(const char* call, const Difference& found) {
  const auto [there, of_root] = said_of_same_call(call, found);
  const char* what[] = {"root", "bytes"};
  for (std::size_t i = 0; i < 2; ++i) {
    if (there[i] == of_root[i]) continue;
    throw_error(i == 0 ? MPI_ERR_ROOT : MPI_ERR_TRUNCATE, "{}: {} = {} on rank {}, but {} on rank 0", call,
                what[i], there[i], found.rank, of_root[i]);
  }
  if (there[2] == of_root[2]) {
    throw_error(MPI_ERR_TYPE, "{}: the datatype of rank {} has other elements than that of rank 0", call,
                found.rank);
  }
  throw_error(MPI_ERR_OP, "{}: the operator of rank {} is not that of rank 0", call, found.rank);
}

}  // namespace wisp::detail
