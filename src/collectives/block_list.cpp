#include "collectives/block_list.hpp"

#include <cstring>

namespace wisp::detail {

void copy_block(const ConstBuffer& from, const Buffer& to) {
  if (from.count == 0 || from.address == to.address) return;
  const TypeLayout from_layout = TypeLayout::of(from.type);
  const TypeLayout to_layout = TypeLayout::of(to.type);
  if (from_layout.contiguous && to_layout.contiguous) {
    std::memcpy(to.address, from.address, from.count * from_layout.size);
    return;
  }
  const ScratchVector packed(from.count * from_layout.size);
  pack(from, from_layout, packed.data());
  unpack(packed.data(), to, to_layout);
}

}  // namespace wisp::detail
