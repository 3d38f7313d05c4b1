// Carries out a program: phase by phase, all messages of one at once. While they are on their way, blocks
// that came with the phase before go to their places.
//
//   receive, receive, …   pack and send, pack and send, …   copy   await all        then the next phase
//
// Source: Träff et al. 2016, sections 3.3 and 5

#include "neighborhood/exchange.hpp"

#include <cstring>

#include "collectives/block_list.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {
namespace {

using Piece = Program::Piece;

/// Where the pieces of a program are in this run.
struct Memory {
  const Exchange& what;
  std::byte* base[3];

  Memory(const Exchange& of, std::byte* scratch)
      : what(of), base{of.send.address, of.receive.address, scratch} {}

  std::byte* address(const Piece& piece) const {
    return base[static_cast<std::size_t>(piece.buffer())] + piece.offset();
  }
  Buffer buffer(const Piece& piece) const {
    if (piece.block() < 0) return {address(piece), piece.bytes(), MPI_PACKED};
    const BoundBlocks& side = piece.buffer() == Program::Buffer::send ? what.send : what.receive;
    return side.blocks[static_cast<std::size_t>(piece.block())];
  }
};

/// Most blocks that are packed are small and of a power of two: a call of memcpy costs more than the copy.
inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
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
    copy_bytes(to, memory.address(piece), piece.bytes());
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

MPI_Datatype type_of(const Program& program, const Program::Message& message, const Memory& memory) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  if (!Program::needs_datatype(message)) return made;
  const auto count = static_cast<std::size_t>(message.pieces);
  std::vector<int> lengths(count);
  std::vector<MPI_Aint> displacements(count);
  std::vector<MPI_Datatype> types(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Buffer part = memory.buffer(program.pieces[static_cast<std::size_t>(message.first_piece) + i]);
    lengths[i] = static_cast<int>(part.count);
    check_mpi(MPI_Get_address(part.address, &displacements[i]), "MPI_Get_address");
    types[i] = part.type == MPI_PACKED ? MPI_BYTE : part.type;
  }
  check_mpi(MPI_Type_create_struct(message.pieces, lengths.data(), displacements.data(), types.data(), &made),
            "MPI_Type_create_struct");
  check_mpi(MPI_Type_commit(&made), "MPI_Type_commit");
  return made;
}

}  // namespace

MessageTypes::MessageTypes(const Exchange& exchange) : scratch_(exchange.program->scratch_bytes) {
  const Memory memory(exchange, scratch_.data());
  const Program& program = *exchange.program;
  for (const Program::Message& message : program.receives)
    receives_.push_back(type_of(program, message, memory));
  for (const Program::Message& message : program.sends) sends_.push_back(type_of(program, message, memory));
}

MessageTypes::~MessageTypes() {
  for (std::vector<MPI_Datatype>* types : {&receives_, &sends_}) {
    for (MPI_Datatype& type : *types) {
      if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
    }
  }
}

Task<> exchange(Channel channel, Exchange what) {
  const Program& program = *what.program;
  const std::vector<Shift>& peers = *what.peers;
  const ScratchVector own_scratch(what.types ? 0 : program.scratch_bytes);
  const Memory memory(what, what.types ? what.types->scratch() : own_scratch.data());
  const auto piece = [&](int i) -> const Piece& { return program.pieces[static_cast<std::size_t>(i)]; };

  Program::Phase done;
  for (const Program::Phase& phase : program.phases) {
    std::vector<ScratchVector> sent;
    Posts messages;
    for (; done.receives < phase.receives; ++done.receives) {
      const Program::Message& message = program.receives[static_cast<std::size_t>(done.receives)];
      const int source = peers[static_cast<std::size_t>(message.round)].source;
      const Buffer to = Program::needs_datatype(message)
                            ? Buffer(MPI_BOTTOM, 1, what.types->of_receive(done.receives))
                            : memory.buffer(piece(message.first_piece));
      messages.add(channel.post_receive(to, source));
    }
    for (; done.sends < phase.sends; ++done.sends) {
      const Program::Message& message = program.sends[static_cast<std::size_t>(done.sends)];
      const int target = peers[static_cast<std::size_t>(message.round)].target;
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
        const Buffer from = Program::needs_datatype(message)
                                ? Buffer(MPI_BOTTOM, 1, what.types->of_send(done.sends))
                                : memory.buffer(piece(message.first_piece));
        messages.add(channel.post_send(from, target));
      }
    }
    for (; done.copies < phase.copies; ++done.copies) {
      copy_piece(memory, program.copies[static_cast<std::size_t>(done.copies)]);
    }
    co_await messages;
  }
}

}  // namespace wisp::detail
