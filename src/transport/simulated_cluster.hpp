#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pattern/node_layout.hpp"
#include "transport/kept_arguments.hpp"
#include "transport/packet_queue.hpp"
#include "transport/transport.hpp"
#include "wisp/simulate.hpp"

namespace wisp::detail {

/// A message on the simulated wire, with its bytes behind it.
struct Packet {
  Envelope envelope;
  int destination = -1;
  int depth = 0;              ///< length of the chain of messages that led to it
  double arrival = 0;         ///< where it is next
  Message* sender = nullptr;  ///< waits until this packet is received
  enum class At : unsigned char {
    port_of_sender,
    port_of_receiver,
    receiver,
    way_back  ///< to tell the sender that it is received
  };
  At at = At::port_of_sender;  ///< where it is next
  const char* operation = "";
  std::size_t carried = 0;  ///< bytes of the payload

  static std::unique_ptr<Packet> make(std::size_t carried) {
    return std::unique_ptr<Packet>(::new (FramePool::take(sizeof(Packet) + carried)) Packet(carried));
  }
  Packet(const Packet&) = delete;
  Packet& operator=(const Packet&) = delete;
  static void operator delete(Packet* packet, std::destroying_delete_t) noexcept {
    FramePool::give_back(packet, sizeof(Packet) + packet->carried);
  }

  std::byte* payload() { return reinterpret_cast<std::byte*>(this + 1); }

 private:
  explicit Packet(std::size_t bytes) : carried(bytes) {}
};
static_assert(std::is_trivially_destructible_v<Packet>);

class SimulatedTransport;

/// The event loop of all simulated ranks: packets arrive in the order of virtual time. Lives as long as a
/// communicator of any of them.
class SimulatedCluster final : public Engine, public std::enable_shared_from_this<SimulatedCluster> {
 public:
  SimulatedCluster(const SimulationOptions& options, const NodeLayout& nodes);
  ~SimulatedCluster() override;

  bool can_wait() const override { return false; }
  std::span<Message* const> pending() const override;

  bool has_stopped(int rank) const { return ranks_[as_size(rank)].steps_left == 0; }
  bool poll() override;

  /// That of a rank, traced if the options say so.
  std::unique_ptr<Transport> make_transport(int rank);
  /// Starts what a rank runs.
  void start(int rank, std::coroutine_handle<> program);
  /// Until nobody can go on, and no packet is on its way.
  void run();

  /// What was not received; empty if nothing is left.
  std::string describe_unreceived() const;
  SimulationReport report() const;

  double now(int rank) const { return ranks_[as_size(rank)].clock; }
  void work(int rank, double seconds) { ranks_[as_size(rank)].clock += seconds; }
  bool join(int rank, std::size_t bytes) {
    work(rank, options_.joining * static_cast<double>(bytes) / options_.bandwidth);
    return options_.carried_bytes > 0;
  }

 private:
  friend class SimulatedTransport;

  struct Port {
    double free_to_send = 0;
    double free_to_receive = 0;

    /// When the last byte of what comes next has left.
    double send(double now, double seconds) { return free_to_send = std::max(now, free_to_send) + seconds; }
    /// … has come in, the first of which may have come together with another's.
    double receive(double now, double seconds) {
      return free_to_receive = std::max(now, free_to_receive + seconds);
    }
  };
  struct PostedReceive {
    Message* message;
    Buffer buffer;
    int source;
    WireTag tag;
    std::unique_ptr<KeptArguments> types;  ///< of what is no named type
  };
  struct Rank {
    double clock = 0;
    int steps_left = -1;  ///< until it stops; -1: it does not
    Port port;
    int node = 0;
    int depth = 0;
    std::ptrdiff_t memory = 0;  ///< bytes that it holds in the frame pool
    Watcher* watcher = nullptr;
    std::vector<PostedReceive> posted;
    std::vector<Packet*> unexpected;
    std::vector<Packet*> taken;                    ///< by whoever set them aside: not received yet
    std::unordered_map<int, double> last_arrival;  ///< by destination; only kept when there is jitter
    SimulationReport::Rank counters;

    template <class Visit>
    void for_each_arrived(Visit visit) const {
      for (Packet* packet : unexpected) visit(packet);
      for (Packet* packet : taken) visit(packet);
    }
  };

