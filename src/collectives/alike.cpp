// With WISP_CHECK=1, ranks compare their calls before a collective: operation, root, bytes and operator
// travel as a list of numbers that rank 0 broadcasts, whatever each rank is about to do.

#include "collectives/alike.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "transport/throw_error.hpp"

namespace wisp::detail {
namespace {

constexpr std::size_t name_words = 5;

/// The same number on all ranks for MPI's own operators, whose handles differ; 0 for those of the user.
std::int64_t number_of(MPI_Op op) {
  const MPI_Op known[] = {MPI_OP_NULL, MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX,    MPI_LAND,  MPI_BAND,
                          MPI_LOR,     MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};
  std::int64_t number = 1;
  for (const MPI_Op one : known) {
    if (one == op) return number;
    ++number;
  }
  return 0;
}

std::string name_in(const std::vector<std::int64_t>& words) {
  std::string name(name_words * sizeof(std::int64_t), '\0');
  std::memcpy(name.data(), words.data(), name.size());
  return name.c_str();
}

}  // namespace

std::vector<std::int64_t> words_of(const char* call, const Alike& mine) {
  std::vector<std::int64_t> words(name_words);  // then root, bytes, operator
  std::memcpy(words.data(), call, std::min(std::strlen(call), name_words * sizeof(std::int64_t) - 1));
  words.insert(words.end(), {mine.root, mine.bytes, number_of(mine.op)});
  return words;
}

void throw_difference(const char* call, const Difference& found) {
  const std::string here = name_in(found.values);
  const std::string there = name_in(found.root_values);
  if (here != there) {
    throw_error(MPI_ERR_OTHER, "{}: rank {} calls {} where rank 0 calls {}", call, found.rank, here, there);
  }
  const char* what[] = {"root", "bytes"};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t value = found.values[name_words + i];
    const std::int64_t of_rank_0 = found.root_values[name_words + i];
    if (value == of_rank_0) continue;
    throw_error(i == 0 ? MPI_ERR_ROOT : MPI_ERR_TRUNCATE, "{}: {} = {} on rank {}, but {} on rank 0", call,
                what[i], value, found.rank, of_rank_0);
  }
  throw_error(MPI_ERR_OP, "{}: the operator of rank {} is not that of rank 0", call, found.rank);
}

}  // namespace wisp::detail
