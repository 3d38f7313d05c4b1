// Exchanges of everybody with everybody: their plans and faces.

#include <vector>

#include "collectives/plan.hpp"
#include "transport/throw_error.hpp"

namespace wisp {
namespace {

using namespace detail;

/// In place, what is received takes the place of what is sent: a copy of it is sent instead.
template <class Exchange>
Task<> exchange_in_place(Channel channel, BlockList receive, Exchange exchange) {
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> begins;
  std::size_t end = 0;
  for (int rank = 0; rank < channel.size(); ++rank) {
    begins.push_back(static_cast<std::int64_t>(end));
    counts.push_back(static_cast<std::int64_t>(receive.bytes(rank)));
    end += receive.bytes(rank);
  }
  const ScratchVector packed(end);
  for (int rank = 0; rank < channel.size(); ++rank) {
    const auto begin = static_cast<std::size_t>(begins[static_cast<std::size_t>(rank)]);
    if (receive.bytes(rank) > 0) pack(receive(rank), receive.layout(rank), packed.data() + begin);
  }
  const BlockList copies =
      BlockList::irregular(ConstBlocks(packed.data(), counts, begins, MPI_PACKED), channel.size());
  co_await exchange(channel, copies, receive);
}

auto plan_alltoall(const Comm& comm, const ConstBuffer& send, const Buffer& receive,
                   const CollectiveOptions& options) {
  constexpr const char* call = "wisp::alltoall";
  check_usable(comm, call);
  const auto ranks = static_cast<std::size_t>(comm.size());
  ConstBuffer own = send;
  if (!is_in_place(send)) {
    check_regular(comm.size(), call, "send", in_place(), "send", send);
    own.count = send.count / ranks;
  }
  check_regular(comm.size(), call, "a block of send", own, "receive", receive);
  const std::size_t bytes = bytes_of(receive) / ranks;
  const auto algorithm = choose<Alltoall>(comm, Operation::alltoall, bytes, options, call);
  const auto exchange = [=](Channel channel, BlockList from, BlockList to) {
    switch (algorithm) {
      case Alltoall::bruck:
        return alltoall_bruck(std::move(channel), from, to);
      case Alltoall::pairwise:
        return alltoall_pairwise(std::move(channel), from, to);
      case Alltoall::direct:
        break;
    }
    return alltoall_direct(std::move(channel), from, to);
  };
  return Plan{call, Alike{.bytes = signed_of(bytes)}, [=](Channel channel) {
                if (bytes == 0) return nothing();
                const BlockList to = BlockList::regular(receive, channel.size());
                return is_in_place(send) ? exchange_in_place(std::move(channel), to, exchange)
                                         : exchange(channel, BlockList::regular(send, channel.size()), to);
              }};
}

auto plan_irregular_alltoall(const Comm& comm, const ConstBlocks& send, const Blocks& receive,
                             const CollectiveOptions& options, const char* call) {
  check_usable(comm, call);
  check_irregular(comm, call, "receive", receive);
  if (!is_in_place(send)) check_irregular(comm, call, "send", send);
  const BlockList to = BlockList::irregular(receive, comm.size());
  const BlockList from = is_in_place(send) ? to : BlockList::irregular(send, comm.size());
  if (from.bytes(comm.rank()) != to.bytes(comm.rank())) {
    throw_error(MPI_ERR_TRUNCATE, "{}: rank {} sends itself {} bytes, but receives {}", call, comm.rank(),
                from.bytes(comm.rank()), to.bytes(comm.rank()));
  }
  // Only the number of ranks is known to all.
  const auto algorithm = choose<Alltoallv>(comm, Operation::alltoallv, 0, options, call);
  const auto exchange = [=](Channel channel, BlockList out, BlockList in) {
    return algorithm == Alltoallv::direct
               ? alltoall_direct(std::move(channel), std::move(out), std::move(in))
               : alltoall_pairwise(std::move(channel), std::move(out), std::move(in));
  };
  return Plan{call, [=, keeps_place = is_in_place(send)](Channel channel) {
                return keeps_place ? exchange_in_place(std::move(channel), to, exchange)
                                   : exchange(std::move(channel), from, to);
              }};
}

auto plan_alltoallv(const Comm& comm, const ConstBlocks& send, const Blocks& receive,
                    const CollectiveOptions& options) {
  return plan_irregular_alltoall(comm, send, receive, options, "wisp::alltoallv");
}

auto plan_alltoallw(const Comm& comm, const ConstBlocks& send, const Blocks& receive,
                    const CollectiveOptions& options) {
  return plan_irregular_alltoall(comm, send, receive, options, "wisp::alltoallw");
}

}  // namespace

WISP_FACES(alltoall, (const ConstBuffer& send, const Buffer& receive, ), (send, receive, ))
WISP_FACES(alltoallv, (const ConstBlocks& send, const Blocks& receive, ), (send, receive, ))
WISP_FACES(alltoallw, (const ConstBlocks& send, const Blocks& receive, ), (send, receive, ))

}  // namespace wisp
