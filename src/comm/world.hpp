#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "comm/context.hpp"
#include "comm/failures.hpp"
#include "comm/group_nodes.hpp"
#include "comm/mailbox.hpp"
#include "comm/pair_codes.hpp"
#include "comm/stall.hpp"
#include "comm/tag_layout.hpp"
#include "pattern/cost_model.hpp"
#include "transport/transport.hpp"

namespace wisp::detail {

/// WISP_CHECK in the environment.
bool environment_says_check();

/// What one process keeps for each attached MPI communicator (or simulated cluster).
class World {
 public:
  static constexpr int least_tag_upper_bound = 32767;  ///< of any MPI
  static constexpr int most_mpi_comms = 1024;

  struct Facts {
    int rank = 0;
    int size = 0;
    int tag_upper_bound = least_tag_upper_bound;
    int mpi_comms = 1;  ///< that carry messages: each has codes of its own
    /// How messages cost, the same on all ranks.
    Machine machine;
    NodeLayout nodes = {};
    /// Whether collectives compare what the ranks call.
    bool checks_calls = environment_says_check();
    bool is_traced = true;  ///< if anything is
    /// What reports call the communicator of all ranks.
    std::string name = "world";
  };

  World(std::unique_ptr<Transport> transport, const Facts& facts);
  ~World();

  /// The World of an isolated duplicate of `comm`, cached there. Collective over `comm` the first time.
  static std::shared_ptr<World> duplicate(MPI_Comm comm, int mpi_comms);
  /// Communicators that nobody else uses, and what is known of them.
  struct Own {
    std::vector<MPI_Comm> comms;
    Facts facts;
  };
  /// Collective over `comm`, and without the engine.
  static Own make_duplicates(MPI_Comm comm, int mpi_comms);
  /// A World that nobody keeps; its communicators are freed with it.
  static std::shared_ptr<World> over_own(Own own);
  /// The World that shares the context of `comm`, cached there. Local.
  static std::shared_ptr<World> attach(MPI_Comm comm);
  /// A transport that somebody else uses too.
  static std::unique_ptr<Transport> shared(std::unique_ptr<Transport> transport, const Facts& facts);

  const Facts& facts() const { return facts_; }
  void set_name(std::string name) { facts_.name = std::move(name); }
  int rank() const { return facts_.rank; }
  int size() const { return facts_.size; }
  const Machine& machine(Level level = Level::all) const {
    return machines_[static_cast<std::size_t>(level)];
  }
  const NodeLayout& nodes() const { return facts_.nodes; }
  const TagLayout& tags() const { return tags_; }
  Transport& transport() { return *transport_; }
  Engine& engine() const { return engine_; }
  Recorder* recorder() const { return recorder_; }
  Mailbox& mailbox() { return mailbox_; }
  const Mailbox& mailbox() const { return mailbox_; }

  /// The counters of the communicator of all ranks: wherever it is made, it is the same one.
  Counters& root_counters(TagLayout::Kind kind) { return root_counters_[as_size(kind)]; }
  /// How many isolated communicators this process shares with each other one. Besides that of all ranks.
  PairNumbers& pair_numbers() { return pair_numbers_; }

  PairCodes& pair_codes() { return pair_codes_; }
  Failures& failures() { return failures_; }
  /// Lists a context that pairs number, which drops itself; and counts it, unless it is an extension.
  void add_numbered(Context& context, const Group& members);
  void drop_numbered(Context& context) noexcept;
  /// The latest of them, which was made for an operation that was then refused, counts as if it had not been
  /// made: on other ranks it was not.
  void uncount_numbered(Context& context, const Group& members);
  Context* latest_numbered() const { return latest_numbered_; }

  /// A code for a context that this process receives messages of, used by no other living one; or -1.
  int find_named_code();
  /// The same; an error if there is none.
  int take_named_code();
  [[noreturn]] void throw_no_named_code() const;
  void drop_named_code(int code) noexcept;

  /// An algorithm that was chosen for an operation, or -1: not yet.
  struct Choice {
    const void* operation = nullptr;
    int ranks = 0;
    std::size_t bytes = 0;
    int kind = 0;  ///< of the operator
    NodeShape nodes = {};
    Level level = Level::all;
    int lanes = 1;
    int algorithm = -1;
  };
  /// That of the same case, if it is still kept.
  Choice& kept_choice(const Choice& of) {
    if (choices_.empty()) choices_.resize(32);
    const auto row = reinterpret_cast<std::uintptr_t>(of.operation);
    const std::size_t place = (row / 8 + of.bytes / 8 + as_size(of.ranks)) % choices_.size();
    Choice& kept = choices_[place];
    if (kept.operation != of.operation || kept.ranks != of.ranks || kept.bytes != of.bytes ||
        kept.kind != of.kind || kept.level != of.level || kept.lanes != of.lanes || kept.nodes != of.nodes) {
      kept = of;
    }
    return kept;
  }

  /// Whether this operator of MPI's has been found to join elements of this type, which nobody frees.
  bool knows(MPI_Op op, MPI_Datatype type) const {
    return std::ranges::find(known_joins_, std::pair(op, type)) != known_joins_.end();
  }
  void learn(MPI_Op op, MPI_Datatype type) {
    known_joins_[next_known_join_++ % known_joins_.size()] = {op, type};
  }

  /// Where gatherv and scatterv stop to be direct, once it is known; 0: not yet.
  int& kept_direct_ranks() { return direct_ranks_; }

  bool checks_calls() const { return facts_.checks_calls; }
  bool meters_joins() const { return meters_joins_; }

  /// MPI_COMM_NULL on a simulated cluster.
  MPI_Comm mpi_comm() const;
  /// Which rank of `other` the process with `rank` here is, or -1: it is none, or MPI does not tell.
  int rank_in(const World& other, int rank) const;
  bool closed() const { return closed_ || inner_.is_closed(); }
  /// Gives the MPI communicator back; whatever still refers to this World can only be dropped.
  void close() noexcept;

 private:
  std::unique_ptr<Transport> transport_;
  Engine& engine_;
  Transport& inner_;
  bool meters_joins_;
  Recorder* recorder_;
  TagLayout tags_;
  PairCodes pair_codes_;
  Failures failures_{*this};
  Stall stall_;
  Mailbox mailbox_;
  Facts facts_;
  std::array<Machine, 3> machines_;  ///< for each level
  Counters root_counters_[2];
  PairNumbers pair_numbers_;
  Context* latest_numbered_ = nullptr;
  std::vector<bool> named_codes_;  ///< in use
  int next_named_code_ = 0;
  std::vector<Choice> choices_;  ///< empty, or as many as are kept
  std::array<std::pair<MPI_Op, MPI_Datatype>, 4> known_joins_ = {};
  unsigned next_known_join_ = 0;
  int direct_ranks_ = 0;
  bool closed_ = false;
};

}  // namespace wisp::detail
