#pragma once

#include <array>
#include <memory>
#include <vector>

#include "neighborhood/choice.hpp"
#include "neighborhood/program.hpp"
#include "wisp/stencil.hpp"

namespace wisp {

/// What the copies of a stencil share.
struct Stencil::State {
  Torus torus;
  Offsets offsets;
  std::vector<int> weights;
  Offsets reduced;

  struct Named {
    std::unique_ptr<const Schedule> alltoall;
    std::unique_ptr<const Schedule> allgather;
  };
  std::vector<Named> schedules;  ///< by place in schedule_names()
  std::array<std::vector<std::unique_ptr<const detail::ScheduleFacts>>, 2>
      facts;  ///< by pattern and schedule
  detail::ProgramCache programs;
};

}  // namespace wisp