  Message* send(int source, const ConstBuffer& buffer, int destination, WireTag tag, SendMode mode,
                const char* operation, Message* message);
  void receive(int rank, Message& message, const Buffer& buffer, int source, WireTag tag);
  /// The first that has arrived; end if there is none.
  std::vector<Packet*>::iterator find_arrived(int rank, int source, WireTag tag);
  /// It, which is with nobody then; null if there is none.
  Packet* take(int rank, int source, WireTag tag);
  std::optional<Envelope> peek(int rank, int source, WireTag tag);
  std::optional<Arrived> take_arrived(int rank, int source, WireTag tag);
  void deliver(int rank, Message& message, const Buffer& buffer, Packet* packet);
  /// Tells the sender of a packet that it is received.
  void answer(std::unique_ptr<Packet> packet, double received);
  void take_answer(std::unique_ptr<Packet> packet);
  /// The message a rank has looked at has arrived there.
  void see(Rank& receiver, const Packet& packet) {
    receiver.clock = std::max(receiver.clock, packet.arrival);
    receiver.depth = std::max(receiver.depth, packet.depth);
  }
  /// Where ranks share ports, each stands in line when its time has come.
  void push(double time, std::unique_ptr<Packet> packet);
  void pass(Packet* packet);
  void leave(std::unique_ptr<Packet> packet);
  void come_in(std::unique_ptr<Packet> packet);
  void arrive(std::unique_ptr<Packet> packet);
  /// False: the rank has stopped. It does so behind its last step.
  bool begin_step(int rank) {
    int& left = ranks_[as_size(rank)].steps_left;
    if (left == 0) return false;
    if (left > 0) --left;
    return true;
  }
  void complete(int rank, Message& message);
  void run(int rank, std::coroutine_handle<> part);
  void resume_ready();
  void abandon(int rank, Message& message) noexcept;
  void forget(Message& message) noexcept;

  /// Whether a message stays inside a node; what its bytes take; the port that they pass on its way.
  bool stays(int rank, int peer) const {
    return has_nodes_ && ranks_[as_size(rank)].node == ranks_[as_size(peer)].node;
  }
  double seconds_of(std::size_t bytes, bool stays) const {
    return static_cast<double>(bytes) / (stays ? options_.inside_bandwidth : options_.bandwidth);
  }
  double latency_of(bool stays) const { return stays ? options_.inside_latency : options_.latency; }
  Port& port_of(int rank, bool stays) {
    return stays || !has_nodes_ ? ranks_[as_size(rank)].port
                                : node_ports_[as_size(ranks_[as_size(rank)].node)];
  }

  SimulationOptions options_;
  std::mt19937_64 random_;
  std::vector<Rank> ranks_;
  bool has_nodes_;
  std::vector<Port> node_ports_;
  std::uint64_t messages_between_ = 0;
  std::uint64_t bytes_between_ = 0;
  PacketQueue<Packet> packets_;  ///< on their way
  std::vector<Message*> lost_;   ///< sends that wait for a rank that has stopped
  mutable std::vector<Message*> pending_;
  int max_depth_ = 0;
  std::vector<std::unique_ptr<Recorder>> recorders_;  ///< of each rank, if it is traced
  struct Ready {
    int rank;
    std::coroutine_handle<> waiter;
    Message* message;  ///< because of which it goes on
  };
  std::deque<Ready> ready_;
};

/// The view of one simulated rank.
class SimulatedTransport final : public Transport {
 public:
  SimulatedTransport(std::shared_ptr<SimulatedCluster> cluster, int rank)
      : cluster_(std::move(cluster)), rank_(rank) {}

  SimulatedCluster& cluster() const { return *cluster_; }
  int rank() const { return rank_; }

  Engine& engine() override { return *cluster_; }
  bool meters_joins() const override { return true; }
  bool join(std::size_t bytes) override { return cluster_->join(rank_, bytes); }
  Message* send(const ConstBuffer& buffer, int destination, WireTag tag, SendMode mode, const char* operation,
                Message* message) override {
    return cluster_->send(rank_, buffer, destination, tag, mode, operation, message);
  }
  Message* send_packed(ScratchVector& packed, std::size_t bytes, int destination, WireTag tag,
                       const char* operation) override;
  void send_owned(ScratchVector packed, int destination, WireTag tag, const char* operation) override;
  void receive(Message& message, const Buffer& buffer, int source, WireTag tag) override {
    cluster_->receive(rank_, message, buffer, source, tag);
  }
  std::optional<Envelope> peek(int source, WireTag tag) override {
    return cluster_->peek(rank_, source, tag);
  }
  std::optional<Arrived> take_arrived(int source, WireTag tag) override {
    return cluster_->take_arrived(rank_, source, tag);
  }
  void receive_arrived(Message& message, const Buffer& buffer, const Arrived& arrived) override {
    cluster_->deliver(rank_, message, buffer, static_cast<Packet*>(arrived.held));
  }
  void watch(Watcher& watcher) override { cluster_->ranks_[as_size(rank_)].watcher = &watcher; }
  void unwatch(Watcher&) override { cluster_->ranks_[as_size(rank_)].watcher = nullptr; }
  void complete(Message& message) override { cluster_->complete(rank_, message); }
  void abandon(Message& message) noexcept override { cluster_->abandon(rank_, message); }
  void forget(Message& message) noexcept override { cluster_->forget(message); }

 private:
  std::shared_ptr<SimulatedCluster> cluster_;
  int rank_;
};

}  // namespace wisp::detail
