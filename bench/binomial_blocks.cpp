// A message is the blocks of a subtree, each behind its rank and size, in the order of the tree.

#include "binomial_blocks.hpp"

#include <cstring>
#include <vector>

#include "pattern/knomial_tree.hpp"

namespace wisp::bench {
namespace {

struct Head {
  std::int64_t rank;
  std::int64_t bytes;
};
using Bytes = std::vector<std::byte>;

void append(Bytes& message, std::int64_t rank, const void* block, std::size_t bytes) {
  const Head head{rank, static_cast<std::int64_t>(bytes)};
  const std::size_t end = message.size();
  message.resize(end + sizeof head + bytes);
  std::memcpy(message.data() + end, &head, sizeof head);
  if (bytes > 0) std::memcpy(message.data() + end + sizeof head, block, bytes);
}

template <class Function>
void for_each_block(const Bytes& message, Function function) {
  for (std::size_t place = 0; place < message.size();) {
    Head head{};
    std::memcpy(&head, message.data() + place, sizeof head);
    const auto bytes = static_cast<std::size_t>(head.bytes);
    function(head.rank, message.data() + place + sizeof head, bytes);
    place += sizeof head + bytes;
  }
}

ConstBuffer sent(const Bytes& message) {
  return {message.data(), message.size(), MPI_BYTE};
}

Task<> receive_message(Channel channel, Bytes& message, int source) {
  const Posted probe = channel.post_probe(source);
  message.resize((co_await probe).bytes);
  co_await channel.post_receive({message.data(), message.size(), MPI_BYTE}, source);
}

std::byte* place_of(void* address, std::int64_t displacement) {
  return static_cast<std::byte*>(address) + displacement * static_cast<std::int64_t>(sizeof(int));
}

}  // namespace

Task<> gatherv_binomial(Comm comm, ConstBuffer send, Blocks receive, int root) {
  const Channel channel = comm.channel("gatherv over a binomial tree");
  const detail::KnomialTree tree(comm.rank(), comm.size(), root, 1);
  Bytes message;
  append(message, comm.rank(), send.address, send.count * sizeof(int));
  for (int k = 0; k < tree.child_count(); ++k) {
    Bytes of_child;
    co_await receive_message(channel, of_child, tree.child(k));
    message.insert(message.end(), of_child.begin(), of_child.end());
  }
  if (!tree.is_root()) {
    co_await channel.post_send(sent(message), tree.parent());
    co_return;
  }
  for_each_block(message, [&](std::int64_t rank, const std::byte* block, std::size_t bytes) {
    std::byte* place = place_of(receive.address, receive.displacements[static_cast<std::size_t>(rank)]);
    if (bytes > 0) std::memmove(place, block, bytes);
  });
}

Task<> scatterv_binomial(Comm comm, ConstBlocks send, Buffer receive, int root) {
  const Channel channel = comm.channel("scatterv over a binomial tree");
  const detail::KnomialTree tree(comm.rank(), comm.size(), root, 1);
  Bytes message;
  if (tree.is_root()) {
    for (int ahead = 0; ahead < comm.size(); ++ahead) {
      const int rank = (root + ahead) % comm.size();
      const auto i = static_cast<std::size_t>(rank);
      append(message, rank, place_of(const_cast<void*>(send.address), send.displacements[i]),
             static_cast<std::size_t>(send.counts[i]) * sizeof(int));
    }
  } else {
    co_await receive_message(channel, message, tree.parent());
  }
  std::vector<Bytes> of_children(static_cast<std::size_t>(tree.child_count()));
  for_each_block(message, [&](std::int64_t rank, const std::byte* block, std::size_t bytes) {
    const int ahead = (static_cast<int>(rank) - comm.rank() + comm.size()) % comm.size();
    if (ahead == 0) {
      if (bytes > 0) std::memmove(receive.address, block, bytes);
      return;
    }
    int child = 0;
    while (ahead >= tree.child_offset(child) + tree.child_subtree_size(child)) ++child;
    append(of_children[static_cast<std::size_t>(child)], rank, block, bytes);
  });
  Posts sends;
  for (int k = tree.child_count() - 1; k >= 0; --k) {
    sends.add(channel.post_send(sent(of_children[static_cast<std::size_t>(k)]), tree.child(k)));
  }
  co_await sends;
}

}  // namespace wisp::bench
