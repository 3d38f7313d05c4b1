#include "collectives/call.hpp"

#include "collectives/checks.hpp"
#include "transport/device_memory.hpp"
#include "transport/throw_error.hpp"

namespace wisp::detail {
namespace {

/// Vectors must consist of an operator's items.
[[gnu::hot]] void check_items(const char* call, const Operator& op, const ConstBuffer& vector) {
  if (op.item_bytes() <= 1) return;
  const TypeLayout layout = TypeLayout::of(vector.type);
  const auto extent = static_cast<MPI_Aint>(layout.size);
  if (layout.true_lower != 0 || layout.extent != extent || layout.true_extent != extent) {
    throw_error(MPI_ERR_TYPE, "{}: the datatype has gaps, but the operator's items have none", call);
  }
  if (vector.count * layout.size % op.item_bytes() != 0) {
    throw_error(MPI_ERR_COUNT, "{}: send has {} bytes, not a multiple of the operator's items of {}", call,
                vector.count * layout.size, op.item_bytes());
  }
}

ConstBuffer whole(const ConstBlocks& blocks) {
  return {blocks.address, blocks.room, blocks.type};
}
Buffer whole(const Blocks& blocks) {
  return {blocks.address, blocks.room, blocks.type};
}

}  // namespace

Arguments Arguments::keeping_failure(const std::shared_ptr<std::exception_ptr>& failure) const {
  Arguments keeping = *this;
  if (!op.is_null()) keeping.op = detail::keeping_failure(op, failure);
  if (more == nullptr || more->merge == nullptr) return keeping;
  More own = *more;
  own.merge = [merge = more->merge, failure](auto... sequences) {
    if (*failure != nullptr) return;
    try {
      merge(sequences...);
    } catch (...) {
      *failure = std::current_exception();
    }
  };
  keeping.more = std::make_shared<const More>(std::move(own));
  return keeping;
}

void Arguments::own_arguments(KeptArguments& kept) {
  kept.replace(send);
  kept.replace(receive);
  kept.replace(second);
  type = kept.own(type);
  if (!more || !(more->send || more->receive || !more->messages.empty())) return;
  More own = *more;
  if (own.send) kept.replace(*own.send);
  if (own.receive) kept.replace(*own.receive);
  for (Outgoing& message : own.messages) kept.replace(message.block);
  more = std::make_shared<const More>(std::move(own));
}

[[gnu::hot]] Call&& Call::root(int root) {
  check_within(MPI_ERR_ROOT, name, "root", root, 0, size - 1);
  given.root = root;
  return std::move(*this);
}

[[gnu::hot]] Call&& Call::vector(const Buffer& buffer) {
  check_buffer(name, "buffer", buffer);
  given.receive = buffer;
  given.bytes = signed_of(bytes_of(buffer));
  given.type = buffer.type;
  return std::move(*this);
}

[[gnu::hot]] Call&& Call::reduction(const ConstBuffer& send, const Buffer& receive, const Operator& op) {
  if (has_all()) return operands(checked_input(name, send, receive), receive, op);
  check_buffer(name, "send", send);
  return operands(send, receive, op);
}

[[gnu::hot]] Call&& Call::exclusive(const ConstBuffer& send, const Buffer& receive, const Operator& op) {
  given.is_inclusive = false;
  if (rank > 0) return reduction(send, receive, op);
  return reduction(send, unchanged_result(send, receive), op);
}

[[gnu::hot]] Call&& Call::operands(const ConstBuffer& send, const Buffer& receive, const Operator& op) {
  if (op.is_null()) [[unlikely]]
    throw_error(MPI_ERR_OP, "{}: op = MPI_OP_NULL", name);
  check_items(name, op, send);
  given.send = send;
  if (has_all()) given.receive = receive;
  given.op = op;
  given.kind = kind_of(op);
  given.bytes = signed_of(bytes_of(send));
  given.type = send.type;
  return std::move(*this);
}

Call&& Call::items(const Operator& op, const ConstBuffer& vector) {
  check_items(name, op, vector);
  return std::move(*this);
}

[[gnu::hot]] void Call::check_blocks(const char* own_name, const ConstBuffer& own, const char* all_name,
                                     const ConstBuffer& all) {
  if (has_all()) {
    check_regular(size, name, own_name, own, all_name, all);
  } else {
    check_buffer(name, own_name, own);
  }
  given.bytes = signed_of(is_in_place(own) ? bytes_of(all) / as_size(size) : bytes_of(own));  // as checked
  given.type = (has_all() ? all : own).type;
}

[[gnu::hot]] void Call::check_blocks(const char* own_name, const ConstBuffer& own, const char* all_name,
                                     const ConstBlocks& all) const {
  if (has_all()) {
    check_irregular(size, "ranks", name, all_name, all);
    check_own_block(rank, name, own_name, own, all);
  } else {
    check_buffer(name, own_name, own);
  }
}

[[gnu::hot]] Call&& Call::gathering(const ConstBuffer& send, const Buffer& receive) {
  check_blocks("send", send, "receive", receive);
  given.send = send;
  if (has_all()) given.receive = receive;
  return std::move(*this);
}

[[gnu::hot]] Call&& Call::gathering(const ConstBuffer& send, const Blocks& receive) {
  check_blocks("send", send, "receive", receive);
  given.send = send;
  if (!has_all()) return std::move(*this);
  given.receive = whole(receive);
  more().receive = receive;
  return std::move(*this);
}

[[gnu::hot]] Call&& Call::scattering(const ConstBuffer& send, const Buffer& receive) {
  check_blocks("receive", receive, "send", send);
  if (has_all()) given.send = send;
  given.receive = receive;
  return std::move(*this);
}

[[gnu::hot]] Call&& Call::scattering(const ConstBlocks& send, const Buffer& receive) {
  check_blocks("receive", receive, "send", send);
  given.receive = receive;
  if (!has_all()) return std::move(*this);
  given.send = whole(send);
  more().send = send;
  return std::move(*this);
}

Call&& Call::merging(const ConstBuffer& send, const Buffer& receive, const Merge& merge) {
  if (!merge) throw_error(MPI_ERR_ARG, "{}: merge is empty", name);
  const auto check = [this](const char* which, const ConstBuffer& buffer) {
    check_buffer(name, which, buffer);
    const TypeLayout layout = TypeLayout::of(buffer.type);
    if (layout.true_lower == 0 && layout.extent == static_cast<MPI_Aint>(layout.size) &&
        layout.true_extent <= layout.extent)
      return;
    throw_error(MPI_ERR_TYPE, "{}: the datatype of {} has gaps, {} bytes of data in {}", name, which,
                layout.size, layout.extent);
  };
  check("send", send);
  given.send = send;
  if (has_all()) {
    check("receive", receive);
    given.receive = receive;
  }
  more().merge = merge;
  return std::move(*this);
}

[[gnu::hot]] Call&& Call::exchanging(const ConstBlocks& send, const Blocks& receive) {
  given.send = whole(send);
  given.receive = whole(receive);
  Arguments::More& blocks = more();
  blocks.send = send;
  blocks.receive = receive;
  return std::move(*this);
}

[[gnu::hot]] Arguments::More& Call::more() {
  auto made = std::allocate_shared<Arguments::More>(PoolAllocator<Arguments::More>());
  Arguments::More& empty = *made;
  given.more = std::move(made);
  return empty;
}

}  // namespace wisp::detail
