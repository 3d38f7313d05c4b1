#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/engine.hpp"
#include "comm/code_blocks.hpp"
#include "comm/pair_numbers.hpp"
#include "comm/tag_layout.hpp"
#include "wisp/detail/context_ptr.hpp"
#include "wisp/group.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

class GroupNodes;
class World;

/// How many collectives a communicator has started. It numbers them, so that those in flight at one time do
/// not meet.
struct Counters {
  std::uint32_t collectives = 0;
  std::uint64_t persistent = 0;
  std::optional<std::uint32_t> meet_at;  ///< all members, at the first collective from this number on
  int extensions = 0;                    ///< contexts that were made for more of those
  ContextPtr more_persistent;  ///< whose tags the latest persistent collectives have, once its own are given
};

/// What the copies of a communicator share: the World, what tells its messages from those of others, and how
/// many collectives it has started.
///
/// Raw contexts have no code: communicators that overlap on several ranks need different tags. Isolated ones
/// have a code for each peer: that of the number of the pair when the communicator was made, or, where
/// creations may come in any order, what the receiver has named.
struct Context {
  static void* operator new(std::size_t bytes) { return FramePool::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept { FramePool::release(memory, bytes); }

  Context(std::shared_ptr<World> of, TagLayout::Kind which);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  /// Before it is deleted: gives back what its World keeps of it.
  void leave(World& from) noexcept;

  /// A tag of `encode` as it is on the wire to, and from, a rank of the World; -1: the two have not agreed on
  /// a code yet (see PairCodes).
  WireTag tag_to(int tag, int peer) {
    return kind == TagLayout::Kind::raw ? tag : with_code(tag, code_to(peer));
  }
  WireTag tag_from(int tag, int peer) {
    return kind == TagLayout::Kind::raw ? tag : with_code(tag, code_from(peer));
  }
  /// The same from anyone, if it does not depend on who it is.
  std::optional<WireTag> tag_from_any(int tag) const {
    if (kind == TagLayout::Kind::raw) return tag;
    if (uniform_code >= 0) return with_code(tag, uniform_code);
    return std::nullopt;
  }
  /// Of a communicator in a context of its own: which one it is of those that this process shares with
  /// `peer`.
  CodeBlocks::Number number_with(int peer) const {
    const Cached& cached = cache_[as_size(peer) % cache_.size()];
    if (cached.peer == peer) return cached.number;
    const CodeBlocks::Number number = extends_root ? 0 : 1 + (numbers ? numbers->with(peer) : 0);
    return extension == 0 ? number : CodeBlocks::extension(number, extension);
  }

  /// The members of a communicator of all ranks, or of one that pairs number; else empty.
  Group group() const;

  /// The tag, without a code, of the next collective; or of one with a tag of the user's, which is checked.
  int tag_of_operation(const char* operation, std::optional<int> own_tag);

  /// For a collective with this tag that receives from any source, when it takes its place in the order:
  /// whoever is behind in it would take messages of a later one with the same tag. True: there may be one at
  /// any time (the user's own tags, raw communicators), so all must have ended before anybody goes on. Else
  /// all meet before numbers come back.
  bool must_settle(int tag);
  /// Whether all members are to wait for each other before the collective that begins now; then they have.
  bool must_meet() {
    if (!counters->meet_at) [[likely]]
      return false;
    if (static_cast<std::int32_t>(counters->collectives - *counters->meet_at) < 0) return false;
    counters->meet_at.reset();
    return true;
  }

  /// Waits for what is in flight with a number of the half round that begins with `count`: a later collective
  /// must not meet it.
  void end_previous(std::uint32_t count);

  /// That of a persistent collective, which nobody else has; an error if all are given.
  int tag_of_persistent(const char* operation);

  int references = 1;
  bool counts_atomically;  ///< several threads may copy and drop communicators at a time
  std::shared_ptr<World> world;
  TagLayout::Kind kind;
  int uniform_code = -1;  ///< of all peers, or -1
  Counters own_counters;
  Counters* counters = &own_counters;
  std::optional<PairNumbers> numbers;  ///< before this communicator was made; none: it is the first

  /// Where pairs number it: its members, and its place in the World's list of such contexts.
  Group members;
  Context* made_before = nullptr;
  Context* made_after = nullptr;
  bool is_numbered = false;
  int extension =
      0;  ///< 0, or which one it is of those of a communicator: of that of all ranks, or of `numbers`
  bool extends_root = false;

  /// Of a context whose receivers have named their codes: that of messages to this process, else -1.
  int code_here = -1;
  /// Those of the other members, if they are kept here; in a chain their addresses hold them.
  struct Named {
    Group group;
    std::vector<int> codes;  ///< of each rank of the group
  };
  std::unique_ptr<Named> named;

  /// That the user gave it; null: none. That of all ranks of the World is kept there.
  std::unique_ptr<const std::string> name;

  /// What its latest collectives were, of which size, and what was chosen for them: programs repeat
  /// themselves.
  struct Latest {
    const void* operation = nullptr;
    std::size_t bytes = 0;
    int kind = 0;  ///< of the operator
    MPI_Op op = MPI_OP_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const void* algorithm = nullptr;
  };
  std::array<Latest, 2> latest;  ///< the newest first

  /// The number of its name in a trace; -1: not there yet.
  mutable int traced_name = -1;

  /// Those of the communicator's group, once somebody has asked.
  std::shared_ptr<const GroupNodes> nodes;

 private:
  struct Cached {
    int peer = -1;
    int code = 0;
    CodeBlocks::Number number = 0;
  };

  WireTag with_code(int tag, int code) const;
  int code_to(int peer) {
    if (uniform_code >= 0) return uniform_code;
    const Cached& cached = cache_[as_size(peer) % cache_.size()];
    return cached.peer == peer ? cached.code : look_up(peer);
  }
  int code_from(int peer) { return code_here >= 0 ? code_here : code_to(peer); }
  int look_up(int peer);

  std::array<Cached, 8> cache_;
};

/// One more that holds it.
ContextPtr shared(Context* context);

/// Holds the engine of a communicator; an error that names `call` if this thread may not make it.
EngineLock lock(const ContextPtr& context, const char* call);

enum class Awaits {
  its_context,  ///< messages of one operation
  anything      ///< those of any that a user's task starts
};

/// Runs a task of a context's communicator to its end, under an EngineLock; nothing can on a simulated
/// cluster.
void run_to_end(const ContextPtr& context, Task<> task, Awaits awaits);

}  // namespace wisp::detail
