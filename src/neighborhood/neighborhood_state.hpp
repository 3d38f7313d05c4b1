#pragma once

#include <memory>
#include <vector>

#include "neighborhood/exchange.hpp"
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

  /// What an operation is asked for, but for its buffers.
  struct Asked {
    NeighborPattern pattern;
    std::size_t algorithm;  ///< place in schedule_names(), or behind the last: the cheapest
    int ports;
    NeighborCopying copying;
    detail::BlockPlaces send;
    detail::BlockPlaces receive;

    friend bool operator==(const Asked&, const Asked&) = default;
  };
  /// What was asked for last, and what came of it: the same call again need not be checked and planned.
  struct Planned {
    Asked asked;
    std::shared_ptr<const detail::Program> program;
    std::shared_ptr<const std::vector<Shift>> peers;  ///< of each round
    bool uses_datatypes;
  };
  std::vector<Planned> planned;
  std::size_t next_planned = 0;

  /// Datatypes of the messages of operations that were used last.
  struct BoundTypes {
    std::shared_ptr<const detail::Program> program;
    const void* send;
    const void* receive;
    std::shared_ptr<const detail::MessageTypes> types;
  };
  std::vector<BoundTypes> types;
};

}  // namespace wisp
