#pragma once

#include <memory>
#include <vector>

#include "neighborhood/program.hpp"
#include "transport/type_layout.hpp"
#include "wisp/buffer.hpp"
#include "wisp/channel.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

struct Exchange;

/// Messages that MPI is to put together, with datatypes made for them, and the scratch buffer that these
/// speak of. Freed in the end, unless MPI is gone by then.
class MessageTypes {
 public:
  explicit MessageTypes(const Exchange& exchange);
  MessageTypes(const MessageTypes&) = delete;
  MessageTypes& operator=(const MessageTypes&) = delete;
  ~MessageTypes();

  std::byte* scratch() const { return scratch_.data(); }
  const Buffer& of_receive(int i) const { return receives_[as_size(i)]; }
  const Buffer& of_send(int i) const { return sends_[as_size(i)]; }

 private:
  ScratchVector scratch_;
  std::vector<Buffer> receives_;
  std::vector<Buffer> sends_;
  std::vector<MPI_Datatype> made_;
};

/// The user's send or receive buffer.
struct BoundBlocks {
  std::byte* address = nullptr;
  std::vector<Buffer> blocks;  ///< if one of them is not contiguous; else empty
  bool is_on_device = false;   ///< one of them at least
};

/// A program bound to buffers and ranks.
struct Exchange {
  std::shared_ptr<const Program> program;
  std::shared_ptr<const std::vector<Shift>> peers;  ///< of each round
  BoundBlocks send;
  BoundBlocks receive;
  std::shared_ptr<const MessageTypes> types;  ///< null: everything is packed by hand
};

/// One run. Phases × α, rounds × startups, and nβ for every block of the schedule's volume.
Task<> exchange(Channel channel, Exchange what);

}  // namespace wisp::detail
