#pragma once

#include <memory>
#include <vector>

#include "neighborhood/exchange.hpp"
#include "neighborhood/peer_blocks.hpp"
#include "wisp/neighborhood.hpp"

namespace wisp {

/// What the copies of a neighborhood share.
struct Neighborhood::State {
  Comm comm;
  Stencil stencil;
  bool checks_operations = false;
  std::vector<int> sources;
  std::vector<int> targets;
  std::vector<int> border;
  /// Of lists: what goes as one message.
  struct Lists {
    detail::PeerBlocks sources;
    detail::PeerBlocks targets;
  };
  std::shared_ptr<const Lists> lists;  ///< null: a stencil

  /// What was asked for last, and what came of it: the same call again need not be checked and planned.
  struct Plan {
    detail::Asked asked;
    std::shared_ptr<const detail::Program> program;
    std::shared_ptr<const std::vector<Shift>> peers;  ///< of each round
    bool uses_datatypes;

    /// Those of the messages between buffers that were used last.
    struct BoundTypes {
      const void* send;
      const void* receive;
      std::shared_ptr<const detail::MessageTypes> types;
    };
    std::vector<BoundTypes> types = {};
  };
  std::vector<Plan> plans;
  std::size_t next_plan = 0;  ///< to give way to a new one
};

}  // namespace wisp
