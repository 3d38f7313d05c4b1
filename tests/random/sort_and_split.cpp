// What has one face: the sort, and splits by color and key.

#include <algorithm>

#include "random/launch.hpp"
#include "wisp/sort.hpp"
#include "wisp/split.hpp"

namespace wisp::test {

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

}  // namespace wisp::test
