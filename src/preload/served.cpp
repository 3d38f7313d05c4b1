#include "preload/served.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <vector>

#include "collectives/collective.hpp"
#include "preload/process.hpp"
#include "preload/progress.hpp"
#include "transport/errors_return.hpp"

namespace wisp::preload {
namespace {

using detail::as_size;

/// Whether all ranks of a communicator are of MPI_COMM_WORLD, where the settings were agreed on.
bool is_of_this_world(MPI_Comm comm) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group members = MPI_GROUP_NULL;
  int size = 0;
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  PMPI_Comm_group(comm, &members);
  PMPI_Group_size(members, &size);
  std::vector<int> ranks(as_size(size));
  std::vector<int> of_world(as_size(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  PMPI_Group_translate_ranks(members, size, ranks.data(), all, of_world.data());
  PMPI_Group_free(&members);
  PMPI_Group_free(&all);
  return std::ranges::find(of_world, MPI_UNDEFINED) == of_world.end();
}

bool can_be_served(MPI_Comm comm) {
  int is_inter = 0;
  int size = 0;
  PMPI_Comm_test_inter(comm, &is_inter);
  if (is_inter != 0) return false;
  PMPI_Comm_size(comm, &size);
  return size > 1 && is_of_this_world(comm);
}

/// The communicators that were asked for last. MPI's own look-up of an attribute takes as long as all else.
struct Recent {
  MPI_Comm comm = MPI_COMM_NULL;
  Served* served = nullptr;
};
std::array<Recent, 16> recents;

Recent& recent_of(MPI_Comm comm) {
  const std::size_t hash = std::hash<MPI_Comm>()(comm);
  return recents[(hash ^ hash >> 4 ^ hash >> 9) % recents.size()];
}

/// The innermost; callbacks are called where their communicator is freed.
constinit thread_local BeingFreed* being_freed = nullptr;

int drop(MPI_Comm comm, int, void* attribute, void*) {
  Recent& recent = recent_of(comm);
  if (recent.comm == comm) recent = {};
  if (BeingFreed* freed = BeingFreed::find(comm)) freed->end_service();
  const auto held = progress.lock();
  if (attribute != nullptr) static_cast<Served*>(attribute)->drop();
  return MPI_SUCCESS;
}

int keyval() {
  static const int created = [] {
    int made = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop, &made, nullptr);
    return made;
  }();
  return created;
}

// The names of operations that share a row of the table.
const detail::Collective& reduce_scatter_block_row = detail::reduce_scatter_row;
const detail::Collective& alltoallw_row = detail::alltoallv_row;

const detail::Collective& row_of(Call call) {
  using namespace detail;
  using preload::alltoallw_row;
  using preload::reduce_scatter_block_row;
  switch (call) {
#define WISP_FACES(Name, name, parameters, arguments) \
  case Call::name:                                    \
    return name##_row;
#include "c/collective_faces.inc"
#undef WISP_FACES
    default:
      return barrier_row;
  }
}

}  // namespace

Served* Served::find(MPI_Comm comm) {
  Recent& recent = recent_of(comm);
  if (recent.comm == comm && comm != MPI_COMM_NULL) [[likely]]
    return recent.served;
  if (comm == MPI_COMM_NULL) return nullptr;
  if (const BeingFreed* freed = BeingFreed::find(comm)) return freed->served();
  Served* served = nullptr;
  int exists = 0;
  if (PMPI_Comm_get_attr(comm, keyval(), &served, &exists) != MPI_SUCCESS) return nullptr;
  if (exists == 0) {
    served = can_be_served(comm) ? new Served(comm) : nullptr;
    if (PMPI_Comm_set_attr(comm, keyval(), served) != MPI_SUCCESS) {
      delete served;
      return nullptr;
    }
  }
  recent = {comm, served};
  return served;
}

BeingFreed::BeingFreed(MPI_Comm comm) : comm_(comm), outer_(being_freed) {
  int exists = 0;
  if (comm == MPI_COMM_NULL || PMPI_Comm_get_attr(comm, keyval(), &served_, &exists) != MPI_SUCCESS ||
      exists == 0)
    served_ = nullptr;
  being_freed = this;
}

BeingFreed::~BeingFreed() {
  being_freed = outer_;
}

BeingFreed* BeingFreed::find(MPI_Comm comm) {
  BeingFreed* one = being_freed;
  while (one != nullptr && one->comm_ != comm) one = one->outer_;
  return one;
}

Served::~Served() {
  topology_.reset();
  if (!comm_.empty()) detail::CommAccess::world(comm_).close();
}

bool Served::prepare(Form form, Call call, std::int64_t bytes) {
  if (is_refused_ || bytes < 0) return false;  // and not counted: others may not have called
  const bool blocks = form == Form::blocking;
  if (comm_.empty()) {
    if (!blocks || ++calls_ <= process.settings().calls_before) return false;
    try {
      const detail::ErrorsReturn silent(mpi_comm_);
      detail::World::Own own = detail::World::make_duplicates(mpi_comm_, 1);
      const auto held = progress.lock();
      // Kept here and nowhere else: what closes it must have the lock.
      comm_ = detail::CommAccess::make_root(detail::World::over_own(std::move(own)),
                                            detail::TagLayout::Kind::isolated);
    } catch (const std::exception&) {
      is_refused_ = true;  // what cannot be duplicated is left to MPI
      return false;
    }
  }
  if (!is_of_neighbors(call)) return true;
  if (!topology_ && blocks) topology_ = Topology::of(mpi_comm_, comm_);
  return topology_ && topology_->exists();
}

bool Served::takes(Form form, Call call, std::int64_t bytes) {
  const Settings& settings = process.settings();
  // Of a graph in several parts, the ranks of one do not know how large the blocks of another are.
  if (is_of_neighbors(call) && topology_->stencil() == nullptr) bytes = 0;
  if (settings.is_named) {
    const Settings::Named& named = settings.of(form, call);
    return named.is_taken && named.least <= bytes && bytes <= named.most;
  }
  Decided& decided = decided_[static_cast<std::size_t>(call)];
  const std::uint64_t bit = std::uint64_t{1} << std::bit_width(static_cast<std::uint64_t>(bytes));
  if ((decided.is_known & bit) == 0) {
    decided.is_known |= bit;
    // All sizes with as many bits get one answer, whichever comes first.
    if (pays(call, static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes))))) {
      decided.pays |= bit;
    }
  }
  return (decided.pays & bit) != 0;
}

bool Served::pays(Call call, std::int64_t bytes) {
  constexpr double least_measured = 1.05;
  constexpr double least_promised = 1.25;  // a model is no measurement
  const int nodes = detail::CommAccess::nodes(comm_)->nodes();
  if (const std::optional<double> measured =
          process.settings().tuning.times_faster(call, comm_.size(), nodes, bytes)) {
    return *measured >= least_measured;
  }
  // Where the ranks of one node share its cores, time is what the kernel makes of it: only a measurement
  // knows.
  if (nodes == 1 && detail::CommAccess::world(comm_).machine().shares_cores) {
    process.note_shared_cores();
    return false;
  }
  return promised_gain(call, as_size(bytes)) >= least_promised;
}

double Served::promised_gain(Call call, std::size_t bytes) {
  if (is_of_neighbors(call)) return topology_->promised_gain(call, bytes);
  return detail::promised_gain(comm_, row_of(call), bytes);
}

}  // namespace wisp::preload
