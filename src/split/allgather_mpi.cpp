// All items to all ranks by the MPI library's own allgather, to compare with ours. Only where a chain is all
// of an MPI communicator, in its order.
//
//   Source: Moody et al. 2011, section 3.1

#include "split/algorithms.hpp"
#include "transport/mpi_transport.hpp"

namespace wisp::detail {

Task<ChainPlace> split_allgather_mpi(Link link, const SplitCase& of) {
  const ItemLayout layout = co_await ItemLayout::agree(link, of);
  const ItemTable all(layout, as_size(link.size()));
  const ScratchVector own = layout.own_item(link.rank());
  auto& transport = dynamic_cast<MpiTransport&>(link.world().transport().inner());
  Posted gathered = transport.allgather({own.data(), layout.bytes(), MPI_BYTE}, all.buffer());
  gathered.message()->world = &link.world();
  gathered.message()->operation = "MPI_Iallgather";
  gathered.message()->is_shared = link.world().engine().is_shared();
  co_await gathered;
  co_return place_among(layout, all, own.data());
}

}  // namespace wisp::detail
