#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "neighborhood/choice.hpp"
#include "wisp/stencil.hpp"

namespace wisp {

/// What the copies of a stencil share.
struct Stencil::State {
  Torus torus;
  Offsets offsets;
  std::vector<int> weights;
  Offsets reduced;
  std::mutex making;  ///< of schedules: several threads may ask for them
  /// Those that somebody has asked for, by pattern and place in schedule_names().
  std::array<std::vector<std::unique_ptr<const detail::CostedSchedule>>, 2> schedules;
};

}  // namespace wisp
