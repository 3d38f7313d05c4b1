#include "random/operation.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "wisp/error.hpp"
#include "wisp/sort.hpp"
#include "wisp/split.hpp"

namespace wisp::test {
namespace {

/// x ↦ factor · x + shift, one after the other.
void compose(const std::uint64_t* first, std::uint64_t* second) {
  const std::uint64_t factor = first[0] * second[0];
  const std::uint64_t shift = first[1] * second[0] + second[1];
  second[0] = factor;
  second[1] = shift;
}

void apply_affine(void* left, void* right, int* count, MPI_Datatype* type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(*type, &lower, &extent);
  for (int i = 0; i < *count; ++i) {
    std::uint64_t a[2];
    std::uint64_t b[2];
    std::memcpy(a, static_cast<std::byte*>(left) + i * extent, sizeof a);
    std::memcpy(b, static_cast<std::byte*>(right) + i * extent, sizeof b);
    compose(a, b);
    std::memcpy(static_cast<std::byte*>(right) + i * extent, b, sizeof b);
  }
}

/// A call by its face; `on` is what it is a member of.
#define WISP_CALL(on, name, ...)                                  \
  [=, this](Face face, const auto& options) -> Request {          \
    switch (face) {                                               \
      case Face::task:                                            \
        return comm_.start(wisp::name(on, __VA_ARGS__, options)); \
      case Face::persistent:                                      \
        return on.name##_init(__VA_ARGS__, options);              \
      case Face::blocking:                                        \
        on.name(__VA_ARGS__, options);                            \
        return {};                                                \
      default:                                                    \
        return on.i##name(__VA_ARGS__, options);                  \
    }                                                             \
  }

}  // namespace

MPI_Op affine_op() {
  static const MPI_Op op = [] {
    MPI_Op made = MPI_OP_NULL;
    MPI_Op_create(apply_affine, 0, &made);
    return made;
  }();
  return op;
}

Running::Running(const OperationSpec& spec, const Comm& comm, bool can_block)
    : spec_(spec),
      comm_(comm),
      chain_(spec.on_chain ? Chain(comm) : Chain()),
      can_block_(can_block),
      draw_(Draw(spec.seed).with(1000 + static_cast<std::uint64_t>(comm.rank()))),
      rank_(comm.rank()),
      size_(comm.size()) {
  Draw draw(spec.seed);
  base_ = static_cast<Base>(draw.below(4));
  // Nothing, one, odd numbers, numbers that many datatypes divide, and now and then thousands.
  const std::vector<std::size_t> usual = {0, 1, 2, 5, 12, 12, 24, 36, 60, 119, 240};
  cells_ = draw.once_in(12) ? 1200 * static_cast<std::size_t>(1 + draw.below(5)) : draw.of(usual);
  root_ = draw.below(size_);
  prepare();
}

std::int64_t Running::value(int sender, int block, std::size_t cell) const {
  const auto salt = static_cast<std::uint64_t>(sender) * 1009 + static_cast<std::uint64_t>(block);
  return static_cast<std::int64_t>(Draw(spec_.seed).with(salt).with(cell).bits() % 100);
}

/// Sizes of v-forms: what `rank` has as block `block`.
std::size_t Running::cells_of(int rank, int block) const {
  Draw draw = Draw(spec_.seed).with(7).with(static_cast<std::uint64_t>(rank * 1009 + block));
  if (draw.once_in(3)) return 0;
  if (draw.once_in(8)) return cells_ * 3;
  return draw.once_in(2) ? cells_ : static_cast<std::size_t>(draw.below(30));
}

/// Elements one after the other, whose datatype divides `unit` cells.
Running::Side& Running::add_side(std::size_t cells, std::size_t unit) {
  Side& side = *sides_.emplace_back(std::make_unique<Side>());
  side.layout = layout_of(draw_.below(layout_kinds), base_, unit, true);
  side.type = types_.add(side.layout, base_).get();
  side.count = cells / side.layout.cells.size();
  std::vector<std::ptrdiff_t> offsets(cells);
  for (std::size_t i = 0; i < cells; ++i) offsets[i] = side.layout.offset(i);
  side.area = Area(base_, std::move(offsets));
  return side;
}

Running::Side& Running::add_blocks(const std::vector<std::size_t>& cells, Spread spread) {
  Side& side = *sides_.emplace_back(std::make_unique<Side>());
  const std::size_t divisor = std::accumulate(cells.begin(), cells.end(), std::size_t{0},
                                              [](auto a, auto b) { return std::gcd(a, b); });
  side.layout = layout_of(draw_.below(layout_kinds), base_, divisor, false);
  side.type = types_.add(side.layout, base_).get();
  const std::size_t blocks = cells.size();
  std::vector<Layout> layouts(blocks, side.layout);
  if (spread == Spread::by_types) {
    for (std::size_t i = 0; i < blocks; ++i) {
      layouts[i] = layout_of(draw_.below(layout_kinds), base_, cells[i], false);
      side.types.push_back(types_.add(layouts[i], base_).get());
    }
  }
  side.counts.resize(blocks);
  side.displacements.resize(blocks);
  side.first_cell.resize(blocks);
  std::vector<int> order(blocks);
  std::iota(order.begin(), order.end(), 0);
  if (spread != Spread::together) draw_.shuffle(order);
  std::vector<std::ptrdiff_t> starts(blocks);
  std::ptrdiff_t end = 0;  // in elements, or in bytes with datatypes of their own
  for (const int block : order) {
    const auto i = static_cast<std::size_t>(block);
    const std::size_t count = cells[i] / layouts[i].cells.size();
    const std::ptrdiff_t gap = spread == Spread::together ? 0 : draw_.below(3);
    if (spread == Spread::by_types) {
      const std::ptrdiff_t room = 4 * static_cast<std::ptrdiff_t>(size_of(base_));
      end += room + gap * static_cast<std::ptrdiff_t>(size_of(base_));
      starts[i] = end;
      end += static_cast<std::ptrdiff_t>(count) * layouts[i].extent + room;
      side.displacements[i] = static_cast<int>(starts[i]);
    } else {
      end += gap;
      starts[i] = end * side.layout.extent;
      side.displacements[i] = static_cast<int>(end);
      end += static_cast<std::ptrdiff_t>(count);
    }
    side.counts[i] = static_cast<int>(count);
  }
  std::vector<std::ptrdiff_t> offsets;
  for (std::size_t i = 0; i < blocks; ++i) {
    side.first_cell[i] = offsets.size();
    for (std::size_t c = 0; c < cells[i]; ++c) offsets.push_back(starts[i] + layouts[i].offset(c));
  }
  side.area = Area(base_, std::move(offsets));
  return side;
}

/// Block `block` of a side is what `sender` sends as its block `sent_block`.
void Running::fill(Side& side, std::size_t block, int sender, int sent_block, bool is_expected) {
  const std::size_t first = side.first_cell[block];
  const std::size_t end = block + 1 < side.first_cell.size() ? side.first_cell[block + 1] : side.area.size();
  for (std::size_t c = first; c < end; ++c) {
    const std::int64_t is = value(sender, sent_block, c - first);
    is_expected ? side.area.expect(c, is) : side.area.set(c, is);
  }
}

void Running::prepare() {
  switch (spec_.kind) {
    case Kind::bcast:
    case Kind::gather:
    case Kind::scatter:
    case Kind::allgather:
    case Kind::alltoall:
      return prepare_rooted();
    case Kind::gatherv:
    case Kind::scatterv:
    case Kind::allgatherv:
    case Kind::alltoallv:
    case Kind::alltoallw:
      return prepare_blocks();
    case Kind::gatherm:
    case Kind::allgatherm:
      return prepare_merge();
    case Kind::messages:
      return prepare_messages();
    case Kind::sort:
      return prepare_sort();
    case Kind::split:
      return prepare_split();
    case Kind::barrier:
      launch_ = [this](Face face, std::string_view algorithm) -> Request {
        const auto call = [&](const auto& on, const auto& options) -> Request {
          if (face == Face::task) return comm_.start(wisp::barrier(on, options));
          if (face == Face::persistent) return on.barrier_init(options);
          if (face == Face::blocking) return (on.barrier(options), Request());
          return on.ibarrier(options);
        };
        if (spec_.on_chain) return call(chain_, ChainOptions{});
        CollectiveOptions options;
        options.algorithm = algorithm;
        return call(comm_, options);
      };
      return;
    default:
      if (spec_.kind >= Kind::neighbor_alltoall && spec_.kind <= Kind::neighbor_allgatherw) {
        return prepare_neighbors();
      }
      return prepare_reduction();
  }
}

namespace {

std::optional<int> own_tag_of(const OperationSpec& spec) {
  if (!spec.has_own_tag) return std::nullopt;
  return spec.id % 60;
}

CollectiveOptions options_of(const OperationSpec& spec, std::string_view algorithm) {
  CollectiveOptions options;
  options.algorithm = algorithm;
  options.own_tag = own_tag_of(spec);
  return options;
}

ChainOptions chain_options_of(const OperationSpec& spec) {
  return {own_tag_of(spec)};
}

}  // namespace

// Of a call that chains have too, and of one that they have not.
#define WISP_LAUNCH_BOTH(name, ...)                                                                 \
  launch_ = [=, this](Face face, std::string_view algorithm) -> Request {                           \
    if (spec_.on_chain) return WISP_CALL(chain_, name, __VA_ARGS__)(face, chain_options_of(spec_)); \
    return WISP_CALL(comm_, name, __VA_ARGS__)(face, options_of(spec_, algorithm));                 \
  }
#define WISP_LAUNCH(name, ...)                                                      \
  launch_ = [=, this](Face face, std::string_view algorithm) -> Request {           \
    return WISP_CALL(comm_, name, __VA_ARGS__)(face, options_of(spec_, algorithm)); \
  }
#define WISP_LAUNCH_CHAIN(name, ...)                                            \
  launch_ = [=, this](Face face, std::string_view) -> Request {                 \
    return WISP_CALL(chain_, name, __VA_ARGS__)(face, chain_options_of(spec_)); \
  }

void Running::prepare_rooted() {
  const auto ranks = static_cast<std::size_t>(size_);
  const bool is_root = rank_ == root_;
  const auto all = [&] {
    Side& side = add_side(ranks * cells_, cells_);
    for (std::size_t r = 0; r < ranks; ++r) side.first_cell.push_back(r * cells_);
    return &side;
  };
  const auto one = [&] {
    Side& side = add_side(cells_, cells_);
    side.first_cell = {0};
    return &side;
  };
  const bool is_in_place = Draw(spec_.seed).with(2).once_in(3);
  const auto own = static_cast<std::size_t>(rank_);
  const int root = root_;
  switch (spec_.kind) {
    case Kind::bcast: {
      Side* side = one();
      fill(*side, 0, root_, 0, !is_root);
      WISP_LAUNCH_BOTH(bcast, side->buffer(), root);
      return;
    }
    case Kind::gather: {
      Side* receive = is_root ? all() : nullptr;
      const bool in_place = is_in_place && is_root;
      Side* send = in_place ? nullptr : one();
      if (send != nullptr) fill(*send, 0, rank_, 0, false);
      for (int r = 0; r < size_ && is_root; ++r) {
        fill(*receive, static_cast<std::size_t>(r), r, 0, !(in_place && r == rank_));
      }
      WISP_LAUNCH_BOTH(gather, in_place ? wisp::in_place() : send->const_buffer(),
                       is_root ? receive->buffer() : Buffer(), root);
      return;
    }
    case Kind::scatter: {
      Side* send = is_root ? all() : nullptr;
      const bool in_place = is_in_place && is_root;
      Side* receive = in_place ? nullptr : one();
      for (int r = 0; r < size_ && is_root; ++r) fill(*send, static_cast<std::size_t>(r), root_, r, false);
      if (receive != nullptr) fill(*receive, 0, root_, rank_, true);
      WISP_LAUNCH_BOTH(scatter, is_root ? send->const_buffer() : ConstBuffer(),
                       in_place ? buffer_in_place() : receive->buffer(), root);
      return;
    }
    case Kind::allgather: {
      Side* receive = all();
      Side* send = is_in_place ? nullptr : one();
      if (send != nullptr) fill(*send, 0, rank_, 0, false);
      for (int r = 0; r < size_; ++r) {
        fill(*receive, static_cast<std::size_t>(r), r, 0, !(is_in_place && r == rank_));
      }
      WISP_LAUNCH_BOTH(allgather, is_in_place ? wisp::in_place() : send->const_buffer(), receive->buffer());
      return;
    }
    default: {
      Side* receive = all();
      Side* send = is_in_place ? nullptr : all();
      for (int r = 0; r < size_; ++r) {
        const auto block = static_cast<std::size_t>(r);
        fill(send != nullptr ? *send : *receive, block, rank_, r, false);
        fill(*receive, block, r, rank_, true);
      }
      static_cast<void>(own);
      WISP_LAUNCH(alltoall, is_in_place ? wisp::in_place() : send->const_buffer(), receive->buffer());
    }
  }
}

void Running::prepare_blocks() {
  const auto ranks = static_cast<std::size_t>(size_);
  const bool is_root = rank_ == root_;
  const Spread spread = draw_.once_in(3) ? Spread::together : Spread::apart;
  const bool is_in_place = Draw(spec_.seed).with(2).once_in(3);
  const int root = root_;
  const auto one = [&](std::size_t cells) {
    Side& side = add_side(cells, cells);
    side.first_cell = {0};
    return &side;
  };
  std::vector<std::size_t> of_ranks(ranks);
  for (std::size_t r = 0; r < ranks; ++r) of_ranks[r] = cells_of(static_cast<int>(r), 0);
  const std::size_t own = of_ranks[static_cast<std::size_t>(rank_)];
  switch (spec_.kind) {
    case Kind::gatherv: {
      const bool in_place = is_in_place && is_root;
      Side* receive = is_root ? &add_blocks(of_ranks, spread) : nullptr;
      Side* send = in_place ? nullptr : one(own);
      if (send != nullptr) fill(*send, 0, rank_, 0, false);
      for (int r = 0; r < size_ && is_root; ++r) {
        fill(*receive, static_cast<std::size_t>(r), r, 0, !(in_place && r == rank_));
      }
      WISP_LAUNCH(gatherv, in_place ? wisp::in_place() : send->const_buffer(),
                  is_root ? receive->blocks() : Blocks(), root);
      return;
    }
    case Kind::scatterv: {
      const bool in_place = is_in_place && is_root;
      Side* send = is_root ? &add_blocks(of_ranks, spread) : nullptr;
      Side* receive = in_place ? nullptr : one(own);
      for (int r = 0; r < size_ && is_root; ++r) fill(*send, static_cast<std::size_t>(r), root_, r, false);
      if (receive != nullptr) fill(*receive, 0, root_, rank_, true);
      WISP_LAUNCH(scatterv, is_root ? send->const_blocks() : ConstBlocks(),
                  in_place ? buffer_in_place() : receive->buffer(), root);
      return;
    }
    case Kind::allgatherv: {
      Side* receive = &add_blocks(of_ranks, spread);
      Side* send = is_in_place ? nullptr : one(own);
      if (send != nullptr) fill(*send, 0, rank_, 0, false);
      for (int r = 0; r < size_; ++r) {
        fill(*receive, static_cast<std::size_t>(r), r, 0, !(is_in_place && r == rank_));
      }
      WISP_LAUNCH(allgatherv, is_in_place ? wisp::in_place() : send->const_buffer(), receive->blocks());
      return;
    }
    default: {
      std::vector<std::size_t> sent(ranks), received(ranks);
      for (int r = 0; r < size_; ++r) {
        const auto i = static_cast<std::size_t>(r);
        // In place, what two ranks send each other has one size.
        sent[i] = is_in_place ? cells_of(std::min(r, rank_), std::max(r, rank_)) : cells_of(rank_, r);
        received[i] = is_in_place ? sent[i] : cells_of(r, rank_);
      }
      const Spread how = spec_.kind == Kind::alltoallw ? Spread::by_types : spread;
      Side* receive = &add_blocks(received, how);
      Side* send = is_in_place ? nullptr : &add_blocks(sent, how);
      for (int r = 0; r < size_; ++r) {
        const auto block = static_cast<std::size_t>(r);
        fill(send != nullptr ? *send : *receive, block, rank_, r, false);
        fill(*receive, block, r, rank_, true);
      }
      if (spec_.kind == Kind::alltoallv) {
        WISP_LAUNCH(alltoallv, is_in_place ? blocks_in_place() : send->const_blocks(), receive->blocks());
      } else {
        WISP_LAUNCH(alltoallw, is_in_place ? blocks_in_place() : send->const_blocks(), receive->blocks());
      }
    }
  }
}

void Running::prepare_merge() {
  base_ = Base::int64;
  const auto sequence_of = [&](int rank) {
    std::vector<std::int64_t> sequence(cells_of(rank, 0));
    for (std::size_t i = 0; i < sequence.size(); ++i) sequence[i] = value(rank, 0, i);
    std::ranges::sort(sequence);
    return sequence;
  };
  const auto plain = [&](std::size_t cells) {
    Side& side = *sides_.emplace_back(std::make_unique<Side>());
    side.type = MPI_INT64_T;
    side.count = cells;
    std::vector<std::ptrdiff_t> offsets(cells);
    for (std::size_t i = 0; i < cells; ++i)
      offsets[i] = static_cast<std::ptrdiff_t>(i * sizeof(std::int64_t));
    side.area = Area(base_, std::move(offsets));
    return &side;
  };
  const std::vector<std::int64_t> own = sequence_of(rank_);
  Side* send = plain(own.size());
  for (std::size_t i = 0; i < own.size(); ++i) send->area.set(i, own[i]);
  std::vector<std::int64_t> all;
  for (int r = 0; r < size_; ++r) {
    for (const std::int64_t x : sequence_of(r)) all.push_back(x);
  }
  std::ranges::sort(all);
  const bool receives = spec_.kind == Kind::allgatherm || rank_ == root_;
  Side* receive = plain(receives ? all.size() : 0);
  for (std::size_t i = 0; i < receive->count; ++i) receive->area.expect(i, all[i]);
  const Merge merge = [](void* first, void* first_end, void* second, void* second_end, void* result) {
    using I = std::int64_t;
    std::merge(static_cast<I*>(first), static_cast<I*>(first_end), static_cast<I*>(second),
               static_cast<I*>(second_end), static_cast<I*>(result));
  };
  const int root = root_;
  if (spec_.kind == Kind::gatherm) {
    WISP_LAUNCH(gatherm, send->const_buffer(), receive->buffer(), root, merge);
  } else {
    WISP_LAUNCH(allgatherm, send->const_buffer(), receive->buffer(), merge);
  }
}

void Running::prepare_reduction() {
  // Items of one cell and an operator of MPI's, or of two and one that does not commute.
  const bool is_affine = operator_kind() == 0;
  const std::vector<MPI_Op> known = {MPI_SUM, MPI_SUM, MPI_MAX, MPI_MIN};
  const MPI_Op op = is_affine ? affine_op() : known[static_cast<std::size_t>(operator_kind())];
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
  const auto side_of = [&](std::size_t items) {
    Side& side = *sides_.emplace_back(std::make_unique<Side>());
    side.layout = layout;
    side.type = type;
    side.count = items;
    std::vector<std::ptrdiff_t> offsets(items * width);
    for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = layout.offset(i);
    side.area = Area(base_, std::move(offsets));
    return &side;
  };
  const auto cell = [&](int sender, std::size_t i) { return 1 + value(sender, 0, i); };
  /// Item `i` over ranks first … last.
  const auto reduced = [&](int first, int last, std::size_t i) {
    std::vector<std::int64_t> sum(width);
    for (std::size_t w = 0; w < width; ++w) sum[w] = cell(first, i * width + w);
    for (int r = first + 1; r <= last; ++r) {
      if (is_affine) {
        const std::uint64_t left[] = {static_cast<std::uint64_t>(sum[0]), static_cast<std::uint64_t>(sum[1])};
        std::uint64_t right[] = {static_cast<std::uint64_t>(cell(r, 2 * i)),
                                 static_cast<std::uint64_t>(cell(r, 2 * i + 1))};
        compose(left, right);
        sum = {static_cast<std::int64_t>(right[0]), static_cast<std::int64_t>(right[1])};
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
  const bool is_in_place = Draw(spec_.seed).with(2).once_in(3);
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
    Side* receive = is_in_place ? send : side_of(own);
    expect(*receive, own, 0, size_ - 1, before);
    // In place, the rest of the vector is room to work in.
    if (is_in_place) {
      for (std::size_t i = own * width; i < all * width; ++i) send->area.allow(i);
    }
    const ConstBuffer input = is_in_place ? wisp::in_place() : send->const_buffer();
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
      is_in_place && receives && spec_.kind != Kind::double_scan && spec_.kind != Kind::double_exscan;
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

void Running::prepare_neighbors() {
  Draw draw = Draw(spec_.seed).with(8);
  // Dimensions of 1 and 2, meshes and tori, offsets that repeat, are zero, or go around.
  std::vector<int> dims(static_cast<std::size_t>(1 + draw.below(3)), 1);
  for (int rest = size_, factor = 2; rest > 1;) {
    if (rest % factor != 0) {
      ++factor;
      continue;
    }
    dims[static_cast<std::size_t>(draw.below(static_cast<int>(dims.size())))] *= factor;
    rest /= factor;
  }
  std::vector<int> periods(dims.size());
  for (int& period : periods) period = draw.once_in(3) ? 0 : 1;
  Offsets offsets(static_cast<int>(dims.size()));
  std::vector<std::vector<int>> list(static_cast<std::size_t>(draw.below(10)));
  for (std::vector<int>& offset : list) {
    for (std::size_t j = 0; j < dims.size(); ++j) offset.push_back(draw.below(7) - 3);
    if (draw.once_in(4)) offset = list.front().size() == dims.size() ? list.front() : offset;
    offsets.add(offset);
  }
  neighborhood_ = Neighborhood(comm_, Stencil(Torus(dims, periods), offsets));
  /// The rank at an offset, or -1; the last dimension runs fastest.
  const auto at = [&](const std::vector<int>& offset, int sign) {
    int rank = 0;
    int stride = size_;
    int rest = rank_;
    for (std::size_t j = 0; j < dims.size(); ++j) {
      stride /= dims[j];
      int x = rest / stride + sign * offset[j];
      rest %= stride;
      if (periods[j] != 0) {
        x = (x % dims[j] + dims[j]) % dims[j];
      } else if (x < 0 || x >= dims[j]) {
        return -1;
      }
      rank += x * stride;
    }
    return rank;
  };
  const std::size_t neighbors = list.size();
  const bool is_alltoall = spec_.kind <= Kind::neighbor_alltoallw;
  const bool is_regular = spec_.kind == Kind::neighbor_alltoall || spec_.kind == Kind::neighbor_allgather;
  const bool has_types = spec_.kind == Kind::neighbor_alltoallw || spec_.kind == Kind::neighbor_allgatherw;
  std::vector<std::size_t> cells(neighbors, cells_ % 600);
  if (is_alltoall && !is_regular) {
    for (std::size_t i = 0; i < neighbors; ++i) cells[i] = cells_of(0, static_cast<int>(i)) % 600;
  }
  const Spread spread = has_types ? Spread::by_types : Spread::apart;
  const auto regular = [&](std::size_t blocks) {
    Side& side = add_side(blocks * (cells_ % 600), cells_ % 600);
    for (std::size_t i = 0; i < blocks; ++i) side.first_cell.push_back(i * (cells_ % 600));
    return &side;
  };
  Side* receive = is_regular ? regular(neighbors) : &add_blocks(cells, spread);
  Side* send = !is_alltoall ? regular(1) : is_regular ? regular(neighbors) : &add_blocks(cells, spread);
  for (std::size_t i = 0; i < (is_alltoall ? neighbors : 1); ++i) {
    fill(*send, i, rank_, static_cast<int>(i), false);
  }
  for (std::size_t i = 0; i < neighbors; ++i) {
    const int source = at(list[i], -1);
    if (source >= 0) fill(*receive, i, source, is_alltoall ? static_cast<int>(i) : 0, true);
  }
  NeighborOptions options;
  options.copying = static_cast<NeighborCopying>(draw.below(3));
  options.own_tag = own_tag_of(spec_);
  const auto with = [=](std::string_view algorithm) {
    NeighborOptions named = options;
    named.algorithm = algorithm;
    return named;
  };
#define WISP_LAUNCH_NEIGHBORS(name, ...)                                       \
  launch_ = [=, this](Face face, std::string_view algorithm) -> Request {      \
    return WISP_CALL(neighborhood_, name, __VA_ARGS__)(face, with(algorithm)); \
  }
  switch (spec_.kind) {
    case Kind::neighbor_alltoall:
      WISP_LAUNCH_NEIGHBORS(neighbor_alltoall, send->const_buffer(), receive->buffer());
      return;
    case Kind::neighbor_alltoallv:
      WISP_LAUNCH_NEIGHBORS(neighbor_alltoallv, send->const_blocks(), receive->blocks());
      return;
    case Kind::neighbor_alltoallw:
      WISP_LAUNCH_NEIGHBORS(neighbor_alltoallw, send->const_blocks(), receive->blocks());
      return;
    case Kind::neighbor_allgather:
      WISP_LAUNCH_NEIGHBORS(neighbor_allgather, send->const_buffer(), receive->buffer());
      return;
    case Kind::neighbor_allgatherv:
      WISP_LAUNCH_NEIGHBORS(neighbor_allgatherv, send->const_buffer(), receive->blocks());
      return;
    default:
      WISP_LAUNCH_NEIGHBORS(neighbor_allgatherw, send->const_buffer(), receive->blocks());
  }
}

namespace {

Task<> await_all(std::shared_ptr<std::vector<Request>> requests) {
  for (Request& request : *requests) co_await request;
}

/// Receives from anyone, in the order of arrival; the first number says which message it is.
Task<> receive_from_any(Comm comm, int count, int tag, bool probes, bool any_number,
                        std::function<void(const Status&, const std::vector<std::int64_t>&)> seen) {
  for (int i = 0; i < count; ++i) {
    std::vector<std::int64_t> got(64, -1);
    Status status;
    const int wanted = any_number ? any_tag : tag;
    if (probes) {
      const Status found = co_await probe(comm, any_source, wanted);
      status = co_await receive(comm, got, found.source, found.tag);
    } else {
      status = co_await receive(comm, got, any_source, wanted);
    }
    got.resize(status.bytes / sizeof(std::int64_t));
    seen(status, got);
  }
}

}  // namespace

/// Messages between random pairs, which each receiver takes by name, from anyone, or as they come.
void Running::prepare_messages() {
  struct Sent {
    int source, destination, tag, index;
    std::size_t cells;
  };
  Draw draw = Draw(spec_.seed).with(9);
  // Tags of this operation alone: those of others on the communicator may be on their way too.
  const int tag = spec_.id % 20 * 3;
  std::vector<Sent> messages(static_cast<std::size_t>(draw.below(3 * size_ + 1)));
  for (std::size_t i = 0; i < messages.size(); ++i) {
    messages[i] = {draw.below(size_), draw.below(size_), tag + draw.below(3), static_cast<int>(i), 0};
    messages[i].cells = cells_of(static_cast<int>(i), 5);
  }
  enum class How { by_name, from_any, count };
  const auto how_of = [&](int receiver) {
    return static_cast<How>(Draw(spec_.seed).with(10).with(static_cast<std::uint64_t>(receiver)).below(2));
  };
  struct Work {
    Side* side;
    Sent message;
  };
  auto sends = std::make_shared<std::vector<Work>>();
  auto receives = std::make_shared<std::vector<Work>>();
  auto plain = std::make_shared<std::vector<std::vector<std::int64_t>>>();
  auto plain_sends = std::make_shared<std::vector<Sent>>();
  int from_any = 0;
  for (const Sent& message : messages) {
    const bool is_named = how_of(message.destination) == How::by_name;
    if (message.source == rank_) {
      if (is_named) {
        Side& side = add_side(message.cells, message.cells);
        side.first_cell = {0};
        fill(side, 0, rank_, message.index, false);
        sends->push_back({&side, message});
      } else {
        std::vector<std::int64_t> data(1 + message.cells % 60);
        for (std::size_t i = 0; i < data.size(); ++i)
          data[i] = i == 0 ? message.index : value(rank_, message.index, i);
        plain->push_back(std::move(data));
        plain_sends->push_back(message);
      }
    }
    if (message.destination == rank_) {
      if (!is_named) {
        ++from_any;
        continue;
      }
      Side& side = add_side(message.cells, message.cells);
      side.first_cell = {0};
      fill(side, 0, message.source, message.index, true);
      receives->push_back({&side, message});
    }
  }
  // Those of one source and tag stay in order.
  auto order = std::make_shared<std::vector<std::size_t>>(receives->size());
  std::iota(order->begin(), order->end(), std::size_t{0});
  draw_.shuffle(*order);
  const auto stream = [](const Work& work) { return work.message.source * 1000 + work.message.tag; };
  for (std::size_t i = 0; i < order->size(); ++i) {
    for (std::size_t j = i + 1; j < order->size(); ++j) {
      std::size_t& a = (*order)[i];
      std::size_t& b = (*order)[j];
      if (stream((*receives)[a]) == stream((*receives)[b]) && a > b) std::swap(a, b);
    }
  }
  const bool synchronous = draw.once_in(4);
  const bool probes = draw.once_in(2);
  auto left = std::make_shared<std::vector<Sent>>();
  for (const Sent& message : messages) {
    if (message.destination == rank_ && how_of(rank_) == How::from_any) left->push_back(message);
  }
  auto wrong = std::make_shared<std::string>();
  const auto seen = [=, this](const Status& status, const std::vector<std::int64_t>& got) {
    const auto found = std::ranges::find_if(
        *left, [&](const Sent& message) { return !got.empty() && message.index == got[0]; });
    if (found == left->end()) {
      *wrong = "a message came that was not sent, or came twice";
      return;
    }
    const Sent message = *found;
    // Nothing of this source and tag may have been overtaken.
    const auto same = [&](const Sent& m) { return m.source == message.source && m.tag == message.tag; };
    if (std::ranges::find_if(*left, same) != found)
      *wrong = "messages of one source and tag are out of order";
    if (status.source != message.source || status.tag != message.tag)
      *wrong = "a status names another message";
    if (got.size() != 1 + message.cells % 60) *wrong = "a message has another size";
    for (std::size_t i = 1; i < got.size() && wrong->empty(); ++i) {
      if (got[i] != value(message.source, message.index, i)) *wrong = "a message has other data";
    }
    left->erase(found);
  };
  checks_.push_back([=] { return *wrong; });
  launch_ = [=, this](Face, std::string_view) -> Request {
    auto requests = std::make_shared<std::vector<Request>>();
    for (const std::size_t i : *order) {
      const Work& work = (*receives)[i];
      requests->push_back(comm_.ireceive(work.side->buffer(), work.message.source, work.message.tag));
    }
    for (const Work& work : *sends) {
      const ConstBuffer data = work.side->const_buffer();
      requests->push_back(synchronous ? comm_.issend(data, work.message.destination, work.message.tag)
                                      : comm_.isend(data, work.message.destination, work.message.tag));
    }
    for (std::size_t i = 0; i < plain->size(); ++i) {
      const Sent& message = (*plain_sends)[i];
      requests->push_back(comm_.isend((*plain)[i], message.destination, message.tag));
    }
    if (spec_.any_tag && from_any > 0) {
      requests->push_back(comm_.start(receive_from_any(comm_, from_any, tag, probes, true, seen)));
      return comm_.start(await_all(requests));
    }
    // One receiver for each of the tags: others' messages stay.
    for (int t = 0; t < 3 && from_any > 0; ++t) {
      const auto count = std::ranges::count_if(*left, [&](const Sent& m) { return m.tag == tag + t; });
      requests->push_back(
          comm_.start(receive_from_any(comm_, static_cast<int>(count), tag + t, probes, false, seen)));
    }
    return comm_.start(await_all(requests));
  };
}

void Running::prepare_sort() {
  const auto data_of = [this](int rank) {
    std::vector<std::int64_t> data(cells_of(rank, 2));
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = value(rank, 2, i);
    return data;
  };
  auto data = std::make_shared<std::vector<std::int64_t>>(data_of(rank_));
  auto due = std::make_shared<std::vector<std::int64_t>>();
  std::vector<std::int64_t> all;
  for (int r = 0; r < size_; ++r) {
    for (const std::int64_t x : data_of(r)) all.push_back(x);
  }
  std::ranges::sort(all);
  const auto n = all.size();
  const auto p = static_cast<std::size_t>(size_);
  const auto r = static_cast<std::size_t>(rank_);
  const std::size_t first = r * (n / p) + std::min(r, n % p);
  const std::size_t count = n / p + (r < n % p ? 1 : 0);
  due->assign(all.begin() + static_cast<std::ptrdiff_t>(first),
              all.begin() + static_cast<std::ptrdiff_t>(first + count));
  checks_.push_back([=] { return *data == *due ? std::string() : std::string("the sorted part is wrong"); });
  launch_ = [=, this](Face face, std::string_view) -> Request {
    if (face == Face::blocking) return (wisp::sort(comm_, *data), Request());
    return wisp::isort(comm_, *data, Ascending(), {}, own_tag_of(spec_));
  };
}

namespace {

struct Splitting {
  Comm comm;
  Label color, key;
  std::string algorithm;
  std::optional<int> own_tag;
  std::vector<int> members;  ///< gathered along the new chain
  int rank = -1;
  int size = 0;
};

Task<> split_and_gather(std::shared_ptr<Splitting> what) {
  SplitOptions options;
  options.algorithm = what->algorithm;
  options.own_tag = what->own_tag;
  const Chain made = co_await async_split(what->comm, what->color, {}, what->key, {}, options);
  if (made.empty()) co_return;
  what->rank = made.rank();
  what->size = made.size();
  what->members.assign(static_cast<std::size_t>(made.size()), -1);
  const int own = what->comm.rank();
  co_await allgather(made, buffer_of(own), what->members);
}

}  // namespace

/// By colors and keys with ties, as numbers or strings; some ranks have no color.
void Running::prepare_split() {
  Draw draw = Draw(spec_.seed).with(11);
  const int colors = 1 + draw.below(4);
  const bool has_undefined = draw.once_in(3);
  const bool has_text = draw.once_in(3);
  const bool has_keys = draw.once_in(2);
  const auto of = [&](int rank, std::uint64_t what, int bound) {
    return Draw(spec_.seed).with(what).with(static_cast<std::uint64_t>(rank)).below(bound);
  };
  const auto color_of = [&](int rank) {
    return has_undefined && of(rank, 12, 4) == 0 ? -1 : of(rank, 13, colors);
  };
  const auto key_of = [&](int rank) { return has_keys ? of(rank, 14, 3) - 1 : 0; };
  auto what = std::make_shared<Splitting>();
  what->comm = comm_;
  what->own_tag = own_tag_of(spec_);
  // All agree on its type, also who has none.
  const int color = color_of(rank_);
  what->color =
      has_text ? Label(std::string(static_cast<std::size_t>(std::max(color, 0)), 'a')) : Label(color);
  if (color < 0) what->color.leave_out();
  if (has_keys) what->key = Label(key_of(rank_));
  std::vector<std::string_view> algorithms = split_algorithms();
  std::erase(algorithms, "allgather-mpi");  // works on the communicator of all ranks alone
  if (has_text) std::erase(algorithms, "radix");
  if (draw.once_in(2)) what->algorithm = draw.of(algorithms);
  std::vector<int> due;
  for (int r = 0; r < size_; ++r) {
    if (color_of(rank_) >= 0 && color_of(r) == color_of(rank_)) due.push_back(r);
  }
  std::ranges::stable_sort(due, {}, key_of);
  const int rank = rank_;
  checks_.push_back([=] {
    if (what->members != due) return std::string("the group has other members, or another order");
    const auto place = std::ranges::find(due, rank) - due.begin();
    const bool is_right = due.empty() || (what->rank == place && what->size == static_cast<int>(due.size()));
    return is_right ? std::string() : std::string("rank or size in the group is wrong");
  });
  launch_ = [=, this](Face, std::string_view) -> Request { return comm_.start(split_and_gather(what)); };
}

void Running::start() {
  Face face = spec_.face;
  if (face == Face::blocking && !can_block_) face = Face::task;
  const bool has_faces =
      spec_.kind != Kind::messages && spec_.kind != Kind::sort && spec_.kind != Kind::split;
  if (face == Face::persistent && !has_faces) face = Face::nonblocking;
  for (int i = 0; i < spec_.dropped_before && face == Face::persistent; ++i) {
    if (spec_.on_chain) {
      const Request dropped = chain_.barrier_init();
    } else {
      const Request dropped = comm_.barrier_init();
    }
  }
  try {
    request_ = launch_(face, spec_.algorithm);
  } catch (const Error& error) {
    // Not every algorithm does every number of ranks, or operators that do not commute.
    if (std::string_view(error.what()).find("does not work with") == std::string_view::npos) throw;
    request_ = launch_(face, {});
  }
  is_persistent_ = face == Face::persistent;
  if (face != Face::task && draw_.once_in(2)) types_.free();
}

std::string Running::difference() const {
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    const std::string wrong = sides_[i]->area.difference();
    if (!wrong.empty()) return "in buffer " + std::to_string(i) + " " + wrong;
  }
  for (const auto& check : checks_) {
    if (const std::string wrong = check(); !wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace wisp::test
