#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// How elements lie in memory, by our own arithmetic: nothing here is asked of MPI but to make the datatypes.

namespace wisp::test {

/// What elements are.
enum class Base { int8, int32, int64, real };

std::size_t size_of(Base base);
MPI_Datatype type_of(Base base);

/// How the cells of an element of a datatype lie, in bytes from its address, in the order in which they
/// travel.
struct Layout {
  std::vector<std::ptrdiff_t> cells;
  std::ptrdiff_t extent = 0;
  int kind = 0;

  int size() const { return static_cast<int>(cells.size()); }
  std::ptrdiff_t offset(std::size_t cell) const {
    return static_cast<std::ptrdiff_t>(cell / cells.size()) * extent + cells[cell % cells.size()];
  }
};

constexpr int layout_kinds = 8;
/// Kind 0 is the base type itself; others have two to four cells, gaps, another order, bounds below zero, or
/// an extent downwards. Whose cells do not divide `count` is made of one cell.
Layout layout_of(int kind, Base base, std::size_t count, bool may_lie_downwards);

/// The datatype of a layout, freed with its last owner unless it is the base type.
class OwnType {
 public:
  OwnType(const Layout& layout, Base base);
  OwnType(const OwnType&) = delete;
  OwnType& operator=(const OwnType&) = delete;
  ~OwnType() { free(); }
  MPI_Datatype get() const { return type_; }
  void free();

 private:
  MPI_Datatype type_;
  bool is_made_ = false;
};

/// Cells in memory of their own, and what they must be at the end; what lies between and around them must
/// stay.
class Area {
 public:
  /// A cell for each offset.
  Area(Base base, std::vector<std::ptrdiff_t> offsets);
  Area() : Area(Base::int8, {}) {}

  void* address() { return bytes_.data() + origin_; }
  std::size_t size() const { return offsets_.size(); }
  void set(std::size_t cell, std::int64_t value) {
    put(bytes_, cell, value);
    put(expected_, cell, value);
  }
  void expect(std::size_t cell, std::int64_t value) { put(expected_, cell, value); }
  /// Before each run of a persistent operation: as before the first.
  void begin() { begun_.empty() ? begun_ = bytes_ : bytes_ = begun_; }
  /// The cell may have any value.
  void allow(std::size_t cell) { allowed_.push_back(cell); }
  /// What is wrong; empty if nothing is.
  std::string difference() const;

 private:
  void put(std::vector<std::byte>& image, std::size_t cell, std::int64_t value) const;
  std::int64_t get(const std::vector<std::byte>& image, std::size_t cell) const;

  Base base_;
  std::vector<std::ptrdiff_t> offsets_;
  std::ptrdiff_t origin_ = 0;
  std::vector<std::byte> bytes_;
  std::vector<std::byte> begun_;
  std::vector<std::byte> expected_;
  std::vector<std::size_t> allowed_;
};

}  // namespace wisp::test
