#include "transport/simulated_cluster.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "trace/traced_transport.hpp"
#include "transport/throw_error.hpp"
#include "transport/type_layout.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {

SimulatedCluster::SimulatedCluster(const SimulationOptions& options, const NodeLayout& nodes)
    : options_(options),
      random_(options.seed),
      ranks_(as_size(options.ranks)),
      has_nodes_(!options.nodes.empty()),
      node_ports_(as_size(nodes.nodes())) {
  for (int rank = 0; rank < nodes.ranks(); ++rank) ranks_[as_size(rank)].node = nodes.node_of(rank);
  for (const SimulationOptions::Stop& stop : options_.stops)
    ranks_[as_size(stop.rank)].steps_left = stop.steps;
  if (options_.trace.empty()) return;
  const auto file = std::make_shared<TraceFile>(options_.trace);
  for (int rank = 0; rank < options_.ranks; ++rank) {
    const auto clock = [this, rank] { return static_cast<std::uint64_t>(std::llround(1e9 * now(rank))); };
    recorders_.push_back(
        std::make_unique<Recorder>(rank, options_.ranks, "simulated", TraceClock(clock), file));
  }
}

SimulatedCluster::~SimulatedCluster() {
  packets_.for_each([](Packet* packet) { delete packet; });
  for (const Rank& rank : ranks_) rank.for_each_arrived([](Packet* packet) { delete packet; });
}

std::unique_ptr<Transport> SimulatedCluster::make_transport(int rank) {
  auto transport = std::make_unique<SimulatedTransport>(shared_from_this(), rank);
  return traced(std::move(transport), recorders_.empty() ? nullptr : recorders_[as_size(rank)].get(), {});
}

bool SimulatedCluster::poll() {
  throw Error(MPI_ERR_OTHER, "wisp::simulate: a simulated rank cannot block or test; co_await instead");
}

void SimulatedCluster::start(int rank, std::coroutine_handle<> program) {
  ranks_[as_size(rank)].depth = 0;
  if (!has_stopped(rank)) run(rank, program);
  resume_ready();
}

void SimulatedCluster::run() {
  // One after the other: where the next step finds what it fetches.
  const auto fetch = [this](const Packet* packet, std::size_t turns) {
    if (turns == 16) return __builtin_prefetch(packet);
    const Rank& receiver = ranks_[as_size(packet->destination)];
    if (turns == 8) return __builtin_prefetch(&receiver);
    __builtin_prefetch(receiver.posted.data());
  };
  resume_ready();
  while (!packets_.empty()) {
    pass(packets_.pop(fetch));
    resume_ready();
  }
}

Message* SimulatedCluster::send(int source, const ConstBuffer& buffer, int destination, WireTag tag,
                                SendMode mode, const char* operation, Message* message) {
  if (!begin_step(source)) [[unlikely]]
    return message != nullptr ? message : new Message;  // it never leaves, and never ends
  Rank& sender = ranks_[as_size(source)];
  const TypeLayout layout = TypeLayout::of(buffer.type);
  const std::size_t bytes = buffer.count * layout.size;
  const std::size_t most = std::min(bytes, options_.carried_bytes);
  std::unique_ptr<Packet> packet = Packet::make(most == 0 ? 0 : most - most % layout.size);
  packet->envelope = {source, tag, bytes};
  packet->destination = destination;
  packet->operation = operation;
  packet->depth = sender.depth + 1;
  if (packet->carried > 0)
    pack({buffer.address, packet->carried / layout.size, buffer.type}, layout, packet->payload());

  // LogGP with one port: the sender is busy for o, its port for the bytes, then they travel for L.
  sender.clock += options_.overhead;
  packet->arrival = sender.clock;
  const bool leaves_node = has_nodes_ ? !stays(source, destination) : source != destination;
  const bool shares_port = has_nodes_ && leaves_node;
  sender.counters.messages_sent += 1;
  sender.counters.bytes_sent += bytes;
  if (leaves_node) {
    messages_between_ += 1;
    bytes_between_ += bytes;
  }
  max_depth_ = std::max(max_depth_, packet->depth);

  if (mode == SendMode::synchronous || options_.rendezvous)
    packet->sender = message != nullptr ? message : new Message;
  Message* const sent = packet->sender;
  if (shares_port) {
    push(sender.clock, std::move(packet));
  } else {
    leave(std::move(packet));
  }
  return sent;
}

void SimulatedCluster::push(double time, std::unique_ptr<Packet> packet) {
  packet->arrival = time;
  packets_.push(time, packet.get());
  [[maybe_unused]] Packet* const theirs = packet.release();
}

void SimulatedCluster::pass(Packet* packet) {
  std::unique_ptr<Packet> owned(packet);
  switch (packet->at) {
    case Packet::At::port_of_sender:
      return leave(std::move(owned));
    case Packet::At::port_of_receiver:
      return come_in(std::move(owned));
    case Packet::At::receiver:
      return arrive(std::move(owned));
    case Packet::At::way_back:
      return take_answer(std::move(owned));
  }
}

