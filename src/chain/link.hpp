#pragma once

#include "collectives/operation_body.hpp"
#include "comm/comm_access.hpp"
#include "comm/world.hpp"
#include "transport/type_layout.hpp"
#include "wisp/chain.hpp"

namespace wisp::detail {

/// A chain as one operation sees it: its messages carry the operation's tag. What algorithms on chains are
/// written against, as those on communicators are against Channel.
class Link {
 public:
  Link(ContextPtr context, const ChainPlace& place, int tag, const char* operation)
      : context_(std::move(context)), place_(place), tag_(tag), operation_(operation) {}

  int rank() const { return place_.rank; }
  int size() const { return place_.size; }
  const ChainPlace& place() const { return place_; }
  const char* operation() const { return operation_; }
  World& world() const { return *context_->world; }
  const ContextPtr& context() const { return context_; }

  /// Another chain of the same operation that this process is in.
  Link at(const ChainPlace& place) const { return {context_, place, tag_, operation_}; }
  /// The ranks first … last of this one, of which the caller is one.
  Link range(int first, int last) const {
    ChainPlace inner = place_;
    inner.size = last - first + 1;
    inner.rank = place_.rank - first;
    if (inner.rank == 0) inner.left = {};
    if (inner.rank == inner.size - 1) inner.right = {};
    return at(inner);
  }

  Posted post_send(const ConstBuffer& buffer, const Address& to) const;
  /// Of as many bytes as the buffer holds; another size is an error. With a header in front, which tells the
  /// size of the data behind it, a shorter one is not: whoever opens it compares.
  enum class Holds : bool { data, header_and_data };
  Posted post_receive(const Buffer& buffer, const Address& from, Holds holds = Holds::data) const;

 private:
  ContextPtr context_;
  ChainPlace place_;
  int tag_;
  const char* operation_;
};

/// Messages to a chain that is being made, by whoever knows a member's address: they carry the code that it
/// has named, and `number` tells them apart.
Posted post_to_new(World& world, const ConstBuffer& buffer, const Address& to, int number,
                   const char* operation);
/// From anyone.
Posted post_from_any(Context& made, const Buffer& buffer, int number, const char* operation);

/// What the library itself sees of a Chain.
struct ChainAccess {
  static Chain make(ContextPtr context, const ChainPlace& place);
  static const ContextPtr& context(const Chain& chain) { return chain.context_; }
  static const ChainPlace& place(const Chain& chain) { return chain.place_; }
  static Link link(const Chain& chain, const char* operation, std::optional<int> own_tag);
  static Link persistent_link(const Chain& chain, const char* operation, std::optional<int> own_tag);
};

/// Throws unless the caller may start `call` on `chain`.
void check_usable(const Chain& chain, const char* call);

template <>
struct ChannelsOf<Chain> {
  using Type = Link;
  static Link make(const Chain& chain, const char* call, std::optional<int> own_tag) {
    check_usable(chain, call);
    return ChainAccess::link(chain, call, own_tag);
  }
  static Link make_persistent(const Chain& chain, const char* call, std::optional<int> own_tag) {
    check_usable(chain, call);
    return ChainAccess::persistent_link(chain, call, own_tag);
  }
  static const ContextPtr& context(const Chain& chain) { return ChainAccess::context(chain); }
};

/// A context for a new chain, whose code for messages to this process the World has named; and its address.
ContextPtr new_context(const ContextPtr& parent);
inline Address address_in(const Context& context) {
  return {context.world->rank(), context.code_here};
}

/// Runs a task for its result.
template <class T>
Task<> put(Task<T> task, T& to) {
  to = co_await std::move(task);
}

/// What blocking forms do: `on`, a communicator or chain, runs a task to its end for its result.
template <class On, class T>
T result_of(const On& on, Task<T> task) {
  T made;
  on.run(put(std::move(task), made));
  return made;
}

}  // namespace wisp::detail
