#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the preload takes over, as the environment says: WISP_PRELOAD, WISP_PRELOAD_AFTER, WISP_PRELOAD_REPORT
// and WISP_PRELOAD_TABLE. Text only: no message.

namespace wisp::preload {

/// MPI's collectives.
enum class Call : unsigned char {
  barrier,
#define WISP_FACES(Name, name, parameters, arguments) name,
#define WISP_ONLY_OF_MPI
#include "c/collective_faces.inc"
#include "c/neighbor_faces.inc"
#undef WISP_ONLY_OF_MPI
#undef WISP_FACES
  neighbors_end,
  first_neighbor = neighbor_alltoall
};
constexpr std::size_t call_count = static_cast<std::size_t>(Call::neighbors_end);

constexpr bool is_of_neighbors(Call call) {
  return call >= Call::first_neighbor;
}
/// MPI_Bcast, MPI_Ibcast, or MPI_Bcast_init.
enum class Form : unsigned char { blocking, nonblocking, persistent };
constexpr std::size_t form_count = 3;

/// As WISP_PRELOAD spells it: bcast, ibcast, or bcast_init.
std::string name_of(Call call, Form form = Form::blocking);
std::optional<Call> find_call(std::string_view name);

/// How many times faster wisp was than the native call, as `wisp tune` measured it.
class Tuning {
 public:
  /// Lines "operation ranks nodes bytes times-faster"; those that begin with # say nothing. Throws an Error
  /// that names the line.
  static Tuning parse(std::string_view text);

  /// Of the nearest size of the nearest number of ranks, of one node or of several as here; nothing, if that
  /// number is not within a factor of 2.
  std::optional<double> times_faster(Call call, int ranks, int nodes, std::int64_t bytes) const;

 private:
  struct Line {
    Call call;
    int ranks;
    int nodes;
    std::int64_t bytes;
    double times_faster;
  };
  std::vector<Line> lines_;
};

struct Settings {
  /// Of one call: whether it is taken, and for which sizes, whatever it costs.
  struct Named {
    bool is_taken = false;
    std::int64_t least = 0;
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
  };

  bool is_named = false;  ///< WISP_PRELOAD lists calls; if not, what pays is taken
  using OfCalls = std::array<Named, call_count>;
  std::array<OfCalls, form_count> named = {};  ///< of each form
  int calls_before = 16;  ///< of a communicator, that are left to MPI before it is duplicated
  bool reports = false;
  Tuning tuning;

  const Named& of(Form form, Call call) const {
    return named[static_cast<std::size_t>(form)][static_cast<std::size_t>(call)];
  }
  /// Whether the call may be taken at all. One that does not block must be named, for it needs a thread.
  bool may_take(Form form, Call call) const {
    return (form == Form::blocking && !is_named) || of(form, call).is_taken;
  }
  bool may_start_any() const {
    return std::ranges::any_of(named[static_cast<std::size_t>(Form::nonblocking)], &Named::is_taken) ||
           std::ranges::any_of(named[static_cast<std::size_t>(Form::persistent)], &Named::is_taken);
  }

  /// Of the values of the variables. Throws an Error that names variable, value and what it may be.
  static Settings parse(std::string_view calls, std::string_view after, std::string_view report,
                        std::string_view table);
};

}  // namespace wisp::preload
