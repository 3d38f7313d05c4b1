#pragma once

#include <mpi.h>

#include <cstdint>

namespace wisp::test {

/// x ↦ factor · x + shift, modulo 2^64. Composition is associative and does not commute: a reduction in any
/// other than rank order gives another map.
struct Affine {
  std::uint64_t factor = 1;
  std::uint64_t shift = 0;

  friend bool operator==(const Affine&, const Affine&) = default;
  /// First `a`, then `b`.
  friend Affine operator*(const Affine& a, const Affine& b) {
    return {a.factor * b.factor, a.shift * b.factor + b.shift};
  }
};

inline Affine affine_of_rank(int rank) {
  const auto r = static_cast<std::uint64_t>(rank);
  return {2 * r + 3, 7 * r + 1};
}

/// Affine as an MPI datatype with its operator; freed at the end of the test.
class AffineType {
 public:
  AffineType() {
    MPI_Type_contiguous(2, MPI_UINT64_T, &type_);
    MPI_Type_commit(&type_);
    MPI_Op_create(
        [](void* left, void* right, int* count, MPI_Datatype*) {
          auto* a = static_cast<Affine*>(left);
          auto* b = static_cast<Affine*>(right);
          for (int i = 0; i < *count; ++i) b[i] = a[i] * b[i];
        },
        0, &op_);
  }
  ~AffineType() {
    MPI_Op_free(&op_);
    MPI_Type_free(&type_);
  }
  AffineType(const AffineType&) = delete;
  AffineType& operator=(const AffineType&) = delete;

  MPI_Datatype type() const { return type_; }
  MPI_Op op() const { return op_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op op_ = MPI_OP_NULL;
};

/// ints with a gap of one int behind each.
class GappedInts {
 public:
  GappedInts() {
    MPI_Datatype one = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(1, MPI_INT, &one);
    MPI_Type_create_resized(one, 0, 2 * sizeof(int), &type_);
    MPI_Type_commit(&type_);
    MPI_Type_free(&one);
  }
  ~GappedInts() { MPI_Type_free(&type_); }
  GappedInts(const GappedInts&) = delete;
  GappedInts& operator=(const GappedInts&) = delete;

  MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace wisp::test
