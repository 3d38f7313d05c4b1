#pragma once

#include <fmt/core.h>

#include <string>

#include "wisp/error.hpp"

// Texts with values in them. Only error.cpp compiles fmt; everybody else includes its declarations.

namespace wisp::detail {

std::string format_arguments(fmt::string_view text, fmt::format_args arguments);

template <class... Arguments>
std::string formatted(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  return detail::format_arguments(text, fmt::make_format_args(arguments...));
}

/// Throws an Error of this class with the formatted text.
template <class... Arguments>
[[noreturn]] void throw_error(int error_class, fmt::format_string<Arguments...> text,
                              Arguments&&... arguments) {
  throw Error(error_class, detail::format_arguments(text, fmt::make_format_args(arguments...)));
}

/// The elements with ", " or another separator between them.
template <class List>
std::string joined(const List& list, std::string_view separator = ", ") {
  std::string text;
  for (const auto& element : list) {
    if (!text.empty()) text += separator;
    text += formatted("{}", element);
  }
  return text;
}

}  // namespace wisp::detail
