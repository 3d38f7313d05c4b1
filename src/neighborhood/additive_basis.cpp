// A small additive basis, by halving: a vector b and half of the targets, such that each other target is b
// further than one of that half (or than zero); then the same for the half.
//
//   b = 1:   0 1 2 3 4 5 6 7   the half {2, 4, 6}          blocks go to the half first (by the rounds of
//   b = 2:   0   2   4   6     the half {4}                its own basis), then, in one round, from there
//   b = 4:   0       4         nothing                     along b to the rest: 3 rounds instead of 7
//
// Where all dimensions are searched at once, every place that a block passes is a target itself, and an
// allgather sends no block that its receiver does not want: s blocks in all. Each b is tried that is the
// difference of two targets, the best few first, deeper while the budget lasts; a dimension at a time, and
// all dimensions at once, whichever needs fewer rounds.
//
// Cost: the first try takes O(c s d log s) for c candidates, and the search goes on to a fixed number of
// steps. Source: Träff et al. 2016, section 5 (the problem; the method is ours).

#include "neighborhood/additive_basis.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <optional>
#include <unordered_map>

namespace wisp::detail {
namespace {

using Vector = std::vector<int>;

/// Targets as indices; what differences between them mean.
class Targets {
 public:
  static constexpr int zero = -1;
  static constexpr int none = -2;

  Targets(const Torus& torus, const Offsets& offsets) : torus_(torus), offsets_(offsets) {
    std::vector<std::uint64_t> spans;
    for (int j = 0; j < offsets.dimensions(); ++j) {
      // Sums of a target and a difference of targets are told from each other.
      int largest = 0;
      for (int i = 0; i < offsets.size(); ++i) largest = std::max(largest, std::abs(at(i, j)));
      spans.push_back(6 * static_cast<std::uint64_t>(largest) + 3);
    }
    strides_.resize(spans.size());
    std::exclusive_scan(spans.begin(), spans.end(), strides_.begin(), std::uint64_t{1}, std::multiplies<>());
    places_.reserve(as_size(offsets.size()));
    for (int i = 0; i < offsets.size(); ++i) places_.emplace(key(i, zero), i);
  }

  int count() const { return offsets_.size(); }
  /// Target i less target k; k may be `zero`.
  Vector difference(int i, int k) const {
    Vector vector(as_size(offsets_.dimensions()));
    for (int j = 0; j < offsets_.dimensions(); ++j) vector[as_size(j)] = difference(i, k, j);
    return vector;
  }
  /// A number for it.
  std::uint64_t key(int i, int k) const {
    std::uint64_t key = 0;
    for (int j = 0; j < offsets_.dimensions(); ++j) {
      key += strides_[as_size(j)] * static_cast<std::uint64_t>(std::int64_t{difference(i, k, j)});
    }
    return key;
  }
  /// The target that lies `b` before target i, `zero`, or `none`.
  int before(int i, const Vector& b) const {
    std::uint64_t key = 0;
    bool is_zero = true;
    for (int j = 0; j < offsets_.dimensions(); ++j) {
      const int c = at(i, j);
      const int step = b[as_size(j)];
      // Where there is a border, blocks go straight towards their target.
      const bool is_towards = step >= 0 ? step <= std::max(c, 0) : step >= std::min(c, 0);
      if (!torus_.periodic(j) && !is_towards) return none;
      const int rest = canonical(c - step, j);
      is_zero = is_zero && rest == 0;
      key += strides_[as_size(j)] * static_cast<std::uint64_t>(std::int64_t{rest});
    }
    if (is_zero) return zero;
    const auto found = places_.find(key);
    return found == places_.end() ? none : found->second;
  }

 private:
  int difference(int i, int k, int j) const { return canonical(at(i, j) - (k < 0 ? 0 : at(k, j)), j); }
  int at(int i, int j) const { return offsets_[i][as_size(j)]; }
  /// Modulo a periodic dimension, as short as it can be.
  int canonical(int c, int j) const {
    if (!torus_.periodic(j)) return c;
    const int n = torus_.dim(j);
    c %= n;
    if (2 * std::int64_t{c} > n) c -= n;
    if (2 * std::int64_t{c} <= -n) c += n;
    return c;
  }

