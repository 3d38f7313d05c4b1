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

const Collective regular[] = {
    {"barrier", false, false, [](const Comm& c, Cell&, int, How o) { return barrier(c, o); },
     [](Cell&, int, MPI_Comm m) { return MPI_Barrier(m); },
     [](Cell&, int, MPI_Comm m, MPI_Request* r) { return MPI_Ibarrier(m, r); }},
    {"bcast", false, false,
     [](const Comm& c, Cell& x, int root, How o) { return bcast(c, x.receive(), root, o); },
     [](Cell& x, int root, MPI_Comm m) { return MPI_Bcast(x.out(), x.count, MPI_DOUBLE, root, m); },
     [](Cell& x, int root, MPI_Comm m, MPI_Request* r) {
       return MPI_Ibcast(x.out(), x.count, MPI_DOUBLE, root, m, r);
     }},
    {"reduce", false, false,
     [](const Comm& c, Cell& x, int root, How o) {
       return reduce(c, x.send(), x.receive(), MPI_SUM, root, o);
     },
     [](Cell& x, int root, MPI_Comm m) {
       return MPI_Reduce(x.in(), x.out(), x.count, MPI_DOUBLE, MPI_SUM, root, m);
     },
     [](Cell& x, int root, MPI_Comm m, MPI_Request* r) {
       return MPI_Ireduce(x.in(), x.out(), x.count, MPI_DOUBLE, MPI_SUM, root, m, r);
     }},
    {"allreduce", false, false,
     [](const Comm& c, Cell& x, int, How o) { return allreduce(c, x.send(), x.receive(), MPI_SUM, o); },
     [](Cell& x, int, MPI_Comm m) { return MPI_Allreduce(x.in(), x.out(), x.count, MPI_DOUBLE, MPI_SUM, m); },
     [](Cell& x, int, MPI_Comm m, MPI_Request* r) {
       return MPI_Iallreduce(x.in(), x.out(), x.count, MPI_DOUBLE, MPI_SUM, m, r);
     }},
    {"scan", false, false,
     [](const Comm& c, Cell& x, int, How o) { return scan(c, x.send(), x.receive(), MPI_SUM, o); },
     [](Cell& x, int, MPI_Comm m) { return MPI_Scan(x.in(), x.out(), x.count, MPI_DOUBLE, MPI_SUM, m); },
     [](Cell& x, int, MPI_Comm m, MPI_Request* r) {
       return MPI_Iscan(x.in(), x.out(), x.count, MPI_DOUBLE, MPI_SUM, m, r);
     }},
    {"exscan", false, false,
     [](const Comm& c, Cell& x, int, How o) { return exscan(c, x.send(), x.receive(), MPI_SUM, o); },
     [](Cell& x, int, MPI_Comm m) { return MPI_Exscan(x.in(), x.out(), x.count, MPI_DOUBLE, MPI_SUM, m); },
     [](Cell& x, int, MPI_Comm m, MPI_Request* r) {
       return MPI_Iexscan(x.in(), x.out(), x.count, MPI_DOUBLE, MPI_SUM, m, r);
     }},
    {"gather", false, true,
     [](const Comm& c, Cell& x, int root, How o) { return gather(c, x.send(), x.receive(), root, o); },
     [](Cell& x, int root, MPI_Comm m) {
       return MPI_Gather(x.in(), x.count, MPI_DOUBLE, x.out(), x.count, MPI_DOUBLE, root, m);
     },
     [](Cell& x, int root, MPI_Comm m, MPI_Request* r) {
       return MPI_Igather(x.in(), x.count, MPI_DOUBLE, x.out(), x.count, MPI_DOUBLE, root, m, r);
     }},
    {"allgather", false, true,
     [](const Comm& c, Cell& x, int, How o) { return allgather(c, x.send(), x.receive(), o); },
     [](Cell& x, int, MPI_Comm m) {
       return MPI_Allgather(x.in(), x.count, MPI_DOUBLE, x.out(), x.count, MPI_DOUBLE, m);
     },
     [](Cell& x, int, MPI_Comm m, MPI_Request* r) {
       return MPI_Iallgather(x.in(), x.count, MPI_DOUBLE, x.out(), x.count, MPI_DOUBLE, m, r);
     }},
    {"scatter", true, false,
     [](const Comm& c, Cell& x, int root, How o) { return scatter(c, x.send(), x.receive(), root, o); },
     [](Cell& x, int root, MPI_Comm m) {
       return MPI_Scatter(x.in(), x.count, MPI_DOUBLE, x.out(), x.count, MPI_DOUBLE, root, m);
     },
     [](Cell& x, int root, MPI_Comm m, MPI_Request* r) {
       return MPI_Iscatter(x.in(), x.count, MPI_DOUBLE, x.out(), x.count, MPI_DOUBLE, root, m, r);
     }},
    {"alltoall", true, true,
     [](const Comm& c, Cell& x, int, How o) { return alltoall(c, x.send(), x.receive(), o); },
     [](Cell& x, int, MPI_Comm m) {
       return MPI_Alltoall(x.in(), x.count, MPI_DOUBLE, x.out(), x.count, MPI_DOUBLE, m);
     },
     [](Cell& x, int, MPI_Comm m, MPI_Request* r) {
       return MPI_Ialltoall(x.in(), x.count, MPI_DOUBLE, x.out(), x.count, MPI_DOUBLE, m, r);
     }},
    {"alltoallv", true, true,
     [](const Comm& c, Cell& x, int, How o) {
       return alltoallv(c, ConstBlocks(x.send(), x.counts, x.begins), {x.receive(), x.counts, x.begins}, o);
     },
     [](Cell& x, int, MPI_Comm m) {
       return MPI_Alltoallv(x.in(), x.counts.data(), x.begins.data(), MPI_DOUBLE, x.out(), x.counts.data(),
                            x.begins.data(), MPI_DOUBLE, m);
     },
     [](Cell& x, int, MPI_Comm m, MPI_Request* r) {
       return MPI_Ialltoallv(x.in(), x.counts.data(), x.begins.data(), MPI_DOUBLE, x.out(), x.counts.data(),
                             x.begins.data(), MPI_DOUBLE, m, r);
     }},
    {"reduce_scatter_block", true, false,
     [](const Comm& c, Cell& x, int, How o) {
       return reduce_scatter_block(c, x.send(), x.receive(), MPI_SUM, o);
     },
     [](Cell& x, int, MPI_Comm m) {
       return MPI_Reduce_scatter_block(x.in(), x.out(), x.count, MPI_DOUBLE, MPI_SUM, m);
     },
     [](Cell& x, int, MPI_Comm m, MPI_Request* r) {
       return MPI_Ireduce_scatter_block(x.in(), x.out(), x.count, MPI_DOUBLE, MPI_SUM, m, r);
     }}};

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
