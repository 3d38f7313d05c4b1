#include "preload/topology.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>

#include "comm/comm_access.hpp"
#include "neighborhood/choice.hpp"
#include "pattern/hash_bytes.hpp"
#include "preload/progress.hpp"
#include "wisp/detail/as_size.hpp"
#include "wisp/error.hpp"

namespace wisp::preload {
namespace {

using detail::as_size;

struct Lists {
  std::vector<int> sources;
  std::vector<int> targets;
};

Lists lists_of_cart(MPI_Comm comm) {
  Lists lists;
  int dimensions = 0;
  PMPI_Cartdim_get(comm, &dimensions);
  for (int j = 0; j < dimensions; ++j) {
    int before = MPI_PROC_NULL;
    int after = MPI_PROC_NULL;
    PMPI_Cart_shift(comm, j, 1, &before, &after);
    for (std::vector<int>* list : {&lists.sources, &lists.targets})
      list->insert(list->end(), {before, after});
  }
  return lists;
}

Lists lists_of_distributed_graph(MPI_Comm comm) {
  int in = 0;
  int out = 0;
  int is_weighted = 0;
  PMPI_Dist_graph_neighbors_count(comm, &in, &out, &is_weighted);
  Lists lists{std::vector<int>(as_size(in)), std::vector<int>(as_size(out))};
  std::vector<int> weights_in(as_size(in));
  std::vector<int> weights_out(as_size(out));
  PMPI_Dist_graph_neighbors(comm, in, lists.sources.data(), weights_in.data(), out, lists.targets.data(),
                            weights_out.data());
  return lists;
}

Lists lists_of_graph(MPI_Comm comm) {
  int rank = 0;
  int count = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Graph_neighbors_count(comm, rank, &count);
  std::vector<int> neighbors(as_size(count));
  PMPI_Graph_neighbors(comm, rank, count, neighbors.data());
  return {neighbors, neighbors};
}

std::optional<Lists> lists_of(MPI_Comm comm, int topology) {
  if (topology == MPI_CART) return lists_of_cart(comm);
  if (topology == MPI_DIST_GRAPH) return lists_of_distributed_graph(comm);
  if (topology == MPI_GRAPH) return lists_of_graph(comm);
  return std::nullopt;
}

/// Which of its sender's blocks arrives at each place of what a rank receives; -1: none does. By each call.
struct Arrivals {
  std::vector<int> alltoall;
  std::vector<int> alltoallv;
};

/// MPI_Neighbor_alltoallw is not asked, and taken to be as MPI_Neighbor_alltoallv: MPICH 4.0 waits forever in
/// it where ranks send other numbers of blocks than they receive.
Arrivals find_arrivals(MPI_Comm comm, const Lists& lists, Form form) {
  const std::size_t received = lists.sources.size();
  // One more than there are: MPICH wants an address even of nothing.
  const std::size_t room = std::max(lists.targets.size(), received) + 1;
  std::vector<int> in_turn(room);
  std::iota(in_turn.begin(), in_turn.end(), 0);
  const std::vector<int> ones(room, 1);
  const std::vector<int> nothing(room, -1);
  Arrivals found{nothing, nothing};
  const auto exchange = [&](auto blocking, auto nonblocking, auto... given) {
    if (form == Form::blocking) {
      blocking(given..., comm);
      return;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    nonblocking(given..., comm, &request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
  };
  const int* sent = in_turn.data();
  exchange(PMPI_Neighbor_alltoall, PMPI_Ineighbor_alltoall, sent, 1, MPI_INT, found.alltoall.data(), 1,
           MPI_INT);
  exchange(PMPI_Neighbor_alltoallv, PMPI_Ineighbor_alltoallv, sent, ones.data(), sent, MPI_INT,
           found.alltoallv.data(), ones.data(), sent, MPI_INT);
  for (std::vector<int>* of : {&found.alltoall, &found.alltoallv}) of->resize(received);
  return found;
}

/// The places, those of one source in the order in which it sends; nothing, if that is how they are.
std::vector<int> order_of(const Lists& lists, const std::vector<int>& arrivals) {
  // They share the places that they have.
  std::vector<int> places(arrivals.size());
  std::iota(places.begin(), places.end(), 0);
  std::ranges::stable_sort(places, {}, [&](int place) { return lists.sources[as_size(place)]; });
  std::vector<int> by_arrival = places;
  std::ranges::stable_sort(by_arrival, {}, [&](int place) {
    return std::pair(lists.sources[as_size(place)], arrivals[as_size(place)]);
  });
  std::vector<int> order(arrivals.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[as_size(places[i])] = by_arrival[i];
  if (std::ranges::is_sorted(order)) order.clear();
  return order;
}

/// Where each block of a stencil arrives; beyond a mesh's border none does, and takes a place that is left.
std::vector<int> places_of(const std::vector<int>& arrivals) {
  std::vector<int> places(arrivals.size(), -1);
  std::vector<int> left;
  for (std::size_t place = 0; place < arrivals.size(); ++place) {
    const int block = arrivals[place];
    (block >= 0 ? places[as_size(block)] : left.emplace_back()) = static_cast<int>(place);
  }
  for (int& place : places) {
    if (place >= 0) continue;
    place = left.back();
    left.pop_back();
  }
  return places;
}

std::vector<int> offsets_on(const Torus& torus, int rank, std::span<const int> targets) {
  std::vector<int> offsets;
  for (const int target : targets) {
    const std::vector<int> offset = torus.offset_between(rank, target);
    offsets.insert(offsets.end(), offset.begin(), offset.end());
  }
  return offsets;
}

/// Whether all blocks have one size wherever those that are sent have that with which they are received: as
/// all that a rank sends, or receives, is of one size, two ranks send the same if a third receives from both,
/// or are at two ends of a chain of such. On a ring only in one direction, each might send another.
bool have_one_size(const Torus& torus, const Offsets& offsets) {
  std::vector<bool> is_reached(as_size(torus.size()));
  std::vector<int> reached{0};
  is_reached[0] = true;
  for (std::size_t next = 0; next < reached.size(); ++next) {
    for (int i = 1; i < offsets.size(); ++i) {
      std::vector<int> between(offsets[i].begin(), offsets[i].end());
      std::ranges::transform(between, offsets[0], between.begin(), std::minus());
      const int rank = torus.relative_rank(reached[next], between);
      if (is_reached[as_size(rank)]) continue;
      is_reached[as_size(rank)] = true;
      reached.push_back(rank);
    }
  }
  return reached.size() == is_reached.size();
}

double seconds_of(const Stencil& stencil, std::string_view name, NeighborPattern pattern, std::size_t bytes,
                  const detail::Machine& machine) {
  const auto& names = schedule_names();
  const auto place = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  return detail::modelled_time(stencil, pattern, place, bytes, machine);
}

double gain_of(const Neighborhood& on, NeighborPattern pattern, std::size_t bytes) {
  const detail::Machine& machine = detail::CommAccess::world(on.comm()).machine();
  const double plain = seconds_of(on.stencil(), "straightforward", pattern, bytes, machine);
  return plain / seconds_of(on.stencil(), on.chosen(pattern, bytes), pattern, bytes, machine);
}

void add_tori(int ranks, std::size_t dimensions, std::size_t most, std::vector<int>& dims,
              std::vector<std::vector<int>>& found) {
  if (found.size() == most) return;
  if (ranks == 1) {
    found.push_back(dims);
    return;
  }
  if (dims.size() == dimensions) return;
  for (int factor = 2; factor <= ranks; ++factor) {
    if (ranks % factor != 0) continue;
    dims.push_back(factor);
    add_tori(ranks / factor, dimensions, most, dims, found);
    dims.pop_back();
  }
}

}  // namespace

std::vector<std::vector<int>> tori_of(int ranks, int dimensions, std::size_t most) {
  std::vector<std::vector<int>> found;
  std::vector<int> dims;
  add_tori(ranks, as_size(dimensions), most, dims, found);
  return found;
}

Topology Topology::of(MPI_Comm comm, const Comm& on) {
  int topology = MPI_UNDEFINED;
  PMPI_Topo_test(comm, &topology);
  const std::optional<Lists> lists = lists_of(comm, topology);
  if (!lists || (topology == MPI_CART && lists->targets.empty())) return {};

  Topology made;
  const std::array arrivals = {find_arrivals(comm, *lists, Form::blocking),
                               find_arrivals(comm, *lists, Form::nonblocking)};
  bool is_refused = false;
  try {
    const auto held = progress.lock();
    made.lists_ = Neighborhood::adjacent(on, lists->sources, lists->targets);
  } catch (const Error&) {
    is_refused = true;  // the others must not wait for this rank below
  }

  constexpr int most_dimensions = 4;
  constexpr std::size_t most_tori = 1024;
  constexpr std::size_t most_of_stencil = 512;  // each is looked at on each torus
  const std::size_t degree = lists->targets.size();
  const bool may_be_stencil =
      topology != MPI_CART && lists->sources.size() == degree && degree > 0 && degree <= most_of_stencil;
  // Neighbors in a Cartesian grid have nothing to combine; the blocks of two ranks that are neighbors twice
  // go together as they do by lists.
  const auto tori =
      topology == MPI_CART ? std::vector<std::vector<int>>() : tori_of(on.size(), most_dimensions, most_tori);
  // The largest hash of all ranks and (as its complement) the smallest are one where all hashes are.
  std::vector<unsigned long long> words;
  for (const std::vector<int>& dims : tori) {
    const std::vector<int> offsets =
        may_be_stencil ? offsets_on(Torus(dims), on.rank(), lists->targets) : std::vector<int>();
    const std::uint64_t hash = may_be_stencil ? detail::hash_bytes(std::as_bytes(std::span(offsets))) : 0;
    words.push_back(hash);
    words.push_back(~hash);
  }
  std::vector<int> peers = lists->targets;
  std::ranges::sort(peers);
  peers.erase(std::ranges::unique(peers).begin(), peers.end());
  words.insert(words.end(), {is_refused ? 1ULL : 0ULL, lists->targets.size(), peers.size()});
  for (std::size_t form = 0; form < arrivals.size(); ++form) {
    const Arrivals& of = arrivals[form];
    made.orders_[form] = {order_of(*lists, of.alltoall), order_of(*lists, of.alltoallv), {}};
    words.push_back(made.orders_[form].alltoall.empty() ? 0 : 1);
  }
  PMPI_Allreduce(MPI_IN_PLACE, words.data(), static_cast<int>(words.size()), MPI_UNSIGNED_LONG_LONG, MPI_MAX,
                 comm);
  const auto held = progress.lock();  // again: what is made and dropped refers to the communicator
  const std::size_t behind = 2 * tori.size();
  if (words[behind] != 0) {
    made = {};
    return made;
  }
  made.blocks_of_a_peer_ =
      static_cast<double>(words[behind + 1]) / static_cast<double>(std::max(words[behind + 2], 1ULL));

  double most_gain = 0;
  for (std::size_t k = 0; k < tori.size(); ++k) {
    if (words[2 * k] == 0 || words[2 * k] != ~words[2 * k + 1]) continue;
    const Torus torus(tori[k]);
    const Offsets offsets(torus.dimensions(), offsets_on(torus, on.rank(), lists->targets));
    if (!have_one_size(torus, offsets)) continue;
    const Neighborhood on_torus(on, Stencil(torus, offsets));
    constexpr std::size_t few_bytes = 8;
    const double gain = gain_of(on_torus, NeighborPattern::alltoall, few_bytes);
    if (gain <= most_gain) continue;
    most_gain = gain;
    made.stencil_ = on_torus;
  }
  for (std::size_t form = 0; form < arrivals.size(); ++form) {
    Orders& orders = made.orders_[form];
    orders.is_some_ranks = words[behind + 3 + form] != 0;
    if (orders.alltoall.empty()) {
      orders.alltoall.resize(lists->sources.size());
      std::iota(orders.alltoall.begin(), orders.alltoall.end(), 0);
    }
    if (made.stencil() != nullptr) orders.places = places_of(arrivals[form].alltoall);
  }
  return made;
}

double Topology::promised_gain(Call call, std::size_t bytes) const {
  const bool is_regular = call == Call::neighbor_alltoall || call == Call::neighbor_allgather;
  if (!is_regular || stencil() == nullptr) return blocks_of_a_peer_;
  const auto pattern =
      call == Call::neighbor_alltoall ? NeighborPattern::alltoall : NeighborPattern::allgather;
  return gain_of(stencil_, pattern, bytes);
}

}  // namespace wisp::preload
