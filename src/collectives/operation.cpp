#include "wisp/operation.hpp"

#include "collectives/operation_body.hpp"
#include "comm/world.hpp"

namespace wisp {

[[gnu::hot]] Operation::Operation(std::unique_ptr<detail::OperationBody> body) noexcept
    : body_(std::move(body)) {}
Operation::Operation(Operation&&) noexcept = default;
Operation& Operation::operator=(Operation&&) noexcept = default;
[[gnu::hot]] Operation::~Operation() = default;

[[gnu::hot]] void Operation::run() const {
  const detail::EngineLock lock = detail::lock(body_->context(), "wisp::Operation::run");
  detail::run_to_end(body_->context(), body_->begin(), detail::Awaits::its_context);
}

[[gnu::hot]] Request Operation::start() const {
  const detail::EngineLock lock = detail::lock(body_->context(), "wisp::Operation::start");
  return {Task<>(*this), body_->context()};
}

Request Operation::persistent() && {
  const detail::EngineLock lock = detail::lock(body_->context(), "wisp::Operation::persistent");
  body_->keep_arguments();
  body_->prepare_to_repeat();
  detail::ContextPtr context = body_->context();
  std::shared_ptr<const detail::OperationBody> body = std::move(body_);
  return Request::persistent([body = std::move(body)] { return body->begin(); }, std::move(context));
}

Operation::operator Task<>() const {
  return body_->begin_with_own_arguments();
}

}  // namespace wisp