void SimulatedCluster::leave(std::unique_ptr<Packet> packet) {
  const auto [source, tag, bytes] = packet->envelope;
  const bool inside = stays(source, packet->destination);
  const double left = port_of(source, inside).send(packet->arrival, seconds_of(bytes, inside));
  double arrival = left + latency_of(inside);
  if (options_.jitter > 0) {
    arrival += options_.jitter * std::uniform_real_distribution<double>()(random_);
    double& last = ranks_[as_size(source)].last_arrival[packet->destination];
    arrival = last = std::max(last, arrival);
  }
  packet->at = Packet::At::port_of_receiver;
  push(arrival, std::move(packet));
}

/// One port: what arrives together comes in one after the other.
void SimulatedCluster::come_in(std::unique_ptr<Packet> packet) {
  const bool inside = stays(packet->destination, packet->envelope.source);
  Port& port = port_of(packet->destination, inside);
  const double came = packet->arrival;
  const double received = port.receive(came, seconds_of(packet->envelope.bytes, inside));
  packet->at = Packet::At::receiver;
  packet->arrival = received;
  // Where there are two ports, others may arrive through the other one meanwhile.
  if (!has_nodes_ || received == came) return arrive(std::move(packet));
  push(received, std::move(packet));
}

void SimulatedCluster::arrive(std::unique_ptr<Packet> packet) {
  const int rank = packet->destination;
  if (has_stopped(rank)) [[unlikely]] {
    if (packet->sender != nullptr) lost_.push_back(packet->sender);
    return;
  }
  Rank& receiver = ranks_[as_size(rank)];
  const auto match = std::find_if(receiver.posted.begin(), receiver.posted.end(), [&](const auto& posted) {
    return (posted.source < 0 || posted.source == packet->envelope.source) &&
           posted.tag == packet->envelope.tag;
  });
  if (match != receiver.posted.end()) {
    const PostedReceive posted = std::move(*match);
    receiver.posted.erase(match);
    deliver(rank, *posted.message, posted.buffer, packet.release());
    return;
  }
  receiver.unexpected.push_back(packet.release());
  if (receiver.watcher != nullptr) receiver.watcher->look();
}

void SimulatedCluster::receive(int rank, Message& message, const Buffer& buffer, int source, WireTag tag) {
  if (!begin_step(rank)) [[unlikely]]
    return;
  if (Packet* const packet = take(rank, source, tag)) {
    deliver(rank, message, buffer, packet);
  } else {
    PostedReceive& posted =
        ranks_[as_size(rank)].posted.emplace_back(PostedReceive{&message, buffer, source, tag, {}});
    if (plain_size_of(buffer.type) == 0) {
      posted.types = std::make_unique<KeptArguments>();
      posted.types->replace(posted.buffer);
    }
  }
}

std::vector<Packet*>::iterator SimulatedCluster::find_arrived(int rank, int source, WireTag tag) {
  return std::ranges::find_if(ranks_[as_size(rank)].unexpected, [&](const Packet* packet) {
    return (source < 0 || packet->envelope.source == source) && (tag < 0 || packet->envelope.tag == tag);
  });
}

Packet* SimulatedCluster::take(int rank, int source, WireTag tag) {
  const auto match = find_arrived(rank, source, tag);
  if (match == ranks_[as_size(rank)].unexpected.end()) return nullptr;
  Packet* const packet = *match;
  ranks_[as_size(rank)].unexpected.erase(match);
  return packet;
}

std::optional<Envelope> SimulatedCluster::peek(int rank, int source, WireTag tag) {
  Rank& receiver = ranks_[as_size(rank)];
  const auto match = find_arrived(rank, source, tag);
  if (match == receiver.unexpected.end()) return std::nullopt;
  see(receiver, **match);
  return (*match)->envelope;
}

std::optional<Arrived> SimulatedCluster::take_arrived(int rank, int source, WireTag tag) {
  Packet* const packet = take(rank, source, tag);
  if (packet == nullptr) return std::nullopt;
  ranks_[as_size(rank)].taken.push_back(packet);
  return Arrived{packet->envelope, MPI_MESSAGE_NULL, packet};
}

void SimulatedCluster::deliver(int rank, Message& message, const Buffer& buffer, Packet* packet) {
  std::unique_ptr<Packet> owned(packet);
  Rank& receiver = ranks_[as_size(rank)];
  std::erase(receiver.taken, packet);
  see(receiver, *packet);
  receiver.clock += options_.overhead;
  receiver.counters.messages_received += 1;
  receiver.counters.bytes_received += packet->envelope.bytes;

  const TypeLayout layout = TypeLayout::of(buffer.type);
  if (packet->envelope.bytes > buffer.count * layout.size ||
      !unpack_message(packet->payload(), packet->carried, buffer, layout)) {
    message.error = MPI_ERR_TRUNCATE;
  }
  message.set_envelope(packet->envelope);
  complete(rank, message);
  if (packet->sender != nullptr) answer(std::move(owned), receiver.clock);
}

