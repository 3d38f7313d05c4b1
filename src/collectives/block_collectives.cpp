// Collectives that move data as it is, to and from a root or to all: their plans and faces.

#include <memory>

#include "collectives/led_subtree.hpp"
#include "collectives/plan.hpp"
#include "collectives/signature_bytes.hpp"
#include "pattern/ordered_tree.hpp"

namespace wisp {
namespace {

/// How much larger the threshold is for blocks that are all equal: all messages straight to the root come at
/// once, and where a port is shared fairly they all come late, and are then worked off one by one.
constexpr std::uint64_t equal_threshold_factor = 4;

using namespace detail;

auto plan_barrier(const Comm& comm, const CollectiveOptions& options) {
  constexpr const char* call = "wisp::barrier";
  check_usable(comm, call);
  const auto algorithm = choose<Barrier>(comm, Operation::barrier, 0, options, call);
  return Plan{call, [=](Channel channel) {
                if (algorithm == Barrier::dissemination) {
                  return barrier_dissemination(std::move(channel));
                }
                const auto radix_bits = tree_radix_bits(channel);
                return barrier_tree(std::move(channel), radix_bits);
              }};
}

auto plan_bcast(const Comm& comm, const Buffer& buffer, int root, const CollectiveOptions& options) {
  constexpr const char* call = "wisp::bcast";
  check_usable(comm, call);
  check_root(comm, call, root);
  check_buffer(call, "buffer", buffer);
  const auto algorithm = choose<Bcast>(comm, Operation::bcast, bytes_of(buffer), options, call);
  return Plan{call, Alike{.root = root, .bytes = signed_of(bytes_of(buffer))}, [=](Channel channel) {
                if (bytes_of(buffer) == 0) return nothing();
                switch (algorithm) {
                  case Bcast::binomial:
                    return bcast_tree(std::move(channel), buffer, root, 1);
                  case Bcast::radix_4:
                    return bcast_tree(std::move(channel), buffer, root, 2);
                  case Bcast::circulant:
                    break;
                }
                const std::size_t bytes = bytes_of(buffer);
                const int pieces = circulant_pieces_of(channel, bytes, SignatureBytes::most_pieces(bytes));
                return bcast_circulant(std::move(channel), buffer, root, pieces);
              }};
}

auto plan_gather(const Comm& comm, const ConstBuffer& send, const Buffer& receive, int root,
                 const CollectiveOptions& options) {
  constexpr const char* call = "wisp::gather";
  check_usable(comm, call);
  check_root(comm, call, root);
  const bool is_root = comm.rank() == root;
  if (is_root) {
    check_regular(comm.size(), call, "send", send, "receive", receive);
  } else {
    check_buffer(call, "send", send);
  }
  const std::size_t bytes =
      is_root ? bytes_of(receive) / static_cast<std::size_t>(comm.size()) : bytes_of(send);
  const auto algorithm = choose<Gather>(comm, Operation::gather, bytes, options, call);
  const int ranks = comm.size();
  return Plan{call, Alike{.root = root, .bytes = signed_of(bytes)}, [=](Channel channel) {
                if (bytes == 0) return nothing();
                switch (algorithm) {
                  case Gather::binomial:
                    return gather_tree(std::move(channel), send, receive, root, 1);
                  case Gather::radix_4:
                    return gather_tree(std::move(channel), send, receive, root, 2);
                  case Gather::radix_32:
                    return gather_tree(std::move(channel), send, receive, root, 5);
                  case Gather::direct:
                    if (!is_root) return send_block(std::move(channel), send, root);
                    return gather_direct(std::move(channel), send, BlockList::regular(receive, ranks), root);
                  case Gather::ordered:
                    break;
                }
                const BlockList blocks = is_root ? BlockList::regular(receive, ranks) : BlockList();
                const std::uint64_t threshold =
                    equal_threshold_factor * straight_threshold(channel.world().machine());
                return gather_ordered(std::move(channel), send, blocks, root, threshold);
              }};
}

/// How much larger the threshold is for trees in which every message straight to the root is announced by
/// another.
constexpr std::uint64_t announced_threshold_factor = 4;

auto plan_gatherv(const Comm& comm, const ConstBuffer& send, const Blocks& receive, int root,
                  const CollectiveOptions& options) {
  constexpr const char* call = "wisp::gatherv";
  check_usable(comm, call);
  check_root(comm, call, root);
  const bool is_root = comm.rank() == root;
  const int ranks = comm.size();
  if (is_root) {
    check_irregular(comm, call, "receive", receive);
    check_own_block(comm, call, "send", send, receive);
  } else {
    check_buffer(call, "send", send);
  }
  const auto algorithm = choose<Gatherv>(comm, Operation::gatherv, 0, options, call);
  std::shared_ptr<LedMemory> memory;
  std::shared_ptr<OrderedNode> known;
  if (algorithm == Gatherv::led) memory = std::make_shared<LedMemory>();
  if (algorithm == Gatherv::tree) known = std::make_shared<OrderedNode>();
  return Plan{call, Alike{.root = root}, [=](Channel channel) {
                if (algorithm == Gatherv::direct) {
                  return is_root ? gather_direct(std::move(channel), send,
                                                 BlockList::irregular(receive, ranks), root)
                                 : send_block(std::move(channel), send, root);
                }
                const BlockList blocks = is_root ? BlockList::irregular(receive, ranks) : BlockList();
                const std::uint64_t threshold = straight_threshold(channel.world().machine());
                switch (algorithm) {
                  case Gatherv::led:
                    return gatherv_led(std::move(channel), send, blocks, root, threshold, memory);
                  case Gatherv::tree:
                    return gatherv_tree(std::move(channel), send, blocks, root,
                                        announced_threshold_factor * threshold, known);
                  case Gatherv::combined:
                    return gatherv_combined(std::move(channel), send, blocks, root,
                                            announced_threshold_factor * threshold);
                  case Gatherv::binomial:
                  case Gatherv::direct:
                    break;
                }
                return gatherv_combined(std::move(channel), send, blocks, root, no_threshold);
              }};
}

auto plan_gatherm(const Comm& comm, const ConstBuffer& send, const Buffer& receive, int root,
                  const Merge& merge, const CollectiveOptions&) {
  constexpr const char* call = "wisp::gatherm";
  check_usable(comm, call);
  check_root(comm, call, root);
  check_merge(call, send, merge);
  if (comm.rank() == root) check_buffer(call, "receive", receive);
  return Plan{call, Alike{.root = root},
              [=](Channel channel) { return gather_merge(std::move(channel), send, receive, root, merge); }};
}

auto plan_allgather(const Comm& comm, const ConstBuffer& send, const Buffer& receive,
                    const CollectiveOptions& options) {
  constexpr const char* call = "wisp::allgather";
  check_usable(comm, call);
  check_regular(comm.size(), call, "send", send, "receive", receive);
  const std::size_t bytes = bytes_of(receive) / static_cast<std::size_t>(comm.size());
  const auto algorithm = choose<Allgather>(comm, Operation::allgather, bytes, options, call);
  return Plan{call, Alike{.bytes = signed_of(bytes)}, [=](Channel channel) {
                if (bytes == 0) return nothing();
                switch (algorithm) {
                  case Allgather::tree: {
                    const auto radix_bits = tree_radix_bits(channel);
                    return allgather_tree(std::move(channel), send, receive, radix_bits);
                  }
                  case Allgather::circulant: {
                    const BlockList blocks = BlockList::regular(receive, channel.size());
                    return allgather_circulant(std::move(channel), send, blocks);
                  }
                  case Allgather::dissemination:
                    break;
                }
                const BlockList blocks = BlockList::regular(receive, channel.size());
                return allgather_dissemination(std::move(channel), send, blocks);
              }};
}

auto plan_allgatherv(const Comm& comm, const ConstBuffer& send, const Blocks& receive,
                     const CollectiveOptions& options) {
  constexpr const char* call = "wisp::allgatherv";
  check_usable(comm, call);
  check_irregular(comm, call, "receive", receive);
  check_own_block(comm, call, "send", send, receive);
  const BlockList blocks = BlockList::irregular(receive, comm.size());
  std::size_t bytes = 0;
  for (int rank = 0; rank < comm.size(); ++rank) bytes += blocks.bytes(rank);
  const auto algorithm = choose<Allgatherv>(comm, Operation::allgatherv,
                                            bytes / static_cast<std::size_t>(comm.size()), options, call);
  return Plan{call, Alike{.bytes = signed_of(bytes)}, [=](Channel channel) {
                return algorithm == Allgatherv::circulant
                           ? allgather_circulant(std::move(channel), send, blocks)
                           : allgather_dissemination(std::move(channel), send, blocks);
              }};
}

auto plan_allgatherm(const Comm& comm, const ConstBuffer& send, const Buffer& receive, const Merge& merge,
                     const CollectiveOptions&) {
  constexpr const char* call = "wisp::allgatherm";
  check_usable(comm, call);
  check_merge(call, send, merge);
  check_buffer(call, "receive", receive);
  return Plan{call,
              [=](Channel channel) { return allgather_merge(std::move(channel), send, receive, merge); }};
}

auto plan_scatter(const Comm& comm, const ConstBuffer& send, const Buffer& receive, int root,
                  const CollectiveOptions& options) {
  constexpr const char* call = "wisp::scatter";
  check_usable(comm, call);
  check_root(comm, call, root);
  const bool is_root = comm.rank() == root;
  if (is_root) {
    check_regular(comm.size(), call, "receive", receive, "send", send);
  } else {
    check_buffer(call, "receive", receive);
  }
  const std::size_t bytes =
      is_root ? bytes_of(send) / static_cast<std::size_t>(comm.size()) : bytes_of(receive);
  const auto algorithm = choose<Scatter>(comm, Operation::scatter, bytes, options, call);
  const int ranks = comm.size();
  return Plan{call, Alike{.root = root, .bytes = signed_of(bytes)}, [=](Channel channel) {
                if (bytes == 0) return nothing();
                switch (algorithm) {
                  case Scatter::binomial:
                    return scatter_tree(std::move(channel), send, receive, root, 1);
                  case Scatter::radix_4:
                    return scatter_tree(std::move(channel), send, receive, root, 2);
                  case Scatter::direct:
                    if (!is_root) return receive_block(std::move(channel), receive, root);
                    return scatter_direct(std::move(channel), BlockList::regular(send, ranks), receive, root);
                  case Scatter::ordered:
                    break;
                }
                const BlockList blocks = is_root ? BlockList::regular(send, ranks) : BlockList();
                const std::uint64_t threshold =
                    equal_threshold_factor * straight_threshold(channel.world().machine());
                return scatter_ordered(std::move(channel), blocks, receive, root, threshold);
              }};
}

auto plan_scatterv(const Comm& comm, const ConstBlocks& send, const Buffer& receive, int root,
                   const CollectiveOptions& options) {
  constexpr const char* call = "wisp::scatterv";
  check_usable(comm, call);
  check_root(comm, call, root);
  const bool is_root = comm.rank() == root;
  const int ranks = comm.size();
  if (is_root) {
    check_irregular(comm, call, "send", send);
    check_own_block(comm, call, "receive", receive, send);
  } else {
    check_buffer(call, "receive", receive);
  }
  const auto algorithm = choose<Scatterv>(comm, Operation::scatterv, 0, options, call);
  std::shared_ptr<OrderedNode> known;
  if (algorithm == Scatterv::tree) known = std::make_shared<OrderedNode>();
  return Plan{call, Alike{.root = root}, [=](Channel channel) {
                if (algorithm == Scatterv::direct) {
                  return is_root ? scatter_direct(std::move(channel), BlockList::irregular(send, ranks),
                                                  receive, root)
                                 : receive_block(std::move(channel), receive, root);
                }
                const BlockList blocks = is_root ? BlockList::irregular(send, ranks) : BlockList();
                const std::uint64_t threshold = straight_threshold(channel.world().machine());
                if (algorithm == Scatterv::tree) {
                  return scatterv_tree(std::move(channel), blocks, receive, root,
                                       announced_threshold_factor * threshold, known);
                }
                const LedShape led{threshold};
                const LedShape binomial{no_threshold, 1};
                return scatterv_led(std::move(channel), blocks, receive, root,
                                    algorithm == Scatterv::led ? led : binomial);
              }};
}

}  // namespace

WISP_FACES(barrier, (), ())
WISP_FACES(bcast, (const Buffer& buffer, int root, ), (buffer, root, ))
WISP_FACES(gather, (const ConstBuffer& send, const Buffer& receive, int root, ), (send, receive, root, ))
WISP_FACES(gatherv, (const ConstBuffer& send, const Blocks& receive, int root, ), (send, receive, root, ))
WISP_FACES(gatherm, (const ConstBuffer& send, const Buffer& receive, int root, const Merge& merge, ),
           (send, receive, root, merge, ))
WISP_FACES(allgather, (const ConstBuffer& send, const Buffer& receive, ), (send, receive, ))
WISP_FACES(allgatherv, (const ConstBuffer& send, const Blocks& receive, ), (send, receive, ))
WISP_FACES(allgatherm, (const ConstBuffer& send, const Buffer& receive, const Merge& merge, ),
           (send, receive, merge, ))
WISP_FACES(scatter, (const ConstBuffer& send, const Buffer& receive, int root, ), (send, receive, root, ))
WISP_FACES(scatterv, (const ConstBlocks& send, const Buffer& receive, int root, ), (send, receive, root, ))

}  // namespace wisp
