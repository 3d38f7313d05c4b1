#include "wisp/operator.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "collectives/reduction.hpp"
#include "transport/errors_return.hpp"
#include "transport/mpi_library.hpp"
#include "transport/mpi_process.hpp"
#include "transport/throw_error.hpp"
#include "transport/transport.hpp"
#include "wisp/error.hpp"

namespace wisp {
namespace {

/// As MPI_Reduce_local, of any count.
[[gnu::hot]] void reduce_local(const void* left, void* right, std::size_t count, MPI_Datatype type,
                               MPI_Op op) {
  if (count == 0) return;
  if (detail::mpi_has_sessions && !detail::mpi_library().joins_in_sessions && !detail::has_mpi_world())
      [[unlikely]] {
    throw Error(MPI_ERR_OP,
                "wisp: MPI_Reduce_local of this Open MPI needs MPI_Init: with sessions alone, reduce by "
                "functions of your own");
  }
  if (count <= INT_MAX) [[likely]] {
    detail::check_mpi(MPI_Reduce_local(left, right, static_cast<int>(count), type, op), "MPI_Reduce_local");
    return;
  }
  const detail::TypeLayout layout = detail::TypeLayout::of(type);
  constexpr std::size_t part = std::size_t{1} << 30;
  for (std::size_t done = 0; done < count; done += part) {
    const auto* from = static_cast<const std::byte*>(left) + static_cast<MPI_Aint>(done) * layout.extent;
    reduce_local(from, detail::element(right, done, layout), std::min(part, count - done), type, op);
  }
}

/// Pairs that MPI defines, of this process.
struct DefinedOperators {
  std::mutex mutex;
  std::set<std::pair<MPI_Op, MPI_Datatype>> pairs;

  void close() {}
};

}  // namespace

[[gnu::hot]] int detail::number_of(MPI_Op op) {
  static const MPI_Op known[] = {MPI_OP_NULL, MPI_SUM,    MPI_PROD,   MPI_MIN,     MPI_MAX,
                                 MPI_LAND,    MPI_BAND,   MPI_LOR,    MPI_BOR,     MPI_LXOR,
                                 MPI_BXOR,    MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
  const auto found = std::ranges::find(known, op);
  return found == std::end(known) ? 0 : 1 + static_cast<int>(found - std::begin(known));
}

bool detail::is_defined(MPI_Op op, MPI_Datatype type) {
  // Most need not be asked for.
  const bool is_number = type == MPI_DOUBLE || type == MPI_INT || type == MPI_FLOAT || type == MPI_LONG;
  if (is_number && (op == MPI_SUM || op == MPI_PROD || op == MPI_MIN || op == MPI_MAX)) return true;
  // A call without a communicator tells its errors to one of these.
  const ErrorsReturn of_world(MPI_COMM_WORLD);
  const ErrorsReturn of_self(MPI_COMM_SELF);
  std::array<char, 2> nothing = {};
  return MPI_Reduce_local(&nothing[0], &nothing[1], 0, type, op) == MPI_SUCCESS;
}

void detail::check_defined(const char* call, MPI_Op op, MPI_Datatype type) {
#ifdef SMPI_H
  constexpr bool is_told = false;
#else
  constexpr bool is_told = true;
#endif
  if (!is_told || !is_of_mpi(op) || !has_mpi_world()) return;
  const auto known = of_process<DefinedOperators>([] { return std::make_shared<DefinedOperators>(); });
  const std::lock_guard lock(known->mutex);
  if (known->pairs.contains({op, type})) return;
  if (!is_defined(op, type)) {
    std::array<char, MPI_MAX_OBJECT_NAME> name = {};
    int length = 0;
    check_mpi(MPI_Type_get_name(type, name.data(), &length), "MPI_Type_get_name");
    throw_error(MPI_ERR_OP, "{}: op: MPI does not define this operator for elements of {}", call,
                is_named(type) && length > 0 ? name.data() : "a derived datatype");
  }
  if (is_named(type)) known->pairs.emplace(op, type);  // another one may come back with the same handle
}

Operator Operator::on_bytes(std::function<void(const std::byte*, std::byte*)> join) {
  if (!join) return MPI_OP_NULL;
  const auto join_all = [join = std::move(join)](const void* left, void* right, std::size_t, MPI_Datatype) {
    join(static_cast<const std::byte*>(left), static_cast<std::byte*>(right));
  };
  return {MPI_OP_NULL, join_all, 1};
}

Operator Operator::on_whole_vectors(MPI_Op op) {
  if (op == MPI_OP_NULL) return op;
  const auto join = [op](const void* left, void* right, std::size_t count, MPI_Datatype type) {
    reduce_local(left, right, count, type, op);
  };
  return {op, join, 1};
}

[[gnu::hot]] void Operator::apply(const void* left, void* right, std::size_t count, MPI_Datatype type) const {
  if (own_ != nullptr) {
    own_->join(left, right, count, type);
  } else {
    reduce_local(left, right, count, type, op_);
  }
}

[[gnu::hot]] bool Operator::commutes() const {
  if (own_ != nullptr) return false;
  if (detail::is_of_mpi(op_) && op_ != MPI_REPLACE && op_ != MPI_NO_OP) return true;
  int commutative = 0;
  detail::check_mpi(MPI_Op_commutative(op_, &commutative), "MPI_Op_commutative");
  return commutative != 0;
}

std::size_t detail::bytes_in(std::size_t count, MPI_Datatype type) {
  return count == 0 ? 0 : count * TypeLayout::of(type).size;
}

Operator detail::metered(const Operator& op, Transport& transport) {
  const auto join = [op, &transport](const void* left, void* right, std::size_t count, MPI_Datatype type) {
    if (transport.join(bytes_in(count, type))) op.apply(left, right, count, type);
  };
  return {op.mpi_op(), join, op.item_bytes()};
}

Operator detail::keeping_failure(const Operator& op, std::shared_ptr<std::exception_ptr> failure) {
  const auto join = [op, failure = std::move(failure)](const void* left, void* right, std::size_t count,
                                                       MPI_Datatype type) {
    if (*failure != nullptr) return;
    try {
      op.apply(left, right, count, type);
    } catch (...) {
      *failure = std::current_exception();
    }
  };
  return {op.mpi_op(), join, op.item_bytes()};
}

[[gnu::hot]] detail::OperatorKind detail::kind_of(const Operator& op) {
  if (op.item_bytes() > 0) return OperatorKind::whole;
  return op.commutes() ? OperatorKind::commutative : OperatorKind::ordered;
}

}  // namespace wisp
