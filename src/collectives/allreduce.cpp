#include "collectives/collective.hpp"

namespace wisp {

namespace detail {
namespace {

using T = const Terms&;

constexpr Algorithm allreduce_algorithms[] = {
    {"recursive_doubling",
     [](T t) {
       const double steps = t.log2 + t.extra;
       return Cost{steps, 1.5 * steps * t.n, steps, t.p * t.log2, 1.5 * t.p * t.log2 * t.n};
     },
     [](Channel channel, const Arguments& given) {
       return allreduce_recursive_doubling(std::move(channel), given.reduction());
     }},
    {"tree",
     [](T t) {
       const double received = t.siblings_32 * t.depth_32;
       const double sent = 3 * t.depth_4;
       // Long vectors that come all at once disturb each other.
       return Cost{received + sent, (2 * received + sent) * t.n, t.depth_32 + t.depth_4, 2 * (t.p - 1),
                   2.5 * (t.p - 1) * t.n};
     },
     [](Channel channel, const Arguments& given) {
       return allreduce_tree(std::move(channel), given.send_buffer(), given.receive_buffer(), given.op);
     }},
    {"circulant",
     [](T t) {
       // Half of the vector is set aside and put back.
       const double steps = 2 * t.log2;
       const double bytes = (2.5 * t.others + 0.5) * t.n;
       return Cost{steps, bytes, steps, t.p * steps, t.p * bytes};
     },
     [](Channel channel, const Arguments& given) {
       return allreduce_circulant(std::move(channel), given.reduction());
     },
     commutes},
    {"two_tree",
     [](T t) {
       const double depth = 4 * t.log2;
       const double sent = depth + t.pieces;
       return Cost{sent, sent * 3 * t.n / t.pieces, depth, 2 * (t.p - 1) * t.pieces, 3.5 * t.p * t.n};
     },
     [](Channel channel, const Arguments& given) {
       return scan_two_tree(std::move(channel), given.send_buffer(), {{}, {}, given.receive_buffer()},
                            given.op);
     }}};

constexpr Alias allreduce_aliases[] = {{"scatter_allgather", "circulant"}, {"ring", "circulant"}};

}  // namespace

constinit const Collective allreduce_row{"allreduce", allreduce_algorithms, allreduce_aliases};

}  // namespace detail

Operation allreduce(const Comm& comm, const ConstBuffer& send, const Buffer& receive, MPI_Op op,
                    const CollectiveOptions& options) {
  constexpr const char* call = "wisp::allreduce";
  detail::check_member(comm, call);
  detail::check_op(call, op);
  const ConstBuffer input = detail::checked_input(call, send, receive);
  return detail::make_operation(comm, call, detail::allreduce_row,
                                detail::reduction_arguments(input, receive, op), options);
}

}  // namespace wisp