  const Torus& torus_;
  const Offsets& offsets_;
  std::vector<std::uint64_t> strides_;
  std::unordered_map<std::uint64_t, int> places_;
};

class Search {
 public:
  explicit Search(const Targets& targets)
      : targets_(targets), before_(count(), Targets::none), after_(count(), Targets::none), is_in_(count()) {}

  /// Vectors in the order in which they were found (the reverse of that of blocks), fewer than `bound` of
  /// them; nothing if none are found.
  std::optional<std::vector<Vector>> solve(std::size_t bound, long budget) {
    budget_ = budget;
    best_.reset();
    bound_ = bound;
    std::vector<int> all(count());
    std::iota(all.begin(), all.end(), 0);
    std::vector<Vector> path;
    descend(all, path);
    return best_;
  }

  /// Of the targets in `set`, those that are not `b` further than another one of the result, or than zero.
  std::vector<int> halve(const std::vector<int>& set, const Vector& b) {
    for (const int i : set) is_in_[as_size(i)] = 1;
    for (const int i : set) after_[as_size(i)] = Targets::none;
    for (const int i : set) {
      const int previous = targets_.before(i, b);
      const bool counts = previous == Targets::zero || (previous >= 0 && is_in_[as_size(previous)] != 0);
      before_[as_size(i)] = counts ? previous : Targets::none;
      if (counts && previous >= 0) after_[as_size(previous)] = i;
    }
    std::vector<int> half;
    const auto walk = [&](int first) {
      bool was_chosen = before_[as_size(first)] == Targets::zero;
      for (int i = first; i >= 0 && is_in_[as_size(i)] != 0; i = after_[as_size(i)]) {
        if (!was_chosen) half.push_back(i);
        was_chosen = !was_chosen;
        is_in_[as_size(i)] = 0;
      }
    };
    for (const int i : set) {
      if (before_[as_size(i)] < 0) walk(i);
    }
    for (const int i : set) {
      if (is_in_[as_size(i)] != 0) walk(i);  // around a periodic dimension
    }
    std::sort(half.begin(), half.end());
    return half;
  }

 private:
  struct Candidate {
    Vector b;
    std::vector<int> half;
  };

  std::size_t count() const { return as_size(targets_.count()); }

  /// Differences that many pairs have: all of a small set, those that are frequent in a sample of a large
  /// one.
  std::vector<Vector> differences(const std::vector<int>& set) {
    constexpr std::size_t small = 24;
    constexpr std::size_t sample = 12;
    constexpr std::size_t most = 24;
    struct Counted {
      int i;
      int k;
      int count = 0;
      std::uint64_t key = 0;
    };
    std::unordered_map<std::uint64_t, Counted> counted;
    const auto add = [&](int i, int k) {
      const std::uint64_t key = targets_.key(i, k);
      ++counted.try_emplace(key, Counted{i, k, 0, key}).first->second.count;
      --budget_;
    };
    const std::size_t step = set.size() <= small ? 1 : set.size() / sample;
    for (std::size_t k = 0; k < set.size(); k += step) {
      for (const int i : set) {
        if (i != set[k]) add(i, set[k]);
      }
    }
    if (set.size() <= small) {
      for (const int i : set) add(i, Targets::zero);
    }
    std::vector<Counted> sorted;
    sorted.reserve(counted.size());
    for (const auto& [key, difference] : counted) sorted.push_back(difference);
    // Keys break ties, so that all ranks find the same.
    const auto is_before = [](const Counted& a, const Counted& b) {
      return a.count != b.count ? a.count > b.count : a.key < b.key;
    };
    const std::size_t kept = set.size() <= small ? sorted.size() : std::min(most, sorted.size());
    std::partial_sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(kept), sorted.end(),
                      is_before);
    std::vector<Vector> found;
    found.reserve(kept + 1);
    for (std::size_t i = 0; i < kept; ++i) found.push_back(targets_.difference(sorted[i].i, sorted[i].k));
    found.push_back(targets_.difference(set.front(), Targets::zero));  // from zero there is always a way
    return found;
  }

