#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/line_order.hpp"
#include "cli/sort_chunks.hpp"
#include "cli/sort_file.hpp"
#include "wisp/comm.hpp"
#include "wisp/detail/balance.hpp"

// The elements of a sort: chunks become sorted runs, and slices of all runs are merged across ranks.

namespace wisp::cli {

using wisp::detail::Slot;

/// What of all elements does not depend on their order; and whether they are in order, with the first and the
/// last one.
struct Inspection {
  std::uint64_t count = 0;
  std::uint64_t checksum = 0;
  bool is_in_order = true;
  std::string first;
  std::string last;
};

struct ElementOptions {
  bool keeps_one_of_equal = false;  ///< the first
  bool keeps_places = false;        ///< of those that are equal and not the same: 0 and -0, NaN
  bool inspects_input = false;
  std::uint64_t run_memory = 0;    ///< bytes of runs that a rank keeps in memory
  std::uint64_t chunk_memory = 0;  ///< bytes that sorting a chunk may take
  std::string temporary_folder;
};

class SortedElements {
 public:
  SortedElements(const Comm& comm, const ElementOptions& options)
      : comm_(comm), options_(options), store_(options.temporary_folder, options.run_memory) {}
  virtual ~SortedElements() = default;

  virtual ElementShape shape() const = 0;
  /// Sorts a chunk of this rank.
  virtual void add(Chunk chunk) = 0;
  /// After the last chunk of all ranks: collective.
  void finish();
  /// Of all ranks.
  Slot count() const { return count_; }
  std::uint64_t bytes() const { return bytes_; }
  /// The next elements in order, up to ends[r] (counted over all) for rank r: this rank's, as they are
  /// written. Collective.
  virtual std::string merge(const std::vector<Slot>& ends) = 0;
  /// Of this rank, all that was merged, without those that were left out as equal.
  Slot merged() const { return merged_; }

  const Inspection& input() const { return input_; }
  /// Goes through a chunk of the output.
  virtual void inspect(const Chunk& chunk, Inspection& seen) const = 0;
  virtual bool is_before(std::string_view a, std::string_view b) const = 0;

 protected:
  /// Sets what all ranks know: how many elements and runs there are.
  virtual void take_runs(std::size_t runs) = 0;
  /// Where this rank's runs are cut for a slice: first and last, border by border, run by run.
  struct Cuts {
    std::vector<Slot> first;
    std::vector<Slot> last;
  };
  /// From where all ranks' parts of a slice end.
  Cuts cuts_up_to(std::vector<Slot> last);
  /// Begins to read what is between cuts, and as much behind them, which may be the next slice.
  void read_ahead(const Cuts& cuts) const;
  /// Elements first … last - 1 of a run.
  virtual std::span<const std::byte> part_of_run(std::size_t run, Slot first, Slot last) const = 0;
  virtual Slot size_of_run(std::size_t run) const = 0;
  /// Whether the last element on lower ranks, or of slices before, is equal to `first`; `last` is this
  /// rank's. Collective.
  bool follows_equal(bool has_any, const std::string& first, const std::string& last);

  const Comm& comm_;
  ElementOptions options_;
  RunStore store_;
  Slot own_ = 0;  ///< elements of this rank's chunks
  std::uint64_t own_bytes_ = 0;
  Slot most_ = 0;  ///< elements of any run
  Slot count_ = 0;
  std::uint64_t bytes_ = 0;
  Slot merged_ = 0;
  Inspection input_;

 private:
  std::vector<Slot> cut_;  ///< where the last slice ended
  std::string last_;       ///< key of the last element so far, on all ranks
  bool has_last_ = false;
};

/// Little-endian numbers, i32, u32, i64, u64, f32 or f64.
std::unique_ptr<SortedElements> make_numbers(const Comm& comm, const std::string& type, bool is_reversed,
                                             const ElementOptions& options);
/// Lines (width 0) or records.
std::unique_ptr<SortedElements> make_strings(const Comm& comm, std::size_t width, const LineOrder& order,
                                             const ElementOptions& options);

}  // namespace wisp::cli
