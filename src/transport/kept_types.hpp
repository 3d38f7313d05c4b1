#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "wisp/blocks.hpp"
#include "wisp/buffer.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

/// Duplicates of the datatypes of an operation, which live as long as it does: its caller may free his own as
/// soon as it has started (MPI 4.1, section 5.1.9). Named types need none.
class KeptTypes {
 public:
  KeptTypes() = default;
  KeptTypes(KeptTypes&&) noexcept = default;
  KeptTypes& operator=(KeptTypes&& other) noexcept {
    types_.swap(other.types_);
    lists_.swap(other.lists_);
    return *this;
  }
  ~KeptTypes();

  bool empty() const { return types_.empty() && lists_.empty(); }

  ConstBuffer keep(const ConstBuffer& buffer) {
    return {buffer.address, buffer.count, keep_type(buffer.type)};
  }
  Buffer keep(const Buffer& buffer) { return {buffer.address, buffer.count, keep_type(buffer.type)}; }
  ConstBlocks keep(const ConstBlocks& blocks) { return keep_all(blocks); }
  Blocks keep(const Blocks& blocks) { return keep_all(blocks); }

 private:
  MPI_Datatype keep_type(MPI_Datatype type);

  template <class AnyBlocks>
  AnyBlocks keep_all(AnyBlocks blocks) {
    blocks.type = keep_type(blocks.type);
    if (!blocks.types.empty()) {
      std::vector<MPI_Datatype>& list = lists_.emplace_back();
      for (const MPI_Datatype type : blocks.types) list.push_back(keep_type(type));
      blocks.types = list;
    }
    return blocks;
  }

  struct Kept {
    MPI_Datatype given;
    MPI_Datatype ours;
  };
  std::vector<Kept> types_;
  std::vector<std::vector<MPI_Datatype>> lists_;
};

/// `task`, with what it needs.
inline Task<> holding(Task<> task, [[maybe_unused]] std::shared_ptr<const KeptTypes> types) {
  co_await std::move(task);
}

}  // namespace wisp::detail
