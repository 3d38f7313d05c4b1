// Carries out a program: phase by phase, all messages of one at once. While they are on their way, blocks
// that came with the phase before go to their places.
//
//   receive, receive, …   pack and send, pack and send, …   copy   await all        then the next phase
//
// Source: Träff et al. 2016, sections 3.3 and 5

#include "neighborhood/exchange.hpp"

#include <cstring>
#include <span>

#include "collectives/block_list.hpp"
#include "transport/device_memory.hpp"
#include "transport/mpi_process.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {
namespace {

using Piece = Program::Piece;

/// Where the pieces of a program are in this run.
struct Memory {
  const Exchange& what;
  std::byte* base[3];
  bool is_of_device;

  Memory(const Exchange& of, std::byte* scratch)
      : what(of),
        base{of.send.address, of.receive.address, scratch},
        is_of_device(of.send.is_on_device || of.receive.is_on_device) {}

  std::byte* address(const Piece& piece) const { return base[as_size(piece.area())] + piece.offset(); }
  Buffer buffer(const Piece& piece) const {
    if (piece.block() < 0) return {address(piece), piece.bytes(), MPI_PACKED};
    const BoundBlocks& side = piece.area() == Program::Area::send ? what.send : what.receive;
    return side.blocks[as_size(piece.block())];
  }
};

/// Most blocks that are packed are small and of a power of two: a call of memcpy costs more than the copy.
inline void copy_on_host(std::byte* to, const std::byte* from, std::size_t bytes) {
  switch (bytes) {
    case 1:
      *to = *from;
      return;
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    case 16:
      std::memcpy(to, from, 16);
      return;
    case 32:
      std::memcpy(to, from, 32);
      return;
    case 64:
      std::memcpy(to, from, 64);
      return;
    default:
      std::memcpy(to, from, bytes);
  }
}

inline void pack_piece(const Memory& memory, const Piece& piece, std::byte* to) {
  if (piece.block() < 0) {
    if (memory.is_of_device) [[unlikely]]
      return copy_bytes(to, memory.address(piece), piece.bytes());
    copy_on_host(to, memory.address(piece), piece.bytes());
  } else {
    const Buffer block = memory.buffer(piece);
    pack(block, TypeLayout::of(block.type), to);
  }
}

void copy_piece(const Memory& memory, const Program::Copy& copy) {
  if (copy.to.block() < 0) {
    pack_piece(memory, copy.from, memory.address(copy.to));
  } else if (copy.from.block() < 0) {
    const Buffer block = memory.buffer(copy.to);
    unpack(memory.address(copy.from), block, TypeLayout::of(block.type));
  } else {
    copy_block(memory.buffer(copy.from), memory.buffer(copy.to));
  }
}

/// What MPI is to send or receive of a message, with a datatype made for it if it is of several pieces.
Buffer buffer_of(const Program& program, const Program::Message& message, const Memory& memory) {
  const auto pieces =
      std::span(program.pieces).subspan(as_size(message.first_piece), as_size(message.pieces));
  const Buffer first = memory.buffer(pieces[0]);
  if (!Program::needs_datatype(message)) return first;
  std::vector<int> lengths;
  std::vector<MPI_Aint> displacements;
  std::vector<MPI_Datatype> types;
  // Relative to the first piece: not every MPI packs from MPI_BOTTOM.
  MPI_Aint base = 0;
  check_mpi(MPI_Get_address(first.address, &base), "MPI_Get_address");
  for (const Piece& piece : pieces) {
    const Buffer part = memory.buffer(piece);
    MPI_Aint address = 0;
    check_mpi(MPI_Get_address(part.address, &address), "MPI_Get_address");
    lengths.push_back(static_cast<int>(part.count));
    displacements.push_back(MPI_Aint_diff(address, base));
    types.push_back(part.type == MPI_PACKED ? MPI_BYTE : part.type);
  }
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_create_struct(message.pieces, lengths.data(), displacements.data(), types.data(), &made),
            "MPI_Type_create_struct");
  check_mpi(MPI_Type_commit(&made), "MPI_Type_commit");
  return {first.address, 1, made};
}

}  // namespace

MessageTypes::MessageTypes(const Exchange& exchange) : scratch_(exchange.program->scratch_bytes) {
  const Memory memory(exchange, scratch_.data());
  const Program& program = *exchange.program;
  for (const Program::Message& message : program.receives) {
    receives_.push_back(buffer_of(program, message, memory));
    if (Program::needs_datatype(message)) made_.push_back(receives_.back().type);
  }
  for (const Program::Message& message : program.sends) {
    sends_.push_back(buffer_of(program, message, memory));
    if (Program::needs_datatype(message)) made_.push_back(sends_.back().type);
  }
}

MessageTypes::~MessageTypes() {
  if (is_finalized()) return;
  for (MPI_Datatype& type : made_) MPI_Type_free(&type);
}

Task<> exchange(Channel channel, Exchange what) {
  const Program& program = *what.program;
  const std::vector<Shift>& peers = *what.peers;
  const ScratchVector own_scratch(what.types ? 0 : program.scratch_bytes);
  const Memory memory(what, what.types ? what.types->scratch() : own_scratch.data());
  const auto piece = [&](int i) -> const Piece& { return program.pieces[as_size(i)]; };

  Program::Phase done;
  for (const Program::Phase& phase : program.phases) {
    std::vector<ScratchVector, PoolAllocator<ScratchVector>> sent;
    sent.reserve(as_size(phase.sends - done.sends));
    Posts messages;
    for (; done.receives < phase.receives; ++done.receives) {
      const Program::Message& message = program.receives[as_size(done.receives)];
      const int source = peers[as_size(message.round)].source;
      if (what.types) {
        messages.add(channel.post_receive(what.types->of_receive(done.receives), source));
        continue;
      }
      const Piece& first = piece(message.first_piece);
      if (first.area() != Program::Area::scratch) {
        messages.add(channel.post_receive(memory.buffer(first), source));
        continue;
      }
      // What is copied on must have come.
      Posted blocks = channel.post_receive_up_to(memory.buffer(first), source);
      blocks.message()->expect_bytes(message.bytes, source, Message::Expecting::blocks);
      messages.add(std::move(blocks));
    }
    for (; done.sends < phase.sends; ++done.sends) {
      const Program::Message& message = program.sends[as_size(done.sends)];
      const int target = peers[as_size(message.round)].target;
      if (message.is_packed) {
        ScratchVector packed(message.bytes);
        std::byte* to = packed.data();
        for (int i = message.first_piece; i < message.first_piece + message.pieces; ++i) {
          pack_piece(memory, piece(i), to);
          to += piece(i).bytes();
        }
        messages.add(channel.post_send_packed(packed, message.bytes, target));
        if (packed.exists()) sent.push_back(std::move(packed));
      } else {
        messages.add(channel.post_send(
            what.types ? what.types->of_send(done.sends) : memory.buffer(piece(message.first_piece)),
            target));
      }
    }
    for (; done.copies < phase.copies; ++done.copies) {
      copy_piece(memory, program.copies[as_size(done.copies)]);
    }
    co_await messages;
  }
}

}  // namespace wisp::detail
