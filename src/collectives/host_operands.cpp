#include "collectives/host_operands.hpp"

#include <memory>

#include "transport/type_layout.hpp"

namespace wisp::detail {
namespace {

enum class Holds { nothing, elements };

ScratchVector host_vector(const ConstBuffer& of, Holds holds) {
  if (of.count == 0) return {};
  const TypeLayout layout = TypeLayout::of(of.type);
  ScratchVector copy(layout, of.count);
  if (holds == Holds::elements) copy_elements(of.address, copy.data(), of.count, of.type, layout);
  return copy;
}

void copy_back(const ScratchVector& from, const Buffer& to) {
  if (from.exists()) copy_elements(from.data(), to.address, to.count, to.type, TypeLayout::of(to.type));
}

}  // namespace

HostOperands::HostOperands(const Arguments& given) : given_(given), on_host_(given) {
  // Where nothing is before a rank, what it has for an exclusive sum stays as it is.
  const bool are_read = !given.is_inclusive || is_in_place(given.send);
  const Holds results = are_read ? Holds::elements : Holds::nothing;
  send_ = host_vector(given.send, Holds::elements);
  receive_ = host_vector(given.receive, results);
  second_ = host_vector(given.second, results);
  if (send_.exists()) on_host_.send.address = send_.data();
  if (receive_.exists()) on_host_.receive.address = receive_.data();
  if (second_.exists()) on_host_.second.address = second_.data();
  if (!given.more || !given.more->send) return;
  Arguments::More more = *given.more;
  more.send->address = on_host_.send.address;
  on_host_.more = std::make_shared<const Arguments::More>(std::move(more));
}

void HostOperands::write_back() const {
  copy_back(receive_, given_.receive);
  copy_back(second_, given_.second);
}

}  // namespace wisp::detail
