#pragma once

#include "wisp/comm.hpp"

namespace wisp::bench {

/// gatherv and scatterv over a binomial tree whatever the sizes, which travel with the blocks: what libraries
/// would do that know no better, to compare with. ⌈log2 p⌉ (α + Σ m_i β) at worst. Blocks of int.
Task<> gatherv_binomial(Comm comm, ConstBuffer send, Blocks receive, int root);
Task<> scatterv_binomial(Comm comm, ConstBlocks send, Buffer receive, int root);

}  // namespace wisp::bench
