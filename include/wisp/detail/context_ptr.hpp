#pragma once

#include <utility>

namespace wisp::detail {

struct Context;
void retain(Context* context) noexcept;
void release(Context* context) noexcept;

/// Shares a communicator's context; counted by atomics only where MPI serves several threads at a time.
class ContextPtr {
 public:
  ContextPtr() = default;
  /// Takes over the one count of a new context.
  explicit ContextPtr(Context* context) noexcept : context_(context) {}
  ContextPtr(const ContextPtr& other) noexcept : context_(other.context_) {
    if (context_ != nullptr) retain(context_);
  }
  ContextPtr(ContextPtr&& other) noexcept : context_(std::exchange(other.context_, nullptr)) {}
  ContextPtr& operator=(ContextPtr other) noexcept {
    std::swap(context_, other.context_);
    return *this;
  }
  ~ContextPtr() {
    if (context_ != nullptr) release(context_);
  }

  Context* get() const noexcept { return context_; }
  Context* operator->() const noexcept { return context_; }
  explicit operator bool() const noexcept { return context_ != nullptr; }

 private:
  Context* context_ = nullptr;
};

}  // namespace wisp::detail
