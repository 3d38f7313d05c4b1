// The collectives of a chain: their plans and faces.

#include "chain/algorithms.hpp"
#include "chain/link.hpp"
#include "collectives/plan.hpp"
#include "transport/throw_error.hpp"
#include "wisp/split.hpp"

namespace wisp {

namespace detail {
namespace {

const Chain& comm_of(const Chain& chain) {
  return chain;
}

template <class Run>
Task<> run_on(Link link, const Plan<Run>& plan) {
  if (link.world().checks_calls()) [[unlikely]]
    return run_checked(std::move(link), plan.call, plan.alike, plan.run);
  return plan.run(std::move(link));
}

template <class Run>
Task<> task_of(const Chain& chain, const ChainOptions& options, Plan<Run> plan) {
  return run_on(ChainAccess::link(chain, plan.call, options.own_tag), plan);
}

template <class Run>
Request persistent(const Chain& chain, const ChainOptions& options, Plan<Run> plan) {
  return {std::function<Task<>()>([link = ChainAccess::persistent_link(chain, plan.call, options.own_tag),
                                   plan = std::move(plan)] { return run_on(link, plan); }),
          ChainAccess::context(chain)};
}

/// An operator, and vectors that consist of its items.
void check_operator(const char* call, const Operator& op, const ConstBuffer& vector) {
  if (op.is_null()) throw_error(MPI_ERR_OP, "{}: op = MPI_OP_NULL", call);
  if (op.item_bytes() <= 1) return;
  const TypeLayout layout = TypeLayout::of(vector.type);
  const auto extent = static_cast<MPI_Aint>(layout.size);
  if (layout.true_lower != 0 || layout.extent != extent || layout.true_extent != extent) {
    throw_error(MPI_ERR_TYPE, "{}: the datatype has gaps, but the operator's items have none", call);
  }
  if (vector.count * layout.size % op.item_bytes() != 0) {
    throw_error(MPI_ERR_COUNT, "{}: send has {} bytes, not a multiple of the operator's items of {}", call,
                vector.count * layout.size, op.item_bytes());
  }
}

void check_root(const Chain& chain, const char* call, int root) {
  check_within(MPI_ERR_ROOT, call, "root", root, 0, chain.size() - 1);
}

/// The input of a scan or reduction to `receive`, after all checks.
ConstBuffer checked_input(const Chain& chain, const char* call, const ConstBuffer& send,
                          const Buffer& receive, const Operator& op) {
  check_usable(chain, call);
  const ConstBuffer input = detail::checked_input(call, send, receive);
  check_operator(call, op, input);
  return input;
}

}  // namespace
}  // namespace detail

namespace {

using namespace detail;

auto plan_barrier(const Chain& chain, const ChainOptions&) {
  constexpr const char* call = "wisp::Chain::barrier";
  check_usable(chain, call);
  return Plan{call, [](Link link) { return chain_barrier(std::move(link)); }};
}

auto plan_bcast(const Chain& chain, const Buffer& buffer, int root, const ChainOptions&) {
  constexpr const char* call = "wisp::Chain::bcast";
  check_usable(chain, call);
  check_root(chain, call, root);
  check_buffer(call, "buffer", buffer);
  return Plan{call, Alike{.root = root, .bytes = signed_of(bytes_of(buffer))},
              [=](Link link) { return chain_bcast(std::move(link), buffer, root); }};
}

auto plan_reduce(const Chain& chain, const ConstBuffer& send, const Buffer& receive, const Operator& op,
                 int root, const ChainOptions&) {
  constexpr const char* call = "wisp::Chain::reduce";
  check_usable(chain, call);
  check_root(chain, call, root);
  ConstBuffer input = send;
  if (chain.rank() == root) {
    input = detail::checked_input(call, send, receive);
  } else {
    check_buffer(call, "send", send);
  }
  check_operator(call, op, input);
  return Plan{call, Alike{.root = root, .bytes = signed_of(bytes_of(input))},
              [=](Link link) { return chain_reduce(std::move(link), input, receive, op, root); }};
}

auto plan_allreduce(const Chain& chain, const ConstBuffer& send, const Buffer& receive, const Operator& op,
                    const ChainOptions&) {
  constexpr const char* call = "wisp::Chain::allreduce";
  const ConstBuffer input = checked_input(chain, call, send, receive, op);
  return Plan{call, Alike{.bytes = signed_of(bytes_of(input))},
              [=](Link link) { return chain_allreduce(std::move(link), input, receive, op); }};
}

/// A scan of whichever kind.
auto plan_of_scan(const char* call, const ConstBuffer& input, const ScanOutput& output, const Operator& op) {
  return Plan{call, Alike{.bytes = signed_of(bytes_of(input))},
              [=](Link link) { return chain_scan(std::move(link), input, output, op); }};
}

auto plan_scan(const Chain& chain, const ConstBuffer& send, const Buffer& receive, const Operator& op,
               const ChainOptions&) {
  constexpr const char* call = "wisp::Chain::scan";
  const ConstBuffer input = checked_input(chain, call, send, receive, op);
  return plan_of_scan(call, input, {receive, std::nullopt, true}, op);
}

auto plan_exscan(const Chain& chain, const ConstBuffer& send, const Buffer& receive, const Operator& op,
                 const ChainOptions&) {
  constexpr const char* call = "wisp::Chain::exscan";
  const ConstBuffer input = checked_input(chain, call, send, receive, op);
  return plan_of_scan(call, input, {receive, std::nullopt, false}, op);
}

auto plan_of_double_scan(const Chain& chain, const char* call, const ConstBuffer& send, const Buffer& before,
                         const Buffer& after, const Operator& op, bool is_inclusive) {
  check_usable(chain, call);
  check_buffer(call, "send", send);
  detail::checked_input(call, send, before);
  const ConstBuffer input = checked_input(chain, call, send, after, op);
  return plan_of_scan(call, input, {before, after, is_inclusive}, op);
}

auto plan_double_scan(const Chain& chain, const ConstBuffer& send, const Buffer& before, const Buffer& after,
                      const Operator& op, const ChainOptions&) {
  return plan_of_double_scan(chain, "wisp::Chain::double_scan", send, before, after, op, true);
}

auto plan_double_exscan(const Chain& chain, const ConstBuffer& send, const Buffer& before,
                        const Buffer& after, const Operator& op, const ChainOptions&) {
  return plan_of_double_scan(chain, "wisp::Chain::double_exscan", send, before, after, op, false);
}

auto plan_of_segmented_scan(const Chain& chain, const char* call, const Label& color, const ConstBuffer& send,
                            const Buffer& receive, const Operator& op, bool is_inclusive) {
  const ConstBuffer input = checked_input(chain, call, send, receive, op);
  if (color.is_undefined()) throw_error(MPI_ERR_ARG, "{}: color is undefined", call);
  const ScanOutput output{receive, std::nullopt, is_inclusive};
  return Plan{call, Alike{.bytes = signed_of(bytes_of(input))},
              [=, bytes = color.ordered_bytes(call, "color")](Link link) {
                return chain_segmented_scan(std::move(link), bytes, input, output, op);
              }};
}

auto plan_segmented_scan(const Chain& chain, const Label& color, const ConstBuffer& send,
                         const Buffer& receive, const Operator& op, const ChainOptions&) {
  return plan_of_segmented_scan(chain, "wisp::Chain::segmented_scan", color, send, receive, op, true);
}

auto plan_segmented_exscan(const Chain& chain, const Label& color, const ConstBuffer& send,
                           const Buffer& receive, const Operator& op, const ChainOptions&) {
  return plan_of_segmented_scan(chain, "wisp::Chain::segmented_exscan", color, send, receive, op, false);
}

auto plan_gather(const Chain& chain, const ConstBuffer& send, const Buffer& receive, int root,
                 const ChainOptions&) {
  constexpr const char* call = "wisp::Chain::gather";
  check_usable(chain, call);
  check_root(chain, call, root);
  if (chain.rank() == root) {
    check_regular(chain.size(), call, "send", send, "receive", receive);
  } else {
    check_buffer(call, "send", send);
  }
  const std::size_t all = chain.rank() == root ? bytes_of(receive) : 0;
  const std::size_t bytes =
      chain.rank() == root ? all / static_cast<std::size_t>(chain.size()) : bytes_of(send);
  return Plan{call, Alike{.root = root, .bytes = signed_of(bytes)},
              [=](Link link) { return chain_gather(std::move(link), send, receive, root); }};
}

auto plan_scatter(const Chain& chain, const ConstBuffer& send, const Buffer& receive, int root,
                  const ChainOptions&) {
  constexpr const char* call = "wisp::Chain::scatter";
  check_usable(chain, call);
  check_root(chain, call, root);
  if (chain.rank() == root) {
    check_regular(chain.size(), call, "receive", receive, "send", send);
  } else {
    check_buffer(call, "receive", receive);
  }
  const std::size_t all = chain.rank() == root ? bytes_of(send) : 0;
  const std::size_t bytes =
      chain.rank() == root ? all / static_cast<std::size_t>(chain.size()) : bytes_of(receive);
  return Plan{call, Alike{.root = root, .bytes = signed_of(bytes)},
              [=](Link link) { return chain_scatter(std::move(link), send, receive, root); }};
}

auto plan_allgather(const Chain& chain, const ConstBuffer& send, const Buffer& receive, const ChainOptions&) {
  constexpr const char* call = "wisp::Chain::allgather";
  check_usable(chain, call);
  check_regular(chain.size(), call, "send", send, "receive", receive);
  return Plan{call, Alike{.bytes = signed_of(bytes_of(receive))},
              [=](Link link) { return chain_allgather(std::move(link), send, receive); }};
}

}  // namespace

WISP_FACES_OF(Chain, ChainOptions, barrier, (), ())
WISP_FACES_OF(Chain, ChainOptions, bcast, (const Buffer& buffer, int root, ), (buffer, root, ))
WISP_FACES_OF(Chain, ChainOptions, reduce,
              (const ConstBuffer& send, const Buffer& receive, const Operator& op, int root, ),
              (send, receive, op, root, ))
WISP_FACES_OF(Chain, ChainOptions, allreduce,
              (const ConstBuffer& send, const Buffer& receive, const Operator& op, ), (send, receive, op, ))
WISP_FACES_OF(Chain, ChainOptions, scan,
              (const ConstBuffer& send, const Buffer& receive, const Operator& op, ), (send, receive, op, ))
WISP_FACES_OF(Chain, ChainOptions, exscan,
              (const ConstBuffer& send, const Buffer& receive, const Operator& op, ), (send, receive, op, ))
WISP_FACES_OF(Chain, ChainOptions, double_scan,
              (const ConstBuffer& send, const Buffer& before, const Buffer& after, const Operator& op, ),
              (send, before, after, op, ))
WISP_FACES_OF(Chain, ChainOptions, double_exscan,
              (const ConstBuffer& send, const Buffer& before, const Buffer& after, const Operator& op, ),
              (send, before, after, op, ))
WISP_FACES_OF(Chain, ChainOptions, segmented_scan,
              (const Label& color, const ConstBuffer& send, const Buffer& receive, const Operator& op, ),
              (color, send, receive, op, ))
WISP_FACES_OF(Chain, ChainOptions, segmented_exscan,
              (const Label& color, const ConstBuffer& send, const Buffer& receive, const Operator& op, ),
              (color, send, receive, op, ))
WISP_FACES_OF(Chain, ChainOptions, gather, (const ConstBuffer& send, const Buffer& receive, int root, ),
              (send, receive, root, ))
WISP_FACES_OF(Chain, ChainOptions, scatter, (const ConstBuffer& send, const Buffer& receive, int root, ),
              (send, receive, root, ))
WISP_FACES_OF(Chain, ChainOptions, allgather, (const ConstBuffer& send, const Buffer& receive, ),
              (send, receive, ))

}  // namespace wisp
