#pragma once

/// Everything that wisp offers.

#include "wisp/buffer.hpp"
#include "wisp/chain.hpp"
#include "wisp/channel.hpp"
#include "wisp/collectives.hpp"
#include "wisp/comm.hpp"
#include "wisp/error.hpp"
#include "wisp/neighborhood.hpp"
#include "wisp/range.hpp"
#include "wisp/request.hpp"
#include "wisp/select.hpp"
#include "wisp/simulate.hpp"
#include "wisp/sort.hpp"
#include "wisp/sort_strings.hpp"
#include "wisp/sorted.hpp"
#include "wisp/split.hpp"
#include "wisp/status.hpp"
#include "wisp/task.hpp"
#include "wisp/version.h"
