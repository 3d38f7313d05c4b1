// What WISP_TRACE costs: collectives on a communicator whose messages are recorded beside one whose are not.

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "benchmarks.hpp"
#include "cli/bad_input.hpp"
#include "collective_calls.hpp"
#include "comm/comm_access.hpp"
#include "wisp/error.hpp"

namespace wisp::bench {
namespace {

Comm untraced_ranks(const Comm& like) {
  MPI_Comm ours = MPI_COMM_NULL;
  detail::check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &ours), "MPI_Comm_dup");
  detail::World::Facts facts = detail::CommAccess::world(like).facts();
  facts.is_traced = false;
  return detail::CommAccess::make_root(detail::World::over_own({{ours}, facts}),
                                       detail::TagLayout::Kind::isolated);
}

}  // namespace

void bench_trace(const Options& options) {
  constexpr std::array<std::string_view, 2> names = {"bcast", "allreduce"};
  check_choice("trace", "--op", options.op, {names.begin(), names.end()});
  const Comm traced = all_ranks();
  int is_recorded = detail::CommAccess::world(traced).recorder() != nullptr ? 1 : 0;
  detail::check_mpi(MPI_Allreduce(MPI_IN_PLACE, &is_recorded, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD),
                    "MPI_Allreduce");
  if (is_recorded == 0) {
    throw cli::BadInput("wisp bench trace: WISP_TRACE names no file that all ranks can write");
  }
  const Comm untraced = untraced_ranks(traced);
  Report report(options, title_of("trace", MPI_COMM_WORLD), traced.rank() == 0);
  for (const Collective& of : collectives()) {
    if (std::ranges::find(names, of.name) == names.end()) continue;
    if (!options.op.empty() && options.op != of.name) continue;
    constexpr int of_one_kib = 128;
    Cell cell = make_cell(of, traced.size(), options.count > 0 ? options.count : of_one_kib);
    const auto variant_on = [&](const char* name, const Comm& comm) {
      return Variant{name, [&, comm](int call) { of.make(comm, cell, call % comm.size(), {}).run(); }};
    };
    const std::vector<Variant> variants = {variant_on("untraced", untraced), variant_on("traced", traced)};
    const Method method{.samples = options.quick ? 20 : 200, .warm_up = 2, .calls = 100};
    const Row of_cell{.bench = "trace",
                      .case_name = of.name,
                      .ranks = cell.ranks,
                      .bytes = static_cast<std::size_t>(cell.count) * sizeof(double)};
    report.add(rows_of(of_cell, variants, measure(MPI_COMM_WORLD, variants, method)));
  }
}

}  // namespace wisp::bench
