// Neighbors that are no stencil: all blocks between two ranks in one message, all messages at once.
//
//   to a: blocks 0 3 4   ──pack──▶  one message  ──▶  a      from a: one message ──▶ blocks 1 2
//
// α + nβ, and 2o for each partner but the first

#include "neighborhood/peer_blocks.hpp"

namespace wisp::detail {
namespace {

using Area = Program::Area;

/// The pieces of one peer's blocks, in their order.
Program::Message message_of(Program& program, int round, Area area, const BlockPlaces& places,
                            std::span<const int> blocks) {
  const std::size_t first = program.pieces.size();
  std::size_t bytes = 0;
  for (const int block : blocks) {
    append_piece(program.pieces, first, piece_of(area, places, block));
    bytes += places[block].bytes;
  }
  return {round, static_cast<int>(first), static_cast<int>(program.pieces.size() - first), bytes};
}

/// What is packed by hand comes into scratch space, and is copied from there when all have come.
void receive_packed(Program& program, Program::Message& message, const BlockPlaces& places,
                    std::span<const int> blocks, std::vector<Program::Copy>& later) {
  auto at = static_cast<std::ptrdiff_t>(program.scratch_bytes);
  program.pieces.resize(as_size(message.first_piece));
  program.pieces.push_back({Area::scratch, -1, at, message.bytes});
  message.pieces = 1;
  program.scratch_bytes += message.bytes;
  for (const int block : blocks) {
    const Program::Piece to = piece_of(Area::receive, places, block);
    if (to.bytes() > 0) later.push_back({{Area::scratch, -1, at, to.bytes()}, to});
    at += static_cast<std::ptrdiff_t>(to.bytes());
  }
}

}  // namespace

Program compile(const PeerBlocks& sources, const PeerBlocks& targets, int self, const Asked& asked,
                Copying copying) {
  const auto sent = [&](int block) { return sent_index(asked.pattern, block); };
  Program program;
  std::vector<Program::Copy> later;
  int round = 0;
  for (std::size_t k = 0; k < sources.ranks.size(); ++k, ++round) {
    if (sources.ranks[k] == self) continue;
    Program::Message message = message_of(program, round, Area::receive, asked.receive, sources.of(k));
    if (message.bytes == 0) continue;
    if (message.pieces > 1 && copying == Copying::pack)
      receive_packed(program, message, asked.receive, sources.of(k), later);
    program.receives.push_back(message);
  }
  std::vector<int> blocks;
  for (std::size_t k = 0; k < targets.ranks.size(); ++k, ++round) {
    if (targets.ranks[k] == self) continue;
    blocks.clear();
    for (const int block : targets.of(k)) blocks.push_back(sent(block));
    Program::Message message = message_of(program, round, Area::send, asked.send, blocks);
    if (message.bytes == 0) continue;
    message.is_packed = copying == Copying::pack && message.pieces > 1;
    program.sends.push_back(message);
  }
  const std::span<const int> from = targets.of_rank(self);
  const std::span<const int> to = sources.of_rank(self);
  for (std::size_t i = 0; i < to.size(); ++i) {
    const Program::Piece piece = piece_of(Area::receive, asked.receive, to[i]);
    if (piece.bytes() > 0) program.copies.push_back({piece_of(Area::send, asked.send, sent(from[i])), piece});
  }
  const auto end_phase = [&program] {
    program.phases.push_back({static_cast<int>(program.receives.size()),
                              static_cast<int>(program.sends.size()),
                              static_cast<int>(program.copies.size())});
  };
  end_phase();
  program.copies.insert(program.copies.end(), later.begin(), later.end());
  end_phase();
  return program;
}

}  // namespace wisp::detail
