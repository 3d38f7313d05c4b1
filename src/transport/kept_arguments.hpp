#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "transport/type_layout.hpp"
#include "wisp/blocks.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

/// Duplicates of the datatypes of an operation, and copies of its arrays of counts and displacements, which
/// live as long as it does: its caller may free his own datatypes as soon as it has started (MPI 4.1,
/// section 5.1.9), and callers in Fortran give arrays that the compiler has made for the call. Named types
/// need no duplicate.
class KeptArguments {
 public:
  KeptArguments() = default;
  KeptArguments(KeptArguments&&) noexcept = default;
  KeptArguments& operator=(KeptArguments&& other) noexcept {
    types_.swap(other.types_);
    lists_.swap(other.lists_);
    integers_.swap(other.integers_);
    return *this;
  }
  ~KeptArguments();

  bool empty() const { return types_.empty() && lists_.empty() && integers_.empty(); }

  /// Puts what is kept in the place of the caller's.
  template <class AnyBuffer>
  void replace(AnyBuffer& of) {
    of.type = own(of.type);
    if constexpr (requires { of.types; }) {
      if (!of.types.empty()) of.types = own(of.types);
      of.counts = own(of.counts);
      of.displacements = own(of.displacements);
    }
  }
  /// With what is kept.
  template <class AnyBuffer>
  AnyBuffer keep(AnyBuffer of) {
    replace(of);
    return of;
  }

  MPI_Datatype own(MPI_Datatype type) { return plain_size_of(type) > 0 ? type : own_derived(type); }

 private:
  MPI_Datatype own_derived(MPI_Datatype type);
  std::span<const MPI_Datatype> own(std::span<const MPI_Datatype> types);
  Integers own(Integers given);

  struct Kept {
    MPI_Datatype given;
    MPI_Datatype ours;
  };
  std::vector<Kept> types_;
  std::vector<std::vector<MPI_Datatype>> lists_;
  std::vector<std::vector<std::int64_t>> integers_;
};

/// `task`, with what it needs.
inline Task<> holding(Task<> task, [[maybe_unused]] std::shared_ptr<const KeptArguments> kept) {
  co_await std::move(task);
}

}  // namespace wisp::detail
