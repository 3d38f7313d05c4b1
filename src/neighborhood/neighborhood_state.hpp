#pragma once

#include <memory>
#include <vector>

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

  /// Of each round of a schedule.
  struct Peers {
    const Schedule* schedule;
    std::shared_ptr<const std::vector<Shift>> of_round;
  };
  std::vector<Peers> peers;
};

}  // namespace wisp
