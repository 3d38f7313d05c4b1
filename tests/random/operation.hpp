#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "random/memory.hpp"
#include "random/program.hpp"
#include "wisp/chain.hpp"
#include "wisp/collectives.hpp"
#include "wisp/neighborhood.hpp"

namespace wisp::test {

/// One operation of one rank, with all that it reads and writes.
class Running {
 public:
  /// `can_block`: on real ranks.
  Running(const OperationSpec& spec, const Comm& comm, bool can_block);

  /// Starts it, or does all of it if it blocks; of a persistent one, makes it.
  void start();
  /// Starts a persistent one.
  void run() {
    for (const auto& side : sides_) side->area.begin();
    request_.start();
  }
  /// To be awaited once; then a persistent one may be started again.
  Request& request() { return request_; }
  bool is_persistent() const { return is_persistent_; }
  int id() const { return spec_.id; }
  int comm() const { return spec_.comm; }
  /// What is wrong with its results; empty if nothing is.
  std::string difference() const;

 private:
  struct Types {
    std::vector<std::unique_ptr<OwnType>> made;
    const OwnType& add(const Layout& layout, Base base) {
      return *made.emplace_back(std::make_unique<OwnType>(layout, base));
    }
    void free() {
      for (const auto& type : made) type->free();
    }
  };
  /// Blocks one after the other, or in any order with gaps between them.
  struct Side {
    Area area;
    Layout layout;
    MPI_Datatype type = MPI_BYTE;
    std::size_t count = 0;  ///< of elements
    std::vector<int> counts, displacements;
    std::vector<MPI_Datatype> types;
    std::vector<std::size_t> first_cell;  ///< of each block

    Buffer buffer() { return {area.address(), count, type}; }
    ConstBuffer const_buffer() { return {area.address(), count, type}; }
    Blocks blocks() {
      return types.empty() ? Blocks(area.address(), counts, displacements, type)
                           : Blocks(area.address(), counts, displacements, types);
    }
    ConstBlocks const_blocks() { return blocks(); }
  };
  enum class Spread { together, apart, by_types };

  Side& add_side(const Layout& layout, MPI_Datatype type, std::size_t cells);
  /// Blocks of one size, of any datatype.
  Side& add_regular(std::size_t blocks, std::size_t cells);
  Side& add_blocks(const std::vector<std::size_t>& cells, Spread spread);
  void fill(Side& side, std::size_t block, int sender, int sent_block, bool is_expected);
  std::int64_t value(int sender, int block, std::size_t cell) const;
  std::size_t cells_of(int rank, int block) const;
  bool is_in_place() const { return Draw(spec_.seed).with(2).once_in(3); }

  void prepare();
  Side& add_all(const std::vector<std::size_t>& cells);
  std::vector<std::size_t> cells_of_ranks() const;
  void prepare_bcast();
  void prepare_gather();
  void prepare_scatter();
  void prepare_alltoall();
  void prepare_exchange();
  void prepare_merge();
  void prepare_reduction();
  void prepare_neighbors();
  void prepare_messages();
  void prepare_sort();
  void prepare_split();

  OperationSpec spec_;
  Comm comm_;
  Chain chain_;
  Neighborhood neighborhood_;
  bool can_block_;
  bool is_persistent_ = false;
  Base base_;
  std::size_t cells_;  ///< of a block, where all are equal
  Draw draw_;          ///< of this rank
  int rank_;
  int size_;
  int root_;
  Types types_;
  std::vector<std::unique_ptr<Side>> sides_;
  std::function<Request(Face, std::string_view algorithm)> launch_;
  std::vector<std::function<std::string()>> checks_;
  Request request_;
};

}  // namespace wisp::test
