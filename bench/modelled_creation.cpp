#include "modelled_creation.hpp"

#include <cstdint>
#include <vector>

#include "comm/world.hpp"
#include "transport/simulated_cluster.hpp"
#include "wisp/detail/channel_collectives.hpp"

namespace wisp::bench {

Task<> model_mpi_creation(Channel members) {
  std::vector<std::uint64_t> mask(32, ~std::uint64_t{0});
  std::vector<std::uint64_t> common(32);
  co_await detail::allreduce_on(members, mask, common, MPI_BAND);
  const auto& transport = dynamic_cast<detail::SimulatedTransport&>(members.world().transport().inner());
  transport.cluster().work(transport.rank(), 10e-9 * members.size());
}

}  // namespace wisp::bench
