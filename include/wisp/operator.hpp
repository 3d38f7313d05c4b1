#pragma once

#include <mpi.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "wisp/buffer.hpp"

namespace wisp {

class Operator;

namespace detail {

class Transport;
/// The same operator, whose work takes time where time is simulated.
Operator metered(const Operator& op, Transport& transport);
/// The same, which keeps the first exception, and from then on does nothing.
Operator keeping_failure(const Operator& op, std::shared_ptr<std::exception_ptr> failure);

}  // namespace detail

/// What joins the items of ranks in a reduction or scan: an operator of MPI, or a function of one's own,
/// which is applied in rank order and need not commute. Among several threads it is called in any that waits
/// (docs/threads.md).
class Operator {
 public:
  Operator(MPI_Op op) : op_(op) {}  // NOLINT(google-explicit-constructor): as in MPI

  /// `join(left, right)` gives their sum. T is trivially copyable.
  template <class T, class Join>
  static Operator on(Join join) {
    static_assert(std::is_trivially_copyable_v<T>, "wisp::Operator::on: items travel as bytes");
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                  "wisp::Operator::on: items on their way are aligned as new does, not further");
    if constexpr (std::is_constructible_v<Join, std::nullptr_t>) {
      if (join == nullptr) return MPI_OP_NULL;
    }
    // What copies share: it may own what cannot be copied, and change.
    const auto join_items = [own = std::make_shared<Join>(std::move(join))](
                                const void* left, void* right, std::size_t count, MPI_Datatype type) {
      const T* a = static_cast<const T*>(left);
      T* b = static_cast<T*>(right);
      const std::size_t items = detail::bytes_in(count, type) / sizeof(T);
      for (std::size_t i = 0; i < items; ++i) b[i] = static_cast<T>((*own)(a[i], b[i]));
    };
    return {MPI_OP_NULL, join_items, sizeof(T)};
  }

  /// `join(left, right)` makes `right` the sum of two vectors of bytes, of any meaning.
  static Operator on_bytes(std::function<void(const std::byte* left, std::byte* right)> join);

  /// An operator of MPI that is only applied to whole vectors, or whole blocks of a reduce_scatter: a
  /// function that takes several elements for one item.
  static Operator on_whole_vectors(MPI_Op op);

  bool is_null() const noexcept { return op_ == MPI_OP_NULL && own_ == nullptr; }
  /// True if it may be applied in any order: of MPI's operators, where MPI says so.
  bool commutes() const;
  /// MPI_OP_NULL of a function of one's own.
  MPI_Op mpi_op() const noexcept { return op_; }
  /// Bytes of one item of a function of one's own, or 1 of whole vectors; 0: an operator of MPI of any part.
  std::size_t item_bytes() const noexcept { return own_ == nullptr ? 0 : own_->item_bytes; }
  /// left ∘ right replaces `right`.
  void apply(const void* left, void* right, std::size_t count, MPI_Datatype type) const;

 private:
  friend Operator detail::metered(const Operator& op, detail::Transport& transport);
  friend Operator detail::keeping_failure(const Operator& op, std::shared_ptr<std::exception_ptr> failure);

  using Join = std::function<void(const void*, void*, std::size_t, MPI_Datatype)>;
  struct Own {
    Join join;
    std::size_t item_bytes;
  };

  Operator(MPI_Op op, Join join, std::size_t item_bytes)
      : op_(op), own_(std::make_shared<const Own>(Own{std::move(join), item_bytes})) {}

  MPI_Op op_;
  std::shared_ptr<const Own> own_;  ///< what copies share; null: an operator of MPI, of any part
};

/// Items of any trivially copyable type as a buffer of bytes, for operators of one's own.
template <class T, std::size_t extent>
ConstBuffer items(std::span<const T, extent> of) {
  static_assert(std::is_trivially_copyable_v<T>, "wisp::items: items travel as bytes");
  return {of.data(), of.size_bytes(), MPI_BYTE};
}
template <class T, std::size_t extent>
requires(!std::is_const_v<T>) Buffer items(std::span<T, extent> of) {
  static_assert(std::is_trivially_copyable_v<T>, "wisp::items: items travel as bytes");
  return {of.data(), of.size_bytes(), MPI_BYTE};
}
/// One item.
template <class T>
Buffer item(T& of) {
  return items(std::span<T>(&of, 1));
}
template <class T>
ConstBuffer item(const T& of) {
  return items(std::span<const T>(&of, 1));
}

}  // namespace wisp
