#pragma once

#include <cstdlib>

namespace wisp::test {

/// How many seeds of message delay a test tries: 100, or what WISP_TEST_SEEDS says (fewer under a sanitizer).
inline int seeds() {
  const char* text = std::getenv("WISP_TEST_SEEDS");
  return text != nullptr ? std::atoi(text) : 100;
}

}  // namespace wisp::test
