#pragma once

#include "wisp/blocks.hpp"

/// What collectives ask of their arguments before any message: each throws an Error that names the call, the
/// argument, its value and its bound.

namespace wisp::detail {

/// Throws unless two results go to two places.
void check_apart(const char* call, const char* one_name, const Buffer& one, const char* other_name,
                 const Buffer& other);

/// A datatype, and not in place.
void check_buffer(const char* call, const char* name, const ConstBuffer& buffer);
/// The input of a reduction whose result goes to `receive`, which it is in place.
ConstBuffer checked_input(const char* call, const ConstBuffer& send, const Buffer& receive,
                          const char* name = "receive");
/// The same result where it stays as it is, and may be nowhere.
Buffer unchanged_result(const ConstBuffer& send, const Buffer& receive);
/// `blocks` is one block for each rank, as large as `own`, unless that is in place.
void check_regular(int ranks, const char* call, const char* own_name, const ConstBuffer& own,
                   const char* blocks_name, const ConstBuffer& blocks);
/// Counts and places for each of `due` ranks or neighbors, within the room.
void check_irregular(int due, const char* of_what, const char* call, const char* name,
                     const ConstBlocks& blocks);
/// `own` is as large as that block of `blocks`, unless it is in place.
void check_own_block(int rank, const char* call, const char* name, const ConstBuffer& own,
                     const ConstBlocks& blocks);

}  // namespace wisp::detail
