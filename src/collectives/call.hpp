#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "collectives/alike.hpp"
#include "collectives/block_list.hpp"
#include "collectives/reduction.hpp"
#include "comm/world.hpp"
#include "transport/device_memory.hpp"
#include "transport/kept_arguments.hpp"
#include "wisp/collectives.hpp"

namespace wisp::detail {

/// The arguments of a collective, checked; each uses those that it has. They are moved for every call: what
/// few collectives have stands apart.
struct Arguments {
  ConstBuffer send;  ///< a vector, or blocks of one size that follow each other
  Buffer receive;
  Buffer second;  ///< of a scan: for the total, or for the sums over higher ranks
  Operator op = MPI_OP_NULL;
  OperatorKind kind = OperatorKind::commutative;
  bool is_inclusive = true;               ///< else some ranks' result stays as it is
  int root = -1;                          ///< -1: none
  std::int64_t bytes = -1;                ///< of a vector or block, as all ranks know them
  MPI_Datatype type = MPI_DATATYPE_NULL;  ///< of its elements here
  struct More {
    std::optional<ConstBlocks> send = {};  ///< irregular blocks
    std::optional<Blocks> receive = {};
    Merge merge = {};
    std::vector<std::byte> color = {};
    std::vector<Outgoing> messages = {};  ///< of an exchange
    Arrivals* arrivals = nullptr;
  };
  std::shared_ptr<const More> more;
  std::shared_ptr<const GroupNodes> nodes;  ///< those of the communicator, where there are any to know of
  std::shared_ptr<void> memory;  ///< what a run of a persistent operation finds out for the next ones

  /// An operator may look at elements without data.
  bool is_nothing() const { return bytes == 0 && (op.is_null() || send.count == 0); }
  Reduction reduction() const { return {send, receive, op, kind}; }
  /// One block for each rank.
  BlockList blocks_to_send(int ranks) const {
    return more && more->send ? BlockList::irregular(*more->send, ranks) : BlockList::regular(send, ranks);
  }
  BlockList blocks_to_receive(int ranks) const {
    return more && more->receive ? BlockList::irregular(*more->receive, ranks)
                                 : BlockList::regular(receive, ranks);
  }
  /// Whether joining takes time, as on a simulated cluster; and with an operator that takes it.
  bool is_metered(const World& world) const { return world.meters_joins() && !op.is_null(); }
  Arguments metered(World& world) const {
    Arguments with_time = *this;
    with_time.op = detail::metered(op, world.transport().inner());
    return with_time;
  }
  /// Whether there is a function of the program's own, which may throw.
  bool has_function() const {
    const bool joins = op.mpi_op() == MPI_OP_NULL ? op.item_bytes() > 0 : !is_of_mpi(op.mpi_op());
    return joins || (more != nullptr && more->merge != nullptr);
  }
  /// With one that keeps what it throws.
  Arguments keeping_failure(const std::shared_ptr<std::exception_ptr>& failure) const;
  bool is_on_device() const {
    return knows_devices() && (are_on_device(send) || are_on_device(receive) || are_on_device(second));
  }
  /// Whether they are joined by MPI or by a function of the program's, neither of which can read a device.
  bool is_joined_on_device() const { return !op.is_null() && is_on_device(); }
  Alike alike(std::string_view algorithm) const {
    return {root, bytes, op.mpi_op(), type, algorithm, static_cast<int>(kind)};
  }
  void own_arguments(KeptArguments& kept);
};

/// A call of a collective, on communicators as on chains: its arguments, one kind after the other, are
/// checked before any message. Errors name the call, the argument, its value and its bound. What MPI looks at
/// on the root alone is left out elsewhere: it may be anything, a datatype that is gone too.
class Call {
 public:
  Call(const char* of_name, int of_rank, int of_size) : name(of_name), rank(of_rank), size(of_size) {}

  /// First of all, where there is one.
  Call&& root(int root);
  /// A vector that is alike on all ranks.
  Call&& vector(const Buffer& buffer);
  /// Vectors that are joined, for the root or for everybody.
  Call&& reduction(const ConstBuffer& send, const Buffer& receive, const Operator& op);
  /// The same where the first rank's result stays as it is, and may be nowhere.
  Call&& exclusive(const ConstBuffer& send, const Buffer& receive, const Operator& op);
  /// A vector that consists of the operator's items.
  Call&& items(const Operator& op, const ConstBuffer& vector);
  /// A reduction of buffers that are checked already.
  Call&& operands(const ConstBuffer& send, const Buffer& receive, const Operator& op);
  /// A block of each rank to the root or to everybody, and from the root.
  Call&& gathering(const ConstBuffer& send, const Buffer& receive);
  Call&& gathering(const ConstBuffer& send, const Blocks& receive);
  Call&& scattering(const ConstBuffer& send, const Buffer& receive);
  Call&& scattering(const ConstBlocks& send, const Buffer& receive);
  /// Sorted sequences that become one.
  Call&& merging(const ConstBuffer& send, const Buffer& receive, const Merge& merge);
  /// Irregular blocks that are checked already.
  Call&& exchanging(const ConstBlocks& send, const Blocks& receive);
  /// What few collectives have, to be filled.
  Arguments::More& more();

  const char* name;
  int rank;
  int size;
  Arguments given;

 private:
  /// Blocks of all ranks, where there are such, and the own one.
  void check_blocks(const char* own_name, const ConstBuffer& own, const char* all_name,
                    const ConstBuffer& all);
  void check_blocks(const char* own_name, const ConstBuffer& own, const char* all_name,
                    const ConstBlocks& all) const;
  bool has_all() const { return given.root < 0 || given.root == rank; }
};

}  // namespace wisp::detail