void SimulatedCluster::answer(std::unique_ptr<Packet> packet, double received) {
  packet->at = Packet::At::way_back;
  const bool inside = stays(packet->destination, packet->envelope.source);
  push(received + latency_of(inside), std::move(packet));
}

void SimulatedCluster::take_answer(std::unique_ptr<Packet> packet) {
  if (packet->sender == nullptr) return;
  const int rank = packet->envelope.source;
  double& clock = ranks_[as_size(rank)].clock;
  if (packet->sender->waiter) clock = std::max(clock, packet->arrival);
  complete(rank, *packet->sender);
}

void SimulatedCluster::complete(int rank, Message& message) {
  const std::coroutine_handle<> waiter = message.complete();
  if (!waiter) return;
  message.is_queued = true;
  ready_.push_back({rank, waiter, &message});
}

void SimulatedCluster::run(int rank, std::coroutine_handle<> part) {
  const std::size_t before = FramePool::live_bytes();
  FramePool::begin_peak();
  part.resume();
  Rank& resumed = ranks_[as_size(rank)];
  // What somebody else made may end here.
  const auto more = static_cast<std::ptrdiff_t>(FramePool::peak_bytes() - before);
  const std::size_t most = as_size(std::max<std::ptrdiff_t>(0, resumed.memory + more));
  resumed.counters.peak_bytes = std::max(resumed.counters.peak_bytes, most);
  resumed.memory +=
      static_cast<std::ptrdiff_t>(FramePool::live_bytes()) - static_cast<std::ptrdiff_t>(before);
}

void SimulatedCluster::resume_ready() {
  while (!ready_.empty()) {
    const Ready next = ready_.front();
    ready_.pop_front();
    next.message->is_queued = false;
    if (begin_step(next.rank)) run(next.rank, next.waiter);
  }
}

void SimulatedCluster::forget(Message& message) noexcept {
  std::erase_if(ready_, [&](const Ready& ready) { return ready.message == &message; });
}

void SimulatedCluster::abandon(int rank, Message& message) noexcept {
  const auto is_it = [&](const PostedReceive& posted) { return posted.message == &message; };
  if (std::erase_if(ranks_[as_size(rank)].posted, is_it) > 0) return;
  std::erase(lost_, &message);
  const auto forget_sender = [&](Packet* packet) {
    if (packet->sender == &message) packet->sender = nullptr;
  };
  packets_.for_each(forget_sender);
  for (const Rank& other : ranks_) other.for_each_arrived(forget_sender);
}

std::span<Message* const> SimulatedCluster::pending() const {
  pending_ = lost_;
  const auto add = [&](const Packet* packet) {
    if (packet->sender != nullptr) pending_.push_back(packet->sender);
  };
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!has_stopped(static_cast<int>(rank))) {
      for (const PostedReceive& posted : ranks_[rank].posted) pending_.push_back(posted.message);
    }
    ranks_[rank].for_each_arrived(add);
  }
  return pending_;
}

std::string SimulatedCluster::describe_unreceived() const {
  constexpr std::size_t most = 8;
  std::vector<std::string> lost;
  std::size_t count = 0;
  for (const Rank& rank : ranks_) {
    rank.for_each_arrived([&](const Packet* packet) {
      if (++count > most) return;
      lost.push_back(formatted("rank {} to rank {}, {} bytes, in {}", packet->envelope.source,
                               packet->destination, packet->envelope.bytes, packet->operation));
    });
  }
  if (count > most) lost.push_back(formatted("and {} more", count - most));
  return formatted("{}", joined(lost, "; "));
}

SimulationReport SimulatedCluster::report() const {
  SimulationReport report;
  report.rounds = max_depth_;
  report.messages_between_nodes = messages_between_;
  report.bytes_between_nodes = bytes_between_;
  report.ranks.reserve(ranks_.size());
  for (const Rank& rank : ranks_) {
    report.ranks.push_back(rank.counters);
    report.ranks.back().finished = rank.clock;
    report.seconds = std::max(report.seconds, rank.clock);
    report.messages += rank.counters.messages_sent;
    report.bytes += rank.counters.bytes_sent;
  }
  return report;
}

Message* SimulatedTransport::send_packed(ScratchVector& packed, std::size_t bytes, int destination,
                                         WireTag tag, const char* operation) {
  return send({packed.data(), bytes, MPI_PACKED}, destination, tag, SendMode::standard, operation, nullptr);
}

void SimulatedTransport::send_owned(ScratchVector packed, int destination, WireTag tag,
                                    const char* operation) {
  Posted sent(send({packed.data(), packed.bytes(), MPI_PACKED}, destination, tag, SendMode::standard,
                   operation, nullptr));
  // Its bytes are on the wire.
  if (!sent.done()) abandon(*sent.message());
}

}  // namespace wisp::detail
