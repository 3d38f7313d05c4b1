#pragma once

#include <optional>
#include <string_view>

#include "random/operation.hpp"

// How an operation of a random program is called by its face: for the members of Running that prepare one.

namespace wisp::test {

inline std::optional<int> own_tag_of(const OperationSpec& spec) {
  if (!spec.has_own_tag) return std::nullopt;
  return spec.id % 60;
}

inline CollectiveOptions options_of(const OperationSpec& spec, std::string_view algorithm) {
  CollectiveOptions options;
  options.algorithm = algorithm;
  options.own_tag = own_tag_of(spec);
  return options;
}

inline ChainOptions chain_options_of(const OperationSpec& spec) {
  return {own_tag_of(spec)};
}

}  // namespace wisp::test

/// A call by its face; `on` is what it is a member of.
#define WISP_CALL(on, name, ...)                                  \
  [=, this](Face face, const auto& options) -> Request {          \
    switch (face) {                                               \
      case Face::task:                                            \
        return comm_.start(wisp::name(on, __VA_ARGS__, options)); \
      case Face::persistent:                                      \
        return on.name##_init(__VA_ARGS__, options);              \
      case Face::blocking:                                        \
        on.name(__VA_ARGS__, options);                            \
        return {};                                                \
      default:                                                    \
        return on.i##name(__VA_ARGS__, options);                  \
    }                                                             \
  }

// Of a call that chains have too, and of one that they have not.
#define WISP_LAUNCH_BOTH(name, ...)                                                                 \
  launch_ = [=, this](Face face, std::string_view algorithm) -> Request {                           \
    if (spec_.on_chain) return WISP_CALL(chain_, name, __VA_ARGS__)(face, chain_options_of(spec_)); \
    return WISP_CALL(comm_, name, __VA_ARGS__)(face, options_of(spec_, algorithm));                 \
  }
#define WISP_LAUNCH(name, ...)                                                      \
  launch_ = [=, this](Face face, std::string_view algorithm) -> Request {           \
    return WISP_CALL(comm_, name, __VA_ARGS__)(face, options_of(spec_, algorithm)); \
  }
#define WISP_LAUNCH_CHAIN(name, ...)                                            \
  launch_ = [=, this](Face face, std::string_view) -> Request {                 \
    return WISP_CALL(chain_, name, __VA_ARGS__)(face, chain_options_of(spec_)); \
  }
