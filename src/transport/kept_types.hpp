#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "transport/type_layout.hpp"
#include "wisp/blocks.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

/// Duplicates of the datatypes of an operation, which live as long as it does: its caller may free his own as
/// soon as it has started (MPI 4.1, section 5.1.9). Named types need none.
class KeptTypes {
 public:
  KeptTypes() = default;
  KeptTypes(KeptTypes&&) noexcept = default;
  KeptTypes& operator=(KeptTypes&& other) noexcept {
    types_.swap(other.types_);
    lists_.swap(other.lists_);
    return *this;
  }
  ~KeptTypes();

  bool empty() const { return types_.empty() && lists_.empty(); }

  /// Puts duplicates in the place of the caller's types.
  template <class AnyBuffer>
  void replace(AnyBuffer& of) {
    of.type = own(of.type);
    if constexpr (requires { of.types; }) {
      if (!of.types.empty()) of.types = own(of.types);
    }
  }
  /// With duplicates.
  template <class AnyBuffer>
  AnyBuffer keep(AnyBuffer of) {
    replace(of);
    return of;
  }

 private:
  MPI_Datatype own(MPI_Datatype type) { return plain_size_of(type) ? type : own_derived(type); }
  MPI_Datatype own_derived(MPI_Datatype type);
  std::span<const MPI_Datatype> own(std::span<const MPI_Datatype> types);

  struct Kept {
    MPI_Datatype given;
    MPI_Datatype ours;
  };
  std::vector<Kept> types_;
  std::vector<std::vector<MPI_Datatype>> lists_;
};

/// `task`, with what it needs.
inline Task<> holding(Task<> task, [[maybe_unused]] std::shared_ptr<const KeptTypes> types) {
  co_await std::move(task);
}

}  // namespace wisp::detail
