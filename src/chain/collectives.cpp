// The collectives of a chain.

#include "chain/algorithms.hpp"
#include "chain/link.hpp"
#include "collectives/call.hpp"
#include "collectives/checks.hpp"
#include "collectives/host_operands.hpp"
#include "collectives/run_to_the_end.hpp"
#include "transport/throw_error.hpp"
#include "wisp/split.hpp"

namespace wisp {

namespace detail {

using ChainAlgorithm = Task<>(Link link, const Arguments& given);

struct ChainRun {
  ChainAlgorithm* run;
  Arguments given;

  Task<> operator()(Link link) const {
    const bool is_metered = given.is_metered(link.world());
    const bool is_on_device = given.is_joined_on_device();
    if (!is_metered && !is_on_device && !given.has_function()) [[likely]]
      return run(std::move(link), given);
    const Arguments for_one_run = is_metered ? given.metered(link.world()) : given;
    if (given.has_function()) return run_to_the_end(std::move(link), for_one_run, run);
    return is_on_device ? run_on_host(std::move(link), for_one_run, run) : run(std::move(link), for_one_run);
  }
  void prepare_to_repeat() {}
  Alike alike() const { return given.alike(""); }
  void own_arguments(KeptArguments& kept) { given.own_arguments(kept); }
};

namespace {

Call call_on(const Chain& chain, const char* name) {
  check_usable(chain, name);
  return {name, chain.rank(), chain.size()};
}

Operation make(const Chain& chain, const ChainOptions& options, Call&& call, ChainAlgorithm* run) {
  const EngineLock lock = detail::lock(ChainAccess::context(chain), call.name);
  check_defined(call.name, call.given.op.mpi_op(), call.given.type);
  return operation_on<ChainRun>(chain, call.name, options.own_tag, run, std::move(call.given));
}

Operation make_scan(const Chain& chain, Call&& call, const ChainOptions& options) {
  return make(chain, options, std::move(call), [](Link link, const Arguments& given) {
    return chain_scan(std::move(link), given.reduction(), given.is_inclusive);
  });
}

Operation make_double_scan(const Chain& chain, Call&& call, const ConstBuffer& send, const Buffer& before,
                           const Buffer& after, const Operator& op, const ChainOptions& options,
                           bool is_inclusive) {
  call.given.is_inclusive = is_inclusive;
  check_buffer(call.name, "send", send);
  for (const Buffer& result : {before, after}) {
    if (result.address == send.address && send.count > 0)
      throw_error(MPI_ERR_BUFFER, "{}: send is where a result goes", call.name);
  }
  const bool is_last = call.rank == call.size - 1;
  call.given.second = is_inclusive || !is_last ? after : unchanged_result(send, after);
  checked_input(call.name, send, call.given.second, "after");
  if (is_inclusive || call.rank > 0) checked_input(call.name, send, before, "before");
  if (is_inclusive || (call.rank > 0 && !is_last)) check_apart(call.name, "before", before, "after", after);
  is_inclusive ? call.reduction(send, before, op) : call.exclusive(send, before, op);
  return make(chain, options, std::move(call), [](Link link, const Arguments& given) {
    return chain_double_scan(std::move(link), given.reduction(), given.second, given.is_inclusive);
  });
}

Operation make_segmented_scan(const Chain& chain, Call&& call, const Label& color,
                              const ChainOptions& options) {
  if (color.is_undefined()) throw_error(MPI_ERR_ARG, "{}: color is undefined", call.name);
  call.more().color = color.ordered_bytes(call.name, "color");
  return make(chain, options, std::move(call), [](Link link, const Arguments& given) {
    return chain_segmented_scan(std::move(link), given.more->color, given.reduction(), given.is_inclusive);
  });
}

}  // namespace
}  // namespace detail

using namespace detail;

Operation barrier(const Chain& chain, const ChainOptions& options) {
  return make(chain, options, call_on(chain, "wisp::Chain::barrier"),
              [](Link link, const Arguments&) { return chain_barrier(std::move(link)); });
}

Operation bcast(const Chain& chain, const Buffer& buffer, int root, const ChainOptions& options) {
  return make(chain, options, call_on(chain, "wisp::Chain::bcast").root(root).vector(buffer),
              [](Link link, const Arguments& given) {
                return chain_bcast(std::move(link), given.receive, given.root);
              });
}

Operation reduce(const Chain& chain, const ConstBuffer& send, const Buffer& receive, const Operator& op,
                 int root, const ChainOptions& options) {
  return make(chain, options, call_on(chain, "wisp::Chain::reduce").root(root).reduction(send, receive, op),
              [](Link link, const Arguments& given) {
                return chain_reduce(std::move(link), given.reduction(), given.root);
              });
}

Operation allreduce(const Chain& chain, const ConstBuffer& send, const Buffer& receive, const Operator& op,
                    const ChainOptions& options) {
  return make(
      chain, options, call_on(chain, "wisp::Chain::allreduce").reduction(send, receive, op),
      [](Link link, const Arguments& given) { return chain_allreduce(std::move(link), given.reduction()); });
}

Operation scan(const Chain& chain, const ConstBuffer& send, const Buffer& receive, const Operator& op,
               const ChainOptions& options) {
  return make_scan(chain, call_on(chain, "wisp::Chain::scan").reduction(send, receive, op), options);
}

Operation exscan(const Chain& chain, const ConstBuffer& send, const Buffer& receive, const Operator& op,
                 const ChainOptions& options) {
  return make_scan(chain, call_on(chain, "wisp::Chain::exscan").exclusive(send, receive, op), options);
}

Operation double_scan(const Chain& chain, const ConstBuffer& send, const Buffer& before, const Buffer& after,
                      const Operator& op, const ChainOptions& options) {
  return make_double_scan(chain, call_on(chain, "wisp::Chain::double_scan"), send, before, after, op, options,
                          true);
}

Operation double_exscan(const Chain& chain, const ConstBuffer& send, const Buffer& before,
                        const Buffer& after, const Operator& op, const ChainOptions& options) {
  return make_double_scan(chain, call_on(chain, "wisp::Chain::double_exscan"), send, before, after, op,
                          options, false);
}

Operation segmented_scan(const Chain& chain, const Label& color, const ConstBuffer& send,
                         const Buffer& receive, const Operator& op, const ChainOptions& options) {
  return make_segmented_scan(
      chain, call_on(chain, "wisp::Chain::segmented_scan").reduction(send, receive, op), color, options);
}

Operation segmented_exscan(const Chain& chain, const Label& color, const ConstBuffer& send,
                           const Buffer& receive, const Operator& op, const ChainOptions& options) {
  return make_segmented_scan(
      chain, call_on(chain, "wisp::Chain::segmented_exscan").exclusive(send, receive, op), color, options);
}

Operation gather(const Chain& chain, const ConstBuffer& send, const Buffer& receive, int root,
                 const ChainOptions& options) {
  return make(chain, options, call_on(chain, "wisp::Chain::gather").root(root).gathering(send, receive),
              [](Link link, const Arguments& given) {
                return chain_gather(std::move(link), given.send, given.receive, given.root);
              });
}

Operation scatter(const Chain& chain, const ConstBuffer& send, const Buffer& receive, int root,
                  const ChainOptions& options) {
  return make(chain, options, call_on(chain, "wisp::Chain::scatter").root(root).scattering(send, receive),
              [](Link link, const Arguments& given) {
                return chain_scatter(std::move(link), given.send, given.receive, given.root);
              });
}

Operation allgather(const Chain& chain, const ConstBuffer& send, const Buffer& receive,
                    const ChainOptions& options) {
  return make(chain, options, call_on(chain, "wisp::Chain::allgather").gathering(send, receive),
              [](Link link, const Arguments& given) {
                return chain_allgather(std::move(link), given.send, given.receive);
              });
}

}  // namespace wisp
