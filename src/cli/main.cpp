#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "harness.hpp"
#include "wisp/error.hpp"
#include "wisp/version.h"

namespace {

/// Reads the command line and runs the command on every rank; only rank 0 speaks.
int run(int argc, char** argv) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CLI::App app("Weightless process groups and collectives for MPI", "wisp");
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("wisp {} on {}", WISP_VERSION, wisp::bench::mpi_name()));
  const auto commands = {wisp::cli::add_doctor(app), wisp::cli::add_groups(app), wisp::cli::add_sort(app),
                         wisp::cli::add_bench(app), wisp::cli::add_simulate(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return rank == 0 ? app.exit(help) : 0;
  } catch (const CLI::ParseError& error) {
    if (rank == 0) fmt::print(stderr, "wisp: {}\n", error.what());
    return 2;
  }
  for (const wisp::cli::Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // errors become exceptions
  int code = 1;
  try {
    code = run(argc, argv);
  } catch (const std::exception& error) {
    // What was not foreseen may have happened on this rank alone: the others must not wait for it.
    fmt::print(stderr, "{}\n", error.what());
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return code;
}
