#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wisp/comm.hpp"
#include "wisp/simulate.hpp"

namespace wisp::bench {

struct Options {
  bool quick = false;
  bool cold = false;      ///< each sample is one call after other work
  std::string json_file;  ///< empty: none
  std::string op;         ///< a benchmark's only case; empty: all
  std::string algorithm;  ///< of `collective`; empty: the one that is chosen
  int count = 0;          ///< elements; 0: several
};

/// The count that is asked for, else few or many.
template <class T = int>
std::vector<T> sizes_of(const Options& options, std::vector<T> few, std::vector<T> many) {
  if (options.count > 0) return {static_cast<T>(options.count)};
  return options.quick ? std::move(few) : std::move(many);
}

/// One line of the output.
struct Row {
  std::string bench;
  std::string variant = {};
  std::string case_name;
  int ranks = 0;
  std::optional<std::size_t> bytes = {};
  double min_us = 0;
  double median_us = 0;
  std::optional<std::uint64_t> messages = {};
  std::optional<std::uint64_t> volume = {};
  std::optional<std::uint64_t> peak_bytes = {};
  std::string mark = {};  ///< printed before the time
};

/// Prints rows as a table, variants side by side, and writes them as JSON lines, each as it comes. Only rank
/// 0 does anything.
class Report {
 public:
  Report(const Options& options, std::string title, bool prints);

  /// Rows of one cell: the same case and size.
  void add(const std::vector<Row>& cell);
  /// Says of a case with so many elements that it does not fit into memory.
  void leave_out(std::string_view case_name, int count) const;

 private:
  void print_across(const std::vector<Row>& cell);
  /// One line for each variant, with messages, bytes and memory.
  void print_down(const std::vector<Row>& cell);
  void keep(const Row& row);

  bool prints_;
  std::string title_;
  std::string json_file_;
  std::ofstream json_;
  std::vector<std::string> variants_;
};

/// One way to do the work of a cell: `run(k)` is the k-th call.
struct Variant {
  std::string name;
  std::function<void(int call)> run;
};

struct Timing {
  double min_us = 0;
  double median_us = 0;  ///< of means of two successive samples
};

struct Method {
  int samples = 60;
  int warm_up = 5;
  int calls = 0;          ///< successive calls in a sample; 0: 1 if every rank has a core, else 10
  bool cold = false;      ///< one call, that finds neither its code nor its data in its core's own caches
  bool have_run = false;  ///< every variant has run before: where MPI is simulated that is warm-up enough
};

/// The usual one, or with --quick a shorter one.
Method method_of(const Options& options);
/// The same for variants that have all run before, to be checked.
Method method_after_check(const Options& options);

/// True if the MPI is simulated: its clock is the same on all ranks, and the same call always takes as long.
bool is_simulated_mpi();

/// Samples all variants in turn, in another order each round: a sample is K successive calls between two
/// barriers, its figure the maximum over ranks divided by K. With caches that are cold, and where MPI is
/// simulated, one call of each, that all ranks begin at the same time.
std::vector<Timing> measure(MPI_Comm comm, const std::vector<Variant>& variants, const Method& method);

/// That of a simulated run: like `cell`, with its times and messages.
Row simulated_row(Row cell, const SimulationReport& run);
/// A cell's rows: like `cell`, with each variant's name and times.
std::vector<Row> rows_of(const Row& cell, const std::vector<Variant>& variants,
                         const std::vector<Timing>& timings);

/// Refuses the value of an option that is neither empty nor one of `names`.
void check_choice(std::string_view bench, std::string_view option, const std::string& value,
                  const std::vector<std::string_view>& names);

/// Whether what is named works on these ranks, which is known when an operation is made: `make` does.
bool works(const std::function<void()>& make);
/// Of several names those that work on rank 0 of a cluster.
std::vector<std::string> working_on(SimulationOptions cluster, std::vector<std::string> names,
                                    const std::function<void(const Comm&, std::string_view)>& make);

/// What MPI_Comm_create_group makes of ranks `first` to `last`, which call this.
MPI_Comm make_mpi_range(MPI_Comm parent, int first, int last, int tag = 0);

/// MPI_COMM_WORLD as benchmarks use it.
Comm all_ranks();

/// "wisp bench NAME: P ranks, MPI", and whether ranks outnumber cores.
std::string title_of(std::string_view bench, MPI_Comm comm);

/// Of direct_gatherv_ranks.
std::string text_of_direct(int ranks);

/// What `mpi` is in the output: the library's name and version.
std::string mpi_name();

}  // namespace wisp::bench
