#pragma once

#include <mpi.h>

#include <cstddef>

#include "transport/type_layout.hpp"

namespace wisp::detail {

/// left ∘ right, element by element; the result replaces `right`. As MPI_Reduce_local, any count.
void reduce_into_right(const void* left, void* right, std::size_t count, MPI_Datatype type, MPI_Op op);

/// The vectors of consecutive ranks, reduced in rank order. It begins as a view of this rank's input, which
/// stays as it is; what comes in is received into `incoming()` and joined from the side that it belongs to.
class Partial {
 public:
  /// With a `target`, what is its own is kept there: in the buffer of the result, so that nothing is copied
  /// at the end.
  Partial(const ConstBuffer& input, MPI_Op op, void* target = nullptr)
      : value_(input.address),
        target_(target),
        count_(input.count),
        type_(input.type),
        op_(op),
        layout_(TypeLayout::of(input.type)) {}

  ConstBuffer value() const { return {value_, count_, type_}; }
  /// Where to receive the next vector.
  Buffer incoming() {
    if (!incoming_.exists()) incoming_ = ScratchVector(layout_, count_);
    return {incoming_.data(), count_, type_};
  }

  /// The vector in `incoming` comes from higher ranks. Nothing is copied: it takes the result.
  void append_incoming() {
    reduce_into_right(value_, incoming_.data(), count_, type_, op_);
    owned_.swap(incoming_);
    own_ = owned_.data();
    value_ = own_;
  }
  /// The same into a vector of the caller's, which becomes the value.
  void append(void* vector) {
    reduce_into_right(value_, vector, count_, type_, op_);
    value_ = vector;
  }
  /// `lower` comes from lower ranks.
  void prepend(const void* lower) {
    own();
    reduce_into_right(lower, own_, count_, type_, op_);
  }
  void prepend_incoming() { prepend(incoming_.data()); }

  void copy_to(void* target) const {
    if (target != value_) copy_elements(value_, target, count_, type_, layout_);
  }

  /// Copies the value out of memory that is not its own.
  void own() {
    if (value_ == own_) return;
    if (target_ != nullptr) {
      own_ = target_;
    } else {
      owned_ = ScratchVector(layout_, count_);
      own_ = owned_.data();
    }
    if (value_ != own_) copy_elements(value_, own_, count_, type_, layout_);
    value_ = own_;
  }

 private:
  const void* value_;
  void* target_;
  void* own_ = nullptr;  ///< where the value is, if it may be changed
  std::size_t count_;
  MPI_Datatype type_;
  MPI_Op op_;
  TypeLayout layout_;
  ScratchVector owned_;
  ScratchVector incoming_;
};

}  // namespace wisp::detail
