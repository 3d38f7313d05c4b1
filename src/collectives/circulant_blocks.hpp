#pragma once

#include <algorithm>
#include <vector>

#include "collectives/block_list.hpp"
#include "wisp/channel.hpp"

namespace wisp::detail {

/// Blocks of a list counted around the ring from some rank on: in memory one part, or two where they pass the
/// last rank. Both sides of a message see the same parts, whatever their memory is like.
class BlocksOnRing {
 public:
  BlocksOnRing(const BlockList& blocks, int size) : blocks_(blocks), size_(size) {}

  void post_sends(const Channel& channel, int first, int count, int to, Posts& posts) {
    for_each_part(first, count, [&](const Buffer& part) {
      if (bytes_of(part) > 0) posts.add(channel.post_send(part, to));
    });
  }
  void post_receives(const Channel& channel, int first, int count, int from, Posts& posts) {
    for_each_part(first, count, [&](const Buffer& part) {
      if (bytes_of(part) > 0) posts.add(channel.post_receive(part, from));
    });
  }

  /// `of(buffer)` for the parts that are not empty.
  template <class Function>
  void for_each_part(int first, int count, Function of) {
    if (first >= size_) first -= size_;
    const int before_end = std::min(count, size_ - first);
    pass(first, before_end, of);
    pass(0, count - before_end, of);
  }

 private:
  template <class Function>
  void pass(int first, int count, Function& of) {
    if (count == 0) return;
    Buffer part;
    if (blocks_.is_consecutive()) {
      part = blocks_.range(first, count);
    } else {
      std::vector<int> ranks(as_size(count));
      for (int i = 0; i < count; ++i) ranks[as_size(i)] = first + i;
      part = joined_.emplace_back(blocks_, ranks).buffer();
    }
    if (part.count > 0) of(part);
  }

  const BlockList& blocks_;
  int size_;
  std::vector<JoinedBlocks> joined_;  ///< of messages on their way
};

}  // namespace wisp::detail
