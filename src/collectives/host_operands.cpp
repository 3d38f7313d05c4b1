#include "collectives/host_operands.hpp"

#include <cstring>
#include <memory>

#include "transport/type_layout.hpp"

namespace wisp::detail {
namespace {

ScratchVector copy_of(const ConstBuffer& of) {
  if (of.count == 0) return {};
  const TypeLayout layout = TypeLayout::of(of.type);
  ScratchVector copy(layout, of.count);
  copy_elements(of.address, copy.data(), of.count, of.type, layout);
  return copy;
}

/// Without what is between elements.
ScratchVector packed(const ScratchVector& vector, const Buffer& like, const TypeLayout& layout) {
  ScratchVector bytes(like.count * layout.size);
  pack({vector.data(), like.count, like.type}, layout, bytes.data());
  return bytes;
}

}  // namespace

HostOperands::Result HostOperands::result_in(const Buffer& to, const Arguments& given) {
  if (to.count == 0) return {};
  const TypeLayout layout = TypeLayout::of(to.type);
  if (is_in_place(given.send)) return {copy_of(to), {}};
  if (given.is_inclusive) return {ScratchVector(layout, to.count), {}};
  Result result{copy_of(to), {}};
  result.before = packed(result.copy, to, layout);
  return result;
}

void HostOperands::write_back(const Result& result, const Buffer& to) {
  if (!result.copy.exists()) return;
  const TypeLayout layout = TypeLayout::of(to.type);
  if (result.before.exists()) {
    const ScratchVector now = packed(result.copy, to, layout);
    if (std::memcmp(now.data(), result.before.data(), now.bytes()) == 0) return;
  }
  copy_elements(result.copy.data(), to.address, to.count, to.type, layout);
}

HostOperands::HostOperands(const Arguments& given)
    : given_(given),
      on_host_(given),
      send_(copy_of(given.send)),
      receive_(result_in(given.receive, given)),
      second_(result_in(given.second, given)) {
  if (send_.exists()) on_host_.send.address = send_.data();
  if (receive_.copy.exists()) on_host_.receive.address = receive_.copy.data();
  if (second_.copy.exists()) on_host_.second.address = second_.copy.data();
  if (!given.more || !given.more->send) return;
  Arguments::More more = *given.more;
  more.send->address = on_host_.send.address;
  on_host_.more = std::make_shared<const Arguments::More>(std::move(more));
}

void HostOperands::write_back() const {
  write_back(receive_, given_.receive);
  write_back(second_, given_.second);
}

}  // namespace wisp::detail
