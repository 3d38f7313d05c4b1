#include "collectives/collective.hpp"

namespace wisp {

namespace detail {
namespace {

using T = const Terms&;

constexpr Algorithm barrier_algorithms[] = {
    {"dissemination",
     [](T t) {
       return Cost{t.log2, 0, t.log2, t.p * t.log2, 0};
     },
     [](Channel channel, const Arguments&) { return barrier_dissemination(std::move(channel)); }},
    {"tree",
     [](T t) {
       return Cost{t.siblings_32 * t.depth_32 + 3 * t.depth_4, 0, t.depth_32 + t.depth_4, 2 * (t.p - 1), 0};
     },
     [](Channel channel, const Arguments&) { return barrier_tree(std::move(channel)); }}};

}  // namespace

constinit const Collective barrier_row{"barrier", barrier_algorithms};

}  // namespace detail

Operation barrier(const Comm& comm, const CollectiveOptions& options) {
  constexpr const char* call = "wisp::barrier";
  detail::check_member(comm, call);
  return detail::make_operation(comm, call, detail::barrier_row, {}, options);
}

}  // namespace wisp
