// Splits that many want, made of the general one.

#include <sys/stat.h>

#include <array>
#include <fstream>

#include "chain/scans.hpp"
#include "split/algorithms.hpp"
#include "split/bins.hpp"
#include "transport/throw_error.hpp"
#include "wisp/error.hpp"

namespace wisp {

Comm Comm::split(int color, int key) const {
  detail::check_usable(*this, "wisp::Comm::split");
  Label label = color;
  if (color == MPI_UNDEFINED) label.leave_out();
  return wisp::split(*this, label, {}, key).to_comm();
}

std::string host_name() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  detail::check_mpi(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
  return {name.data(), detail::as_size(length)};
}

std::string shared_memory_name() {
  // The boot's number tells running systems apart, better than their names, and the place of /dev/shm the
  // containers on one of them that do not see each other's.
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  struct stat memory {};
  const bool has_memory = stat("/dev/shm", &memory) == 0;
  return detail::formatted("{}|{}|{}:{}", host_name(), boot, has_memory ? memory.st_dev : 0,
                           has_memory ? memory.st_ino : 0);
}

Chain by_string(const Chain& chain, std::string_view color) {
  return split(chain, color);
}

Chain by_host(const Chain& chain) {
  return split(chain, host_name());
}

Chain by_shared_memory(const Chain& chain) {
  return split(chain, shared_memory_name());
}

namespace {

/// Of those who are one. Others only pass on.
Task<Chain> chain_of_leaders(detail::Link link, bool is_leader) {
  const detail::Binned<detail::SameBin> binned =
      co_await detail::split_into_bins<detail::SameBin>(link, is_leader ? 0 : -1, 0);
  if (!is_leader) co_return Chain();
  detail::SplitCase of;
  of.made = detail::new_context(link.context());
  const detail::ChainPlace place = co_await detail::in_new_chain(link.at(binned.place()), of);
  co_return detail::ChainAccess::make(std::move(of.made), place);
}

Task<TwoLevels> split_twice(Task<Chain> members, detail::Link link) {
  TwoLevels levels;
  levels.members = co_await std::move(members);
  levels.leaders = co_await chain_of_leaders(std::move(link), levels.members.rank() == 0);
  co_return levels;
}

Task<GroupRank> find_group_rank(Task<Chain> split_off, detail::Link link) {
  const Chain members = co_await std::move(split_off);
  // The first ranks number the groups.
  const std::int32_t is_first = members.rank() == 0 ? 1 : 0;
  const Operator sum = MPI_SUM;
  detail::SideSums firsts;
  co_await detail::side_sums(std::move(link), buffer_of(is_first), {&sum, &sum}, firsts);
  const auto value = [](const detail::ScratchVector& of) {
    return of.exists() ? *reinterpret_cast<const std::int32_t*>(of.data()) : 0;
  };
  GroupRank found;
  found.groups = value(firsts.before) + is_first + value(firsts.after);
  if (members.empty()) co_return found;
  found.rank = members.rank();
  found.size = members.size();
  found.group = value(firsts.before);
  co_await bcast(members, buffer_of(found.group), 0);
  co_return found;
}

}  // namespace

// All steps of an operation are numbered when it begins: it may run beside others.

Task<TwoLevels> async_two_level(Chain chain, Label color, Order color_order, SplitOptions options) {
  Task<Chain> members = async_split(chain, std::move(color), std::move(color_order), {}, {}, options);
  return split_twice(std::move(members),
                     detail::ChainAccess::link(chain, "wisp::two_level", options.own_tag));
}

TwoLevels two_level(const Chain& chain, const Label& color, const Order& color_order,
                    const SplitOptions& options) {
  return detail::result_of(chain, async_two_level(chain, color, color_order, options));
}

Task<GroupRank> async_group_rank(Chain chain, Label color, Order color_order, SplitOptions options) {
  Task<Chain> members = async_split(chain, std::move(color), std::move(color_order), {}, {}, options);
  return find_group_rank(std::move(members),
                         detail::ChainAccess::link(chain, "wisp::group_rank", options.own_tag));
}

GroupRank group_rank(const Chain& chain, const Label& color, const Order& color_order,
                     const SplitOptions& options) {
  return detail::result_of(chain, async_group_rank(chain, color, color_order, options));
}

}  // namespace wisp
