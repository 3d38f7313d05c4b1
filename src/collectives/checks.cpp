#include "collectives/checks.hpp"

#include "collectives/block_list.hpp"
#include "transport/throw_error.hpp"

namespace wisp::detail {

[[gnu::hot]] void check_buffer(const char* call, const char* name, const ConstBuffer& buffer) {
  if (is_in_place(buffer)) [[unlikely]] {
    throw_error(MPI_ERR_BUFFER, "{}: {} cannot be MPI_IN_PLACE here", call, name);
  }
  if (buffer.type == MPI_DATATYPE_NULL) [[unlikely]] {
    throw_error(MPI_ERR_TYPE, "{}: the datatype of {} is MPI_DATATYPE_NULL", call, name);
  }
  check_address(call, name, buffer);
}

[[gnu::hot]] ConstBuffer checked_input(const char* call, const ConstBuffer& send, const Buffer& receive,
                                       const char* name) {
  check_buffer(call, name, receive);
  if (is_in_place(send)) return receive;
  check_buffer(call, "send", send);
  if (send.count != receive.count) [[unlikely]] {
    throw_error(MPI_ERR_COUNT, "{}: send has {} elements, but {} has {}", call, send.count, name,
                receive.count);
  }
  if (send.type != receive.type) [[unlikely]] {
    throw_error(MPI_ERR_TYPE, "{}: send and {} have different datatypes", call, name);
  }
  return send;
}

void check_apart(const char* call, const char* one_name, const Buffer& one, const char* other_name,
                 const Buffer& other) {
  if (one.address == other.address && bytes_of(one) > 0)
    throw_error(MPI_ERR_BUFFER, "{}: {} and {} are one buffer", call, one_name, other_name);
}

Buffer unchanged_result(const ConstBuffer& send, const Buffer& receive) {
  if ((receive.address != nullptr && receive.count > 0) || is_in_place(send)) return receive;
  return {const_cast<void*>(send.address), send.count, send.type};
}

[[gnu::hot]] void check_regular(int size, const char* call, const char* own_name, const ConstBuffer& own,
                                const char* blocks_name, const ConstBuffer& blocks) {
  check_buffer(call, blocks_name, blocks);
  const auto ranks = as_size(size);
  const std::size_t count = blocks.count / ranks;
  if (count * ranks != blocks.count) [[unlikely]] {
    throw_error(MPI_ERR_COUNT, "{}: {} has {} elements, not a multiple of {} ranks", call, blocks_name,
                blocks.count, ranks);
  }
  if (is_in_place(own)) return;
  check_buffer(call, own_name, own);
  if (own.type == blocks.type && own.count == count) [[likely]]
    return;
  const std::size_t bytes = bytes_of(own);
  const std::size_t room = bytes_of(blocks) / ranks;
  if (bytes != room) {
    throw_error(MPI_ERR_TRUNCATE, "{}: {} has {} bytes, but a block of {} has {}", call, own_name, bytes,
                blocks_name, room);
  }
}

namespace {

/// Of a block whose displacement is large.
[[gnu::noinline]] void check_place(const char* call, const char* name, const ConstBlocks& blocks,
                                   std::size_t i, std::int64_t begin) {
  const MPI_Aint unit = blocks.types.empty() ? TypeLayout::of(blocks.type).extent : 1;
  std::int64_t bytes = 0;
  std::int64_t end = 0;
  if (!__builtin_mul_overflow(begin, unit, &bytes) && !__builtin_add_overflow(begin, blocks.counts[i], &end))
    return;
  throw_error(MPI_ERR_ARG, "{}: displacement {} of block {} of {} is further than memory reaches", call,
              begin, i, name);
}

[[gnu::noinline]] void check_block_at_null(const char* call, const char* name, const ConstBlocks& blocks,
                                           std::size_t i, std::int64_t begin) {
  const bool has_types = !blocks.types.empty();
  const TypeLayout layout = TypeLayout::of(has_types ? blocks.types[i] : blocks.type);
  if (is_nowhere(layout, begin * (has_types ? 1 : layout.extent))) {
    throw_error(MPI_ERR_BUFFER, "{}: {} is null, but its block {} has {} elements", call, name, i,
                blocks.counts[i]);
  }
}

}  // namespace

[[gnu::hot]] void check_irregular(int due, const char* of_what, const char* call, const char* name,
                                  const ConstBlocks& blocks) {
  const auto check_size = [&](const char* what, std::size_t size) {
    if (size == as_size(due)) return;
    throw_error(MPI_ERR_ARG, "{}: {} has {} {} for {} {}", call, name, size, what, due, of_what);
  };
  if (is_in_place(blocks)) [[unlikely]]
    throw_error(MPI_ERR_BUFFER, "{}: {} cannot be MPI_IN_PLACE here", call, name);
  check_size("counts", blocks.counts.size());
  if (!blocks.displacements.empty()) check_size("displacements", blocks.displacements.size());
  if (!blocks.types.empty()) {
    check_size("datatypes", blocks.types.size());
    check_size("displacements", blocks.displacements.size());
  } else if (blocks.type == MPI_DATATYPE_NULL) {
    throw_error(MPI_ERR_TYPE, "{}: the datatype of {} is MPI_DATATYPE_NULL", call, name);
  } else {
    check_committed(call, name, blocks.type);
  }
  constexpr std::int64_t surely_in_memory = std::int64_t{1} << 31;
  std::int64_t end_of_last = 0;
  for (std::size_t i = 0; i < blocks.counts.size(); ++i) {
    const std::int64_t count = blocks.counts[i];
    if (count < 0) {
      throw_error(MPI_ERR_COUNT, "{}: counts[{}] of {} = {} is below 0", call, i, name, count);
    }
    if (!blocks.types.empty() && blocks.types[i] == MPI_DATATYPE_NULL && count > 0) {
      throw_error(MPI_ERR_TYPE, "{}: types[{}] of {} = MPI_DATATYPE_NULL", call, i, name);
    }
    if (!blocks.types.empty() && count > 0) check_committed(call, name, blocks.types[i]);
    check_fits(call, name, as_size(count), blocks.types.empty() ? blocks.type : blocks.types[i]);
    const std::int64_t begin = blocks.displacements.empty() ? end_of_last : blocks.displacements[i];
    if (__builtin_add_overflow(begin, count, &end_of_last) || begin > surely_in_memory ||
        begin < -surely_in_memory) [[unlikely]]
      check_place(call, name, blocks, i, begin);
    if (blocks.address == nullptr && count > 0) [[unlikely]]
      check_block_at_null(call, name, blocks, i, begin);
    const bool is_within = begin >= 0 && static_cast<std::uint64_t>(end_of_last) <= blocks.room;
    if (blocks.room != ConstBlocks::unknown_room && count > 0 && !is_within) {
      throw_error(MPI_ERR_COUNT, "{}: block {} of {}, elements {}..{}, is outside 0..{}", call, i, name,
                  begin, end_of_last - 1, static_cast<std::int64_t>(blocks.room) - 1);
    }
  }
}

[[gnu::hot]] void check_own_block(int rank, const char* call, const char* name, const ConstBuffer& own,
                                  const ConstBlocks& blocks) {
  if (is_in_place(own)) return;
  check_buffer(call, name, own);
  const std::size_t bytes = bytes_of(own);
  const std::size_t of_block = bytes_of_block(blocks, rank);
  if (bytes != of_block) [[unlikely]] {
    throw_error(MPI_ERR_TRUNCATE, "{}: {} of rank {} has {} bytes, but its block has {}", call, name, rank,
                bytes, of_block);
  }
}

}  // namespace wisp::detail
