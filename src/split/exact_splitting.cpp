#include "split/exact_splitting.hpp"

#include <algorithm>
#include <numeric>
#include <ranges>

#include "pattern/weighted_median.hpp"
#include "wisp/collectives.hpp"

namespace wisp::detail {
namespace {

enum class Verdict : signed char { below, here, above, settled };

/// One rank's part in finding all borders: border k is between ranks k and k + 1, and rank k owns it.
class Borders {
 public:
  Borders(const Comm& comm, const ItemLayout& layout, const ItemTable& sorted, std::size_t items_each)
      : comm_(comm),
        layout_(layout),
        sorted_(sorted),
        ranks_(as_size(comm.size())),
        target_((as_size(comm.rank()) + 1) * items_each),
        least_(ranks_, 0),
        most_(ranks_, sorted.size()),
        counts_(ranks_) {
    most_.back() = least_.back() = sorted.size();  // behind the last rank there is no border
  }

  Task<> find() {
    ItemTable proposals(layout_, ranks_);
    ItemTable heard(layout_, ranks_);
    ItemTable pivots(layout_, ranks_);
    std::vector<std::int64_t> weights(ranks_);
    std::vector<Verdict> verdicts(ranks_);
    while (true) {
      propose(proposals);
      co_await alltoall(comm_, counts_, weights);
      co_await alltoall(comm_, proposals.buffer(), heard.buffer());
      const bool is_open = std::any_of(weights.begin(), weights.end(), [](auto w) { return w > 0; });
      const auto here = as_size(comm_.rank());
      if (is_open) pivots.copy_item(median(heard, weights), here);
      co_await allgather(comm_, in_place(), pivots.buffer());
      count_below(pivots);
      co_await alltoall(comm_, counts_, weights);
      verdicts[here] = is_open ? judge(weights) : Verdict::settled;
      co_await allgather(comm_, in_place(), items(std::span(verdicts)));
      if (std::all_of(verdicts.begin(), verdicts.end(), [](Verdict v) { return v == Verdict::settled; }))
        break;
      narrow(pivots, verdicts);
    }
  }

  /// How many of this rank's items belong to each rank.
  std::vector<std::int64_t> counts() const {
    std::vector<std::int64_t> counts(ranks_);
    std::adjacent_difference(least_.begin(), least_.end(), counts.begin());
    return counts;
  }

 private:
  void propose(ItemTable& proposals) {
    for (std::size_t k = 0; k < ranks_; ++k) {
      counts_[k] = static_cast<std::int64_t>(most_[k] - least_[k]);
      if (counts_[k] > 0) proposals.copy_item(sorted_[(least_[k] + most_[k]) / 2], k);
    }
  }
  const std::byte* median(const ItemTable& proposals, std::span<const std::int64_t> weights) const {
    std::vector<std::size_t> order(ranks_);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::erase_if(order, [&](std::size_t k) { return weights[k] == 0; });
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return layout_.less(proposals[a], proposals[b]); });
    std::vector<std::int64_t> ordered;
    ordered.reserve(order.size());
    for (const std::size_t k : order) ordered.push_back(weights[k]);
    return proposals[order[weighted_median(ordered)]];
  }
  /// The first of this rank's items that is not below the pivot.
  std::size_t place_of(const std::byte* pivot) const {
    const std::ranges::iota_view places(std::size_t{0}, sorted_.size());
    const auto is_below = [&](std::size_t i) { return layout_.less(sorted_[i], pivot); };
    return static_cast<std::size_t>(std::ranges::partition_point(places, is_below) - places.begin());
  }
  void count_below(const ItemTable& pivots) {
    for (std::size_t k = 0; k < ranks_; ++k) {
      // Where this rank has no candidates left, others may; behind the last rank there is no border.
      counts_[k] = k + 1 < ranks_ ? static_cast<std::int64_t>(place_of(pivots[k])) : 0;
    }
  }
  Verdict judge(std::span<const std::int64_t> below) const {
    const auto total = as_size(std::reduce(below.begin(), below.end()));
    return total < target_ ? Verdict::below : total == target_ ? Verdict::here : Verdict::above;
  }
  void narrow(const ItemTable& pivots, std::span<const Verdict> verdicts) {
    for (std::size_t k = 0; k + 1 < ranks_; ++k) {
      if (verdicts[k] == Verdict::settled) continue;
      const std::size_t place = place_of(pivots[k]);
      const bool is_own = place < sorted_.size() && !layout_.less(pivots[k], sorted_[place]);
      if (verdicts[k] == Verdict::below) least_[k] = std::max(least_[k], place + (is_own ? 1 : 0));
      if (verdicts[k] == Verdict::above) most_[k] = std::min(most_[k], place);
      if (verdicts[k] == Verdict::here) least_[k] = most_[k] = place;
    }
  }

  Comm comm_;
  const ItemLayout& layout_;
  const ItemTable& sorted_;
  std::size_t ranks_;
  std::size_t target_;  ///< items below the border that this rank owns
  // The border k of this rank's items is within least_[k] … most_[k].
  std::vector<std::size_t> least_;
  std::vector<std::size_t> most_;
  std::vector<std::int64_t> counts_;
};

/// Merges tables that are sorted, neighbors first.
ItemTable merge_all(const ItemLayout& layout, std::vector<ItemTable> tables) {
  while (tables.size() > 1) {
    std::vector<ItemTable> merged;
    for (std::size_t i = 0; i + 1 < tables.size(); i += 2)
      merged.push_back(merge(layout, tables[i], tables[i + 1]));
    if (tables.size() % 2 == 1) merged.push_back(std::move(tables.back()));
    tables = std::move(merged);
  }
  return std::move(tables.front());
}

std::vector<std::int64_t> scaled(std::vector<std::int64_t> counts, std::size_t by) {
  for (std::int64_t& count : counts) count *= static_cast<std::int64_t>(by);
  return counts;
}

}  // namespace

Task<ItemTable> sort_exactly(Comm comm, const ItemLayout& layout, ItemTable sorted) {
  // The first rank has as many as all but the last; alone, all.
  std::int64_t items_each = static_cast<std::int64_t>(sorted.size());
  co_await bcast(comm, buffer_of(items_each), 0);
  Borders borders(comm, layout, sorted, as_size(items_each));
  co_await borders.find();
  const std::vector<std::int64_t> sent = borders.counts();
  std::vector<std::int64_t> received(sent.size());
  co_await alltoall(comm, sent, received);

  const std::size_t total = as_size(std::reduce(received.begin(), received.end()));
  const ItemTable pieces(layout, total);
  const std::vector<std::int64_t> sent_bytes = scaled(sent, layout.bytes());
  const std::vector<std::int64_t> received_bytes = scaled(received, layout.bytes());
  co_await alltoallv(comm, ConstBlocks(sorted.buffer(), sent_bytes), Blocks(pieces.buffer(), received_bytes));

  std::vector<ItemTable> tables;
  std::size_t first = 0;
  for (const std::int64_t count : received) {
    const auto size = as_size(count);
    tables.emplace_back(layout, size);
    if (size > 0) std::memcpy(tables.back()[0], pieces[first], size * layout.bytes());
    first += size;
  }
  co_return merge_all(layout, std::move(tables));
}

}  // namespace wisp::detail