  void descend(const std::vector<int>& set, std::vector<Vector>& path) {
    if (set.empty()) {
      best_ = path;
      bound_ = path.size();
      return;
    }
    // k vectors have 2^k sums, one of them zero.
    if (path.size() + as_size(std::bit_width(set.size())) >= bound_) return;
    std::vector<Candidate> candidates;
    for (Vector& b : differences(set)) {
      std::vector<int> half = halve(set, b);
      budget_ -= static_cast<long>(set.size());
      candidates.push_back({std::move(b), std::move(half)});
    }
    constexpr std::size_t width = 4;
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.half.size() < b.half.size(); });
    for (std::size_t i = 0; i < std::min(width, candidates.size()); ++i) {
      path.push_back(candidates[i].b);
      descend(candidates[i].half, path);
      path.pop_back();
      if (budget_ < 0) return;
    }
  }

  const Targets& targets_;
  std::vector<int> before_;
  std::vector<int> after_;
  std::vector<char> is_in_;
  std::optional<std::vector<Vector>> best_;
  std::size_t bound_ = 0;
  long budget_ = 0;
};

/// Which vectors lead to each target. Blocks take the vectors found last first.
AdditiveBasis routes_along(const Targets& targets, Search& search, const std::vector<Vector>& found) {
  AdditiveBasis basis;
  basis.vectors.assign(found.rbegin(), found.rend());
  basis.routes.resize(as_size(targets.count()));
  std::vector<int> at(as_size(targets.count()));
  std::iota(at.begin(), at.end(), 0);
  std::vector<int> set = at;
  for (std::size_t level = 0; level < found.size(); ++level) {
    const std::vector<int> half = search.halve(set, found[level]);
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (at[i] < 0 || std::binary_search(half.begin(), half.end(), at[i])) continue;
      basis.routes[i].insert(basis.routes[i].begin(), static_cast<int>(found.size() - 1 - level));
      at[i] = targets.before(at[i], found[level]);
    }
    set = half;
  }
  return basis;
}

std::optional<AdditiveBasis> search_basis(const Torus& torus, const Offsets& offsets, std::size_t bound,
                                          long budget) {
  const Targets targets(torus, offsets);
  Search search(targets);
  const std::optional<std::vector<Vector>> found = search.solve(bound, budget);
  if (!found) return std::nullopt;
  return routes_along(targets, search, *found);
}

AdditiveBasis basis_of_targets(const Offsets& targets) {
  AdditiveBasis basis;
  for (int i = 0; i < targets.size(); ++i) {
    basis.vectors.emplace_back(targets[i].begin(), targets[i].end());
    basis.routes.push_back({i});
  }
  return basis;
}

/// A basis for the coordinates of each dimension by itself.
AdditiveBasis basis_by_dimension(const Torus& torus, const Offsets& targets, long budget) {
  const auto d = as_size(targets.dimensions());
  AdditiveBasis basis;
  basis.routes.resize(as_size(targets.size()));
  for (std::size_t j = 0; j < d; ++j) {
    Offsets projected(static_cast<int>(d));
    std::unordered_map<int, int> places;
    for (int i = 0; i < targets.size(); ++i) {
      const int c = targets[i][j];
      if (c == 0 || !places.emplace(c, projected.size()).second) continue;
      Vector along(d);
      along[j] = c;
      projected.add(along);
    }
    if (projected.size() == 0) continue;
    // Not smaller than the coordinates themselves: these take blocks there in one hop.
    const auto coordinates = as_size(projected.size());
    const AdditiveBasis of_dimension =
        search_basis(torus, projected, coordinates, budget).value_or(basis_of_targets(projected));
    const auto first = static_cast<int>(basis.vectors.size());
    basis.vectors.insert(basis.vectors.end(), of_dimension.vectors.begin(), of_dimension.vectors.end());
    for (int i = 0; i < targets.size(); ++i) {
      if (targets[i][j] == 0) continue;
      const auto place = as_size(places.at(targets[i][j]));
      for (const int v : of_dimension.routes[place]) basis.routes[as_size(i)].push_back(first + v);
    }
  }
  return basis;
}

}  // namespace

AdditiveBasis find_basis(const Torus& torus, const Offsets& targets) {
  // Steps of a few nanoseconds: some milliseconds in all.
  constexpr long budget = 40'000;
  AdditiveBasis basis = basis_by_dimension(torus, targets, budget);
  if (targets.dimensions() < 2) return basis;
  if (std::optional<AdditiveBasis> joint = search_basis(torus, targets, basis.vectors.size(), budget)) {
    return std::move(*joint);
  }
  return basis;
}

}  // namespace wisp::detail
