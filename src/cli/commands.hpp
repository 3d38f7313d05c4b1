#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace wisp::cli {

/// A subcommand: `run` gives the exit code, the same on all ranks.
struct Command {
  CLI::App* app;
  std::function<int()> run;
};

Command add_sort(CLI::App& app);
Command add_doctor(CLI::App& app);
Command add_groups(CLI::App& app);
Command add_run(CLI::App& app);
Command add_tune(CLI::App& app);
Command add_bench(CLI::App& app);
Command add_simulate(CLI::App& app);
Command add_trace(CLI::App& app);

}  // namespace wisp::cli
