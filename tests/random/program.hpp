#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "wisp/detail/mix.hpp"

// What a random program does, the same on all ranks: drawn from a seed and the number of ranks.

namespace wisp::test {

/// Numbers that depend on nothing but what they are drawn from, wherever they are drawn.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}
  /// Of another purpose, or of another rank.
  Draw with(std::uint64_t salt) const { return Draw(detail::mix((state_ ^ (salt + 1) * step) - step)); }

  // As the standard library's distributions take it.
  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type{0}; }
  result_type operator()() { return bits(); }

  std::uint64_t bits() { return detail::mix(std::exchange(state_, state_ + step)); }
  int below(int bound) { return static_cast<int>(bits() % static_cast<std::uint64_t>(bound)); }
  /// One in `times`.
  bool once_in(int times) { return below(times) == 0; }
  template <class T>
  const T& of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }
  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) {
      std::swap(list[i - 1], list[static_cast<std::size_t>(below(static_cast<int>(i)))]);
    }
  }

 private:
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15;  // that mix adds
  std::uint64_t state_;
};

struct CommunicatorSpec {
  enum class Kind { root, range, subset, create_group, icreate };
  Kind kind = Kind::root;
  int parent = -1;
  std::vector<int> ranks;    ///< of the parent
  std::vector<int> members;  ///< of the root
  int tag = 0;               ///< of create_group
  int phase = 0;             ///< in which it is made
  int last_phase = 0;        ///< in which it is used
  int stride = 1;            ///< of a range
  int dropped_before = 0;    ///< temporaries that are made and dropped just before
};

enum class Kind {
  barrier,
  bcast,
  reduce,
  allreduce,
  scan,
  exscan,
  scan_and_bcast,
  reduce_scatter_block,
  reduce_scatter,
  gather,
  gatherv,
  gatherm,
  allgather,
  allgatherv,
  allgatherm,
  scatter,
  scatterv,
  alltoall,
  alltoallv,
  alltoallw,
  exchange,
  neighbor_alltoall,
  neighbor_alltoallv,
  neighbor_alltoallw,
  neighbor_allgather,
  neighbor_allgatherv,
  neighbor_allgatherw,
  double_scan,
  double_exscan,
  segmented_scan,
  messages,
  sort,
  split,
  count
};
const char* name_of(Kind kind);

enum class Face { task, nonblocking, persistent, blocking, count };

struct OperationSpec {
  int id = 0;
  Kind kind = Kind::barrier;
  int comm = 0;
  int phase = 0;
  bool on_chain = false;
  Face face = Face::task;
  bool has_own_tag = false;
  bool any_tag = false;    ///< of messages: no others on this communicator
  int dropped_before = 0;  ///< persistent operations that are made and dropped just before
  std::string algorithm;   ///< empty: whichever is chosen
  std::uint64_t seed = 0;  ///< of everything else
};

struct Program {
  std::uint64_t seed = 0;
  int ranks = 1;
  int phases = 1;
  std::vector<CommunicatorSpec> communicators;
  std::vector<OperationSpec> operations;  ///< in the order in which they start on one communicator
};

Program program_of(std::uint64_t seed, int ranks);

std::string describe(const Program& program);

}  // namespace wisp::test
