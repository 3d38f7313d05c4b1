#pragma once

#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace wisp::test {

/// Words in the environment for the time of a test; null: none.
class Environment {
 public:
  explicit Environment(std::initializer_list<std::pair<const char*, const char*>> words) {
    for (const auto& [name, value] : words) {
      const char* before = std::getenv(name);
      before_.emplace_back(name, before != nullptr ? std::optional<std::string>(before) : std::nullopt);
      value != nullptr ? setenv(name, value, 1) : unsetenv(name);
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() {
    for (const auto& [name, value] : before_) value ? setenv(name, value->c_str(), 1) : unsetenv(name);
  }

 private:
  std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

}  // namespace wisp::test
