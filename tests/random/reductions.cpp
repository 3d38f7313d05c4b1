// Reductions and scans, by operators of MPI's and by one that does not commute.

#include <algorithm>
#include <cstring>

#include "noncommutative.hpp"
#include "random/launch.hpp"
#include "wisp/split.hpp"

namespace wisp::test {
namespace {

Affine affine_of(std::int64_t factor, std::int64_t shift) {
  return {static_cast<std::uint64_t>(factor), static_cast<std::uint64_t>(shift)};
}

/// On elements that may have a gap behind them.
void apply_affine(void* left, void* right, int* count, MPI_Datatype* type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(*type, &lower, &extent);
  for (int i = 0; i < *count; ++i) {
    Affine a, b;
    std::byte* to = static_cast<std::byte*>(right) + i * extent;
    std::memcpy(&a, static_cast<std::byte*>(left) + i * extent, sizeof a);
    std::memcpy(&b, to, sizeof b);
    b = a * b;
    std::memcpy(to, &b, sizeof b);
  }
}

MPI_Op affine_op() {
  static const MPI_Op op = [] {
    MPI_Op made = MPI_OP_NULL;
    MPI_Op_create(apply_affine, 0, &made);
    return made;
  }();
  return op;
}

}  // namespace

void Running::prepare_reduction() {
  // Items of one cell and an operator of MPI's, or of two and one that does not commute.
  const int operator_kind = Draw(spec_.seed).with(3).below(4);
  const bool is_affine = operator_kind == 0;
  const std::vector<MPI_Op> known = {MPI_SUM, MPI_SUM, MPI_MAX, MPI_MIN};
  const MPI_Op op = is_affine ? affine_op() : known[static_cast<std::size_t>(operator_kind)];
  if (is_affine) base_ = Base::int64;
  if (!is_affine && base_ == Base::int8) base_ = Base::int32;  // sums would depend on their order
  const std::size_t width = is_affine ? 2 : 1;
  const auto b = static_cast<std::ptrdiff_t>(size_of(base_));
  Layout layout{{0}, b, 0};
  if (is_affine) {
    const bool has_gaps = Draw(spec_.seed).with(4).once_in(2);
    layout = has_gaps ? Layout{{0, b}, 3 * b, 3} : Layout{{0, b}, 2 * b, 1};
  }
  const MPI_Datatype type = types_.add(layout, base_).get();
  const auto side_of = [&](std::size_t items) { return &add_side(layout, type, items * width); };
  const auto cell = [&](int sender, std::size_t i) { return 1 + value(sender, 0, i); };
  /// Item `i` over ranks first … last.
  const auto reduced = [&](int first, int last, std::size_t i) {
    std::vector<std::int64_t> sum(width);
    for (std::size_t w = 0; w < width; ++w) sum[w] = cell(first, i * width + w);
    for (int r = first + 1; r <= last; ++r) {
      if (is_affine) {
        const Affine left = affine_of(sum[0], sum[1]);
        const Affine both = left * affine_of(cell(r, 2 * i), cell(r, 2 * i + 1));
        sum = {static_cast<std::int64_t>(both.factor), static_cast<std::int64_t>(both.shift)};
        continue;
      }
      const std::int64_t x = cell(r, i);
      sum[0] = op == MPI_SUM ? sum[0] + x : op == MPI_MAX ? std::max(sum[0], x) : std::min(sum[0], x);
    }
    return sum;
  };
  const auto set_input = [&](Side& side, std::size_t items) {
    for (std::size_t i = 0; i < items * width; ++i) side.area.set(i, cell(rank_, i));
  };
  const auto expect = [&](Side& side, std::size_t items, int first, int last, std::size_t from = 0) {
    for (std::size_t i = 0; i < items; ++i) {
      const std::vector<std::int64_t> sum = reduced(first, last, from + i);
      for (std::size_t w = 0; w < width; ++w) side.area.expect(i * width + w, sum[w]);
    }
  };
  const int root = root_;
  const std::size_t items = cells_;

  if (spec_.kind == Kind::reduce_scatter || spec_.kind == Kind::reduce_scatter_block) {
    const bool is_regular = spec_.kind == Kind::reduce_scatter_block;
    auto counts = std::make_shared<std::vector<int>>();
    std::size_t all = 0;
    std::size_t before = 0;
    for (int r = 0; r < size_; ++r) {
      if (r == rank_) before = all;
      const std::size_t count = is_regular ? items : cells_of(r, 1);
      counts->push_back(static_cast<int>(count));
      all += count;
    }
    const auto own = static_cast<std::size_t>((*counts)[static_cast<std::size_t>(rank_)]);
    Side* send = side_of(all);
    set_input(*send, all);
    Side* receive = is_in_place() ? send : side_of(own);
    expect(*receive, own, 0, size_ - 1, before);
    // In place, the rest of the vector is room to work in.
    if (is_in_place()) {
      for (std::size_t i = own * width; i < all * width; ++i) send->area.allow(i);
    }
    const ConstBuffer input = is_in_place() ? wisp::in_place() : send->const_buffer();
    if (is_regular) {
      WISP_LAUNCH(reduce_scatter_block, input, receive->buffer(), op);
    } else {
      launch_ = [=, this](Face face, std::string_view algorithm) -> Request {
        const Integers of_ranks(*counts);
        return WISP_CALL(comm_, reduce_scatter, input, receive->buffer(), of_ranks, op)(
            face, options_of(spec_, algorithm));
      };
    }
    return;
  }

  Side* first = side_of(items);
  const bool receives = spec_.kind != Kind::reduce || rank_ == root_;
  const bool in_place =
      is_in_place() && receives && spec_.kind != Kind::double_scan && spec_.kind != Kind::double_exscan;
  Side* receive = in_place ? first : side_of(receives ? items : 0);
  set_input(*first, items);
  const ConstBuffer input = in_place ? wisp::in_place() : first->const_buffer();
  switch (spec_.kind) {
    case Kind::reduce:
      if (receives) expect(*receive, items, 0, size_ - 1);
      WISP_LAUNCH_BOTH(reduce, input, receive->buffer(), op, root);
      return;
    case Kind::allreduce:
      expect(*receive, items, 0, size_ - 1);
      WISP_LAUNCH_BOTH(allreduce, input, receive->buffer(), op);
      return;
    case Kind::scan:
      expect(*receive, items, 0, rank_);
      WISP_LAUNCH_BOTH(scan, input, receive->buffer(), op);
      return;
    case Kind::exscan:
      if (rank_ > 0) expect(*receive, items, 0, rank_ - 1);
      WISP_LAUNCH_BOTH(exscan, input, receive->buffer(), op);
      return;
    case Kind::scan_and_bcast: {
      Side* total = side_of(items);
      expect(*receive, items, 0, rank_);
      expect(*total, items, 0, size_ - 1);
      WISP_LAUNCH(scan_and_bcast, input, receive->buffer(), total->buffer(), op);
      return;
    }
    case Kind::double_scan:
    case Kind::double_exscan: {
      Side* after = side_of(items);
      const int self = spec_.kind == Kind::double_scan ? 0 : 1;
      if (rank_ - self >= 0) expect(*receive, items, 0, rank_ - self);
      if (rank_ + self < size_) expect(*after, items, rank_ + self, size_ - 1);
      if (self == 0) {
        WISP_LAUNCH_CHAIN(double_scan, input, receive->buffer(), after->buffer(), op);
      } else {
        WISP_LAUNCH_CHAIN(double_exscan, input, receive->buffer(), after->buffer(), op);
      }
      return;
    }
    default: {
      const auto color_of = [&](int rank) {
        return Draw(spec_.seed).with(6).with(static_cast<std::uint64_t>(rank)).below(3);
      };
      int begin = rank_;
      while (begin > 0 && color_of(begin - 1) == color_of(rank_)) --begin;
      expect(*receive, items, begin, rank_);
      const Label color = color_of(rank_);
      WISP_LAUNCH_CHAIN(segmented_scan, color, input, receive->buffer(), op);
    }
  }
}

}  // namespace wisp::test
