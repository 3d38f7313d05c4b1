#pragma once

#include <cstddef>
#include <utility>

#include "transport/type_layout.hpp"
#include "wisp/operator.hpp"

namespace wisp::detail {

/// How an operator may be applied.
enum class OperatorKind {
  commutative,  ///< in any order
  ordered,      ///< in rank order
  whole         ///< and to whole vectors: items of a function of one's own are not those of the datatype
};
OperatorKind kind_of(const Operator& op);
/// The same number on all ranks for MPI's own operators, whose handles differ; 0 for those of the user.
int number_of(MPI_Op op);
inline bool is_of_mpi(MPI_Op op) {
  return op != MPI_OP_NULL && number_of(op) != 0;
}
/// Whether MPI joins elements of this datatype by this operator: asked with none of them.
bool is_defined(MPI_Op op, MPI_Datatype type);
/// Throws where MPI does not define its operator for elements of this type: some ranks only pass them on, and
/// would not hear of it. To be asked again costs a lock.
void check_defined(const char* call, MPI_Op op, MPI_Datatype type);

/// A vector that is reduced, and how. (GCC 12 destroys twice what is made of braces in a co_await: it has a
/// name there.)
struct Reduction {
  ConstBuffer send;
  Buffer receive;  ///< of those who get the result; may be `send`
  Operator op;
  OperatorKind kind = OperatorKind::ordered;

  bool commutes() const { return kind == OperatorKind::commutative; }
};

/// Whether there is one at all: MPI_BOTTOM, whose datatypes say where elements are, is null.
inline bool is_given(const Buffer& buffer) {
  return buffer.address != nullptr || buffer.count > 0;
}

/// The vectors of consecutive ranks, reduced in rank order. It begins as a view of this rank's input, which
/// stays as it is; what comes in is received into `incoming()` and joined from the side that it belongs to.
class Partial {
 public:
  /// With a `target`, what is its own is kept there: in the buffer of the result, so that nothing is copied
  /// at the end.
  Partial(const ConstBuffer& input, Operator op, const Buffer& target = {})
      : value_(input.address),
        target_(target.address),
        has_target_(is_given(target)),
        count_(input.count),
        type_(input.type),
        op_(std::move(op)),
        layout_(TypeLayout::of(input.type)) {}

  const Operator& op() const { return op_; }
  const TypeLayout& layout() const { return layout_; }
  ConstBuffer value() const { return {value_, count_, type_}; }
  /// Where to receive the next vector.
  Buffer incoming() {
    if (!incoming_.exists()) incoming_ = ScratchVector(layout_, count_);
    return {incoming_.data(), count_, type_};
  }

  ScratchVector& incoming_memory() { return incoming_; }
  ScratchVector copy_of(const void* vector) const {
    ScratchVector copy(layout_, count_);
    copy_elements(vector, copy.data(), count_, type_, layout_);
    return copy;
  }

  /// The vector in `incoming` comes from higher ranks. Nothing is copied: it takes the result.
  void append_incoming() { append(incoming_); }
  /// The same of a vector that is exchanged for one that is free.
  void append(ScratchVector& higher) {
    op_.apply(value_, higher.data(), count_, type_);
    owned_.swap(higher);
    value_ = owned_.data();
    is_own_ = true;
  }
  /// The same into a vector of the caller's, which becomes the value.
  void append(void* vector) {
    op_.apply(value_, vector, count_, type_);
    value_ = vector;
    is_own_ = false;
  }
  /// `lower` comes from lower ranks.
  void prepend(const void* lower) {
    own();
    op_.apply(lower, const_cast<void*>(value_), count_, type_);
  }
  void prepend_incoming() { prepend(incoming_.data()); }

  void copy_to(void* target) const {
    if (target != value_) copy_elements(value_, target, count_, type_, layout_);
  }

  /// Copies the value out of memory that is not its own.
  void own() {
    if (std::exchange(is_own_, true)) return;
    if (!has_target_) owned_ = ScratchVector(layout_, count_);
    void* const own = has_target_ ? target_ : owned_.data();
    if (value_ != own) copy_elements(value_, own, count_, type_, layout_);
    value_ = own;
  }

 private:
  const void* value_;
  void* target_;
  bool has_target_;
  bool is_own_ = false;  ///< the value may be changed where it is
  std::size_t count_;
  MPI_Datatype type_;
  Operator op_;
  TypeLayout layout_;
  ScratchVector owned_;
  ScratchVector incoming_;
};

}  // namespace wisp::detail
