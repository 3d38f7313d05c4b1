#include "collectives/collective.hpp"

namespace wisp {

namespace detail {
namespace {

using T = const Terms&;

template <int radix_bits>
Task<> up_tree(Channel channel, const Arguments& given) {
  return gather_tree(std::move(channel), given.send_buffer(), given.receive_buffer(), given.root, radix_bits);
}

constexpr Algorithm gather_algorithms[] = {
    {"binomial",
     [](T t) {
       return Cost{t.log2, t.p * t.n, t.log2, t.p - 1, (1 + t.log2 / 2) * t.p * t.n};
     },
     up_tree<1>},
    {"radix_4",
     [](T t) {
       return Cost{3 * t.depth_4, t.p * t.n, t.depth_4, t.p - 1, (1 + t.depth_4 / 2) * t.p * t.n};
     },
     up_tree<2>},
    {"radix_32",
     [](T t) {
       const double received = t.siblings_32 * t.depth_32;
       return Cost{received, t.p * t.n, t.depth_32, t.p - 1, (1 + (t.depth_32 - 1)) * t.p * t.n};
     },
     up_tree<5>},
    {"direct", direct_cost, gather_directly}};

constexpr Alias gather_aliases[] = {{"ordered", "radix_4"}};

constexpr Algorithm gatherm_algorithms[] = {
    {"binomial", nullptr, [](Channel channel, const Arguments& given) {
       return gather_merge(std::move(channel), given.send_buffer(), given.receive_buffer(), given.root,
                           *given.merge);
     }}};

}  // namespace

constinit const Collective gather_row{"gather", gather_algorithms, gather_aliases};
constinit const Collective gatherm_row{"gatherm", gatherm_algorithms};

Task<> gather_directly(Channel channel, const Arguments& given) {
  if (channel.rank() != given.root) return send_block(std::move(channel), given.send_buffer(), given.root);
  const BlockList blocks = list_of(given.receive, channel.size());
  return gather_direct(std::move(channel), given.send_buffer(), blocks, given.root);
}

}  // namespace detail

Operation gather(const Comm& comm, const ConstBuffer& send, const Buffer& receive, int root,
                 const CollectiveOptions& options) {
  constexpr const char* call = "wisp::gather";
  detail::check_member(comm, call);
  detail::check_root(comm, call, root);
  const bool is_root = comm.rank() == root;
  if (is_root) {
    detail::check_regular(comm.size(), call, "send", send, "receive", receive);
  } else {
    detail::check_buffer(call, "send", send);
  }
  detail::Arguments given;
  given.send = ConstBlocks(send, {});
  given.receive = Blocks(receive, {});
  given.root = root;
  given.bytes = detail::signed_of(is_root ? detail::bytes_of(receive) / static_cast<std::size_t>(comm.size())
                                          : detail::bytes_of(send));
  return detail::make_operation(comm, call, detail::gather_row, std::move(given), options);
}

Operation gatherm(const Comm& comm, const ConstBuffer& send, const Buffer& receive, int root,
                  const Merge& merge, const CollectiveOptions& options) {
  constexpr const char* call = "wisp::gatherm";
  detail::check_member(comm, call);
  detail::check_root(comm, call, root);
  detail::check_merge(call, send, merge);
  if (comm.rank() == root) detail::check_buffer(call, "receive", receive);
  detail::Arguments given;
  given.send = ConstBlocks(send, {});
  given.receive = Blocks(receive, {});
  given.root = root;
  given.merge = std::make_shared<const Merge>(merge);
  return detail::make_operation(comm, call, detail::gatherm_row, std::move(given), options);
}

}  // namespace wisp
