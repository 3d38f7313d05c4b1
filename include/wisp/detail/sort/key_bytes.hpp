#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

// How keys travel: as they lie in memory, strings with their length in front. Of keys in order, strings leave
// out what they have in common with the one before.

namespace wisp::detail {

/// The characters that two strings begin with alike, from those on that are known to be.
std::size_t common_prefix(std::string_view a, std::string_view b, std::size_t from = 0);

template <class Key>
struct KeyBytes {
  static_assert(std::is_trivially_copyable_v<Key>);
  static constexpr std::size_t fixed = sizeof(Key);  ///< bytes of every key; 0 if they differ

  static void append(std::vector<std::byte>& to, const Key& key) {
    const std::size_t end = to.size();
    to.resize(end + sizeof(Key));
    std::memcpy(to.data() + end, &key, sizeof(Key));
  }
  static Key read(const std::byte*& from) {
    Key key;
    std::memcpy(&key, from, sizeof(Key));
    from += sizeof(Key);
    return key;
  }
};

template <>
struct KeyBytes<std::string> {
  static constexpr std::size_t fixed = 0;

  static void append(std::vector<std::byte>& to, std::string_view key) {
    KeyBytes<std::uint64_t>::append(to, key.size());
    const auto* bytes = reinterpret_cast<const std::byte*>(key.data());
    to.insert(to.end(), bytes, bytes + key.size());
  }
  static std::string read(const std::byte*& from) {
    const auto length = KeyBytes<std::uint64_t>::read(from);
    std::string key(reinterpret_cast<const char*>(from), length);
    from += length;
    return key;
  }
};

/// Keys that come in order.
template <class Key>
struct KeySequence {
  void append(std::vector<std::byte>& to, const Key& key) { KeyBytes<Key>::append(to, key); }
  Key read(const std::byte*& from) { return KeyBytes<Key>::read(from); }
};

template <>
struct KeySequence<std::string> {
  std::string last;

  void append(std::vector<std::byte>& to, const std::string& key) {
    const std::size_t common = common_prefix(last, key);
    KeyBytes<std::uint64_t>::append(to, common);
    KeyBytes<std::string>::append(to, std::string_view(key).substr(common));
    last = key;
  }
  std::string read(const std::byte*& from) {
    last.resize(KeyBytes<std::uint64_t>::read(from));
    last += KeyBytes<std::string>::read(from);
    return last;
  }
};

}  // namespace wisp::detail
