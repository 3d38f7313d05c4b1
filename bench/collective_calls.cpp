#include "collective_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>

#include "wisp/error.hpp"

namespace wisp::bench {
namespace {

using How = const CollectiveOptions&;

/// MPI's own call, blocking and nonblocking, with these arguments before the communicator.
#define MPI_CALLS(Name, name, ...)                                                          \
  []([[maybe_unused]] Cell& x, [[maybe_unused]] int root, MPI_Comm m) {                     \
    return MPI_##Name(__VA_ARGS__ __VA_OPT__(, ) m);                                        \
  },                                                                                        \
      []([[maybe_unused]] Cell& x, [[maybe_unused]] int root, MPI_Comm m, MPI_Request* r) { \
        return MPI_I##name(__VA_ARGS__ __VA_OPT__(, ) m, r);                                \
      }

const Collective regular[] = {
    {"barrier", false, false, [](const Comm& c, Cell&, int, How o) { return barrier(c, o); },
     MPI_CALLS(Barrier, barrier)},
    {"bcast", false, false,
     [](const Comm& c, Cell& x, int root, How o) { return bcast(c, x.receive(), root, o); },
     MPI_CALLS(Bcast, bcast, x.out(), x.count, MPI_DOUBLE, root)},
    {"reduce", false, false,
     [](const Comm& c, Cell& x, int root, How o) {
       return reduce(c, x.send(), x.receive(), MPI_SUM, root, o);
     },
     MPI_CALLS(Reduce, reduce, x.in(), x.out(), x.count, MPI_DOUBLE, MPI_SUM, root)},
    {"allreduce", false, false,
     [](const Comm& c, Cell& x, int, How o) { return allreduce(c, x.send(), x.receive(), MPI_SUM, o); },
     MPI_CALLS(Allreduce, allreduce, x.in(), x.out(), x.count, MPI_DOUBLE, MPI_SUM)},
    {"scan", false, false,
     [](const Comm& c, Cell& x, int, How o) { return scan(c, x.send(), x.receive(), MPI_SUM, o); },
     MPI_CALLS(Scan, scan, x.in(), x.out(), x.count, MPI_DOUBLE, MPI_SUM)},
    {"exscan", false, false,
     [](const Comm& c, Cell& x, int, How o) { return exscan(c, x.send(), x.receive(), MPI_SUM, o); },
     MPI_CALLS(Exscan, exscan, x.in(), x.out(), x.count, MPI_DOUBLE, MPI_SUM)},
    {"gather", false, true,
     [](const Comm& c, Cell& x, int root, How o) { return gather(c, x.send(), x.receive(), root, o); },
     MPI_CALLS(Gather, gather, x.in(), x.count, MPI_DOUBLE, x.out(), x.count, MPI_DOUBLE, root)},
    {"allgather", false, true,
     [](const Comm& c, Cell& x, int, How o) { return allgather(c, x.send(), x.receive(), o); },
     MPI_CALLS(Allgather, allgather, x.in(), x.count, MPI_DOUBLE, x.out(), x.count, MPI_DOUBLE)},
    {"scatter", true, false,
     [](const Comm& c, Cell& x, int root, How o) { return scatter(c, x.send(), x.receive(), root, o); },
     MPI_CALLS(Scatter, scatter, x.in(), x.count, MPI_DOUBLE, x.out(), x.count, MPI_DOUBLE, root)},
    {"alltoall", true, true,
     [](const Comm& c, Cell& x, int, How o) { return alltoall(c, x.send(), x.receive(), o); },
     MPI_CALLS(Alltoall, alltoall, x.in(), x.count, MPI_DOUBLE, x.out(), x.count, MPI_DOUBLE)},
    {"alltoallv", true, true,
     [](const Comm& c, Cell& x, int, How o) {
       return alltoallv(c, ConstBlocks(x.send(), x.counts, x.begins), {x.receive(), x.counts, x.begins}, o);
     },
     MPI_CALLS(Alltoallv, alltoallv, x.in(), x.counts.data(), x.begins.data(), MPI_DOUBLE, x.out(),
               x.counts.data(), x.begins.data(), MPI_DOUBLE)},
    {"reduce_scatter_block", true, false,
     [](const Comm& c, Cell& x, int, How o) {
       return reduce_scatter_block(c, x.send(), x.receive(), MPI_SUM, o);
     },
     MPI_CALLS(Reduce_scatter_block, reduce_scatter_block, x.in(), x.out(), x.count, MPI_DOUBLE, MPI_SUM)}};

const Collective irregular[] = {regular[std::size(regular) - 2],
                                {"gatherv", false, true,
                                 [](const Comm& c, Cell& x, int root, How o) {
                                   return gatherv(c, x.send(), {x.receive(), x.counts, x.begins}, root, o);
                                 },
                                 [](Cell& x, int root, MPI_Comm m) {
                                   return MPI_Gatherv(x.in(), x.count, MPI_DOUBLE, x.out(), x.counts.data(),
                                                      x.begins.data(), MPI_DOUBLE, root, m);
                                 },
                                 nullptr},
                                {"scatterv", true, false,
                                 [](const Comm& c, Cell& x, int root, How o) {
                                   return scatterv(c, ConstBlocks(x.send(), x.counts, x.begins), x.receive(),
                                                   root, o);
                                 },
                                 [](Cell& x, int root, MPI_Comm m) {
                                   return MPI_Scatterv(x.in(), x.counts.data(), x.begins.data(), MPI_DOUBLE,
                                                       x.out(), x.count, MPI_DOUBLE, root, m);
                                 },
                                 nullptr}};

}  // namespace

std::span<const Collective> collectives() {
  return regular;
}
std::span<const Collective> irregular_collectives() {
  return irregular;
}

Cell make_cell(const Collective& of, int ranks, int count) {
  const auto blocks = static_cast<std::size_t>(ranks);
  const auto block = static_cast<std::size_t>(count);
  Cell cell{ranks,
            count,
            std::vector<double>(of.blocks_in ? blocks * block : block),
            std::vector<double>(of.blocks_out ? blocks * block : block),
            {},
            {}};
  if (std::string_view(of.name).ends_with("v")) {
    cell.counts.assign(blocks, count);
    for (int rank = 0; rank < ranks; ++rank) cell.begins.push_back(rank * count);
  }
  return cell;
}

bool is_too_large(const Collective& of, int ranks, int count) {
  const double most = is_simulated_mpi() ? 1e9 : 4e9;  // all ranks are in one process there
  const double blocks = of.blocks_in || of.blocks_out ? ranks : 1;
  return 8.0 * count * blocks * ranks > most;
}

void check_variants(const Collective& of, Cell& cell, int rank, const std::vector<Variant>& variants) {
  const auto run = [&](const Variant& variant) {
    std::iota(cell.input.begin(), cell.input.end(), rank);
    std::fill(cell.output.begin(), cell.output.end(), of.name == std::string("bcast") ? rank : 0);
    variant.run(0);
    return cell.output;
  };
  const auto reference =
      std::find_if(variants.begin(), variants.end(), [](const Variant& v) { return v.name == "MPI"; });
  const std::vector<double> expected = run(*reference);
  for (const Variant& variant : variants) {
    if (run(variant) == expected) continue;
    throw Error(MPI_ERR_OTHER, fmt::format("wisp bench collective: {} of {} elements: {} differs from MPI on "
                                           "rank {}",
                                           of.name, cell.count, variant.name, rank));
  }
}

}  // namespace wisp::bench
