// The collectives of a chain: their arguments, checked.

#include "chain/algorithms.hpp"
#include "chain/link.hpp"
#include "collectives/block_list.hpp"
#include "collectives/checks.hpp"
#include "transport/throw_error.hpp"
#include "wisp/split.hpp"

namespace wisp {

namespace detail {

/// Each operation uses those that it has.
struct ChainArguments {
  ConstBuffer send = {};
  Buffer receive = {};
  std::optional<Buffer> after = {};  ///< of a scan in both directions
  Operator op = MPI_OP_NULL;
  int root = -1;            ///< -1: none
  std::int64_t bytes = -1;  ///< as all ranks know them
  bool is_inclusive = true;
  std::vector<std::byte> color = {};

  ScanOutput output() const { return {receive, after, is_inclusive}; }
};

struct ChainRun {
  Task<> (*run)(Link link, const ChainArguments& given);
  ChainArguments given;

  Task<> operator()(Link link) const { return run(std::move(link), given); }
  void prepare_to_repeat() {}
  Alike alike() const { return {.root = given.root, .bytes = given.bytes}; }
  void replace_types(KeptTypes& types) {
    types.replace(given.send);
    types.replace(given.receive);
    if (given.after) types.replace(*given.after);
  }
};

namespace {

Operation make(const Chain& chain, const char* call, const ChainOptions& options,
               Task<> (*run)(Link link, const ChainArguments& given), ChainArguments&& given) {
  return operation_on<ChainRun>(chain, call, options.own_tag, run, std::move(given));
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

Task<> run_scan(Link link, const ChainArguments& given) {
  return chain_scan(std::move(link), given.send, given.output(), given.op);
}

Operation scan_of(const Chain& chain, const char* call, const ConstBuffer& send, const Buffer& receive,
                  const Operator& op, const ChainOptions& options, bool is_inclusive) {
  const ConstBuffer input = checked_input(chain, call, send, receive, op);
  return make(chain, call, options, run_scan,
              {.send = input,
               .receive = receive,
               .op = op,
               .bytes = signed_of(bytes_of(input)),
               .is_inclusive = is_inclusive});
}

Operation double_scan_of(const Chain& chain, const char* call, const ConstBuffer& send, const Buffer& before,
                         const Buffer& after, const Operator& op, const ChainOptions& options,
                         bool is_inclusive) {
  check_usable(chain, call);
  check_buffer(call, "send", send);
  detail::checked_input(call, send, before);
  const ConstBuffer input = checked_input(chain, call, send, after, op);
  return make(chain, call, options, run_scan,
              {.send = input,
               .receive = before,
               .after = after,
               .op = op,
               .bytes = signed_of(bytes_of(input)),
               .is_inclusive = is_inclusive});
}

Operation segmented_scan_of(const Chain& chain, const char* call, const Label& color, const ConstBuffer& send,
                            const Buffer& receive, const Operator& op, const ChainOptions& options,
                            bool is_inclusive) {
  const ConstBuffer input = checked_input(chain, call, send, receive, op);
  if (color.is_undefined()) throw_error(MPI_ERR_ARG, "{}: color is undefined", call);
  const auto run = [](Link link, const ChainArguments& given) {
    return chain_segmented_scan(std::move(link), given.color, given.send, given.output(), given.op);
  };
  return make(chain, call, options, run,
              {.send = input,
               .receive = receive,
               .op = op,
               .bytes = signed_of(bytes_of(input)),
               .is_inclusive = is_inclusive,
               .color = color.ordered_bytes(call, "color")});
}

/// Bytes of a block, of which the side at the root has size().
std::int64_t bytes_of_block(const Chain& chain, int root, const ConstBuffer& all, const ConstBuffer& own) {
  return signed_of(chain.rank() == root ? bytes_of(all) / static_cast<std::size_t>(chain.size())
                                        : bytes_of(own));
}

}  // namespace
}  // namespace detail

using namespace detail;

Operation barrier(const Chain& chain, const ChainOptions& options) {
  constexpr const char* call = "wisp::Chain::barrier";
  check_usable(chain, call);
  const auto run = [](Link link, const ChainArguments&) { return chain_barrier(std::move(link)); };
  return make(chain, call, options, run, {});
}

Operation bcast(const Chain& chain, const Buffer& buffer, int root, const ChainOptions& options) {
  constexpr const char* call = "wisp::Chain::bcast";
  check_usable(chain, call);
  check_root(chain, call, root);
  check_buffer(call, "buffer", buffer);
  const auto run = [](Link link, const ChainArguments& given) {
    return chain_bcast(std::move(link), given.receive, given.root);
  };
  return make(chain, call, options, run,
              {.receive = buffer, .root = root, .bytes = signed_of(bytes_of(buffer))});
}

Operation reduce(const Chain& chain, const ConstBuffer& send, const Buffer& receive, const Operator& op,
                 int root, const ChainOptions& options) {
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
  const auto run = [](Link link, const ChainArguments& given) {
    return chain_reduce(std::move(link), given.send, given.receive, given.op, given.root);
  };
  return make(
      chain, call, options, run,
      {.send = input, .receive = receive, .op = op, .root = root, .bytes = signed_of(bytes_of(input))});
}

Operation allreduce(const Chain& chain, const ConstBuffer& send, const Buffer& receive, const Operator& op,
                    const ChainOptions& options) {
  constexpr const char* call = "wisp::Chain::allreduce";
  const ConstBuffer input = checked_input(chain, call, send, receive, op);
  const auto run = [](Link link, const ChainArguments& given) {
    return chain_allreduce(std::move(link), given.send, given.receive, given.op);
  };
  return make(chain, call, options, run,
              {.send = input, .receive = receive, .op = op, .bytes = signed_of(bytes_of(input))});
}

Operation scan(const Chain& chain, const ConstBuffer& send, const Buffer& receive, const Operator& op,
               const ChainOptions& options) {
  return scan_of(chain, "wisp::Chain::scan", send, receive, op, options, true);
}

Operation exscan(const Chain& chain, const ConstBuffer& send, const Buffer& receive, const Operator& op,
                 const ChainOptions& options) {
  return scan_of(chain, "wisp::Chain::exscan", send, receive, op, options, false);
}

Operation double_scan(const Chain& chain, const ConstBuffer& send, const Buffer& before, const Buffer& after,
                      const Operator& op, const ChainOptions& options) {
  return double_scan_of(chain, "wisp::Chain::double_scan", send, before, after, op, options, true);
}

Operation double_exscan(const Chain& chain, const ConstBuffer& send, const Buffer& before,
                        const Buffer& after, const Operator& op, const ChainOptions& options) {
  return double_scan_of(chain, "wisp::Chain::double_exscan", send, before, after, op, options, false);
}

Operation segmented_scan(const Chain& chain, const Label& color, const ConstBuffer& send,
                         const Buffer& receive, const Operator& op, const ChainOptions& options) {
  return segmented_scan_of(chain, "wisp::Chain::segmented_scan", color, send, receive, op, options, true);
}

Operation segmented_exscan(const Chain& chain, const Label& color, const ConstBuffer& send,
                           const Buffer& receive, const Operator& op, const ChainOptions& options) {
  return segmented_scan_of(chain, "wisp::Chain::segmented_exscan", color, send, receive, op, options, false);
}

Operation gather(const Chain& chain, const ConstBuffer& send, const Buffer& receive, int root,
                 const ChainOptions& options) {
  constexpr const char* call = "wisp::Chain::gather";
  check_usable(chain, call);
  check_root(chain, call, root);
  if (chain.rank() == root) {
    check_regular(chain.size(), call, "send", send, "receive", receive);
  } else {
    check_buffer(call, "send", send);
  }
  const auto run = [](Link link, const ChainArguments& given) {
    return chain_gather(std::move(link), given.send, given.receive, given.root);
  };
  return make(
      chain, call, options, run,
      {.send = send, .receive = receive, .root = root, .bytes = bytes_of_block(chain, root, receive, send)});
}

Operation scatter(const Chain& chain, const ConstBuffer& send, const Buffer& receive, int root,
                  const ChainOptions& options) {
  constexpr const char* call = "wisp::Chain::scatter";
  check_usable(chain, call);
  check_root(chain, call, root);
  if (chain.rank() == root) {
    check_regular(chain.size(), call, "receive", receive, "send", send);
  } else {
    check_buffer(call, "receive", receive);
  }
  const auto run = [](Link link, const ChainArguments& given) {
    return chain_scatter(std::move(link), given.send, given.receive, given.root);
  };
  return make(
      chain, call, options, run,
      {.send = send, .receive = receive, .root = root, .bytes = bytes_of_block(chain, root, send, receive)});
}

Operation allgather(const Chain& chain, const ConstBuffer& send, const Buffer& receive,
                    const ChainOptions& options) {
  constexpr const char* call = "wisp::Chain::allgather";
  check_usable(chain, call);
  check_regular(chain.size(), call, "send", send, "receive", receive);
  const auto run = [](Link link, const ChainArguments& given) {
    return chain_allgather(std::move(link), given.send, given.receive);
  };
  return make(chain, call, options, run,
              {.send = send, .receive = receive, .bytes = signed_of(bytes_of(receive))});
}

}  // namespace wisp
