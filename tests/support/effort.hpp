#pragma once

#include <cstdlib>

namespace wisp::test {

/// How many seeds of message delay a test tries: 100, or what WISP_TEST_SEEDS says (fewer under a sanitizer).
inline int seeds() {
  const char* text = std::getenv("WISP_TEST_SEEDS");
  return text != nullptr ? std::atoi(text) : 100;
}

/// Whether somebody waits: `scripts/test` without --full.
inline bool is_quick() {
  return std::getenv("WISP_TEST_QUICK") != nullptr;
}

}  // namespace wisp::test
