#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "wisp/buffer.hpp"
#include "wisp/error.hpp"

namespace wisp {

namespace detail {
/// Elements in memory, of their data without gaps.
void unpack_elements(const std::byte* from, const Buffer& to);
}  // namespace detail

/// A block for a rank that need not know of it.
struct Outgoing {
  int destination = 0;
  ConstBuffer block;
};

/// What an exchange has brought: blocks by the rank of their sender, those of a sender in the order in which
/// it gave them.
class Arrivals {
 public:
  struct Block {
    int source = -1;
    std::vector<std::byte> bytes;  ///< the elements' data without gaps, in the order of their datatype

    /// The same as elements, if they are so many.
    template <class T>
    std::vector<T> as() const {
      static_assert(std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T> &&
                    !std::is_same_v<T, bool>);
      constexpr bool is_as_in_memory = !HasMembers<T>;
      std::size_t size = sizeof(T);
      if constexpr (!is_as_in_memory) size = detail::bytes_in(1, datatype_of<T>());
      if (bytes.size() % size != 0) {
        throw Error(MPI_ERR_TYPE, "wisp::Arrivals: rank " + std::to_string(source) + " sent " +
                                      std::to_string(bytes.size()) + " bytes, no multiple of an element's " +
                                      std::to_string(size));
      }
      std::vector<T> elements(bytes.size() / size);
      if constexpr (is_as_in_memory) {
        if (!bytes.empty()) std::memcpy(elements.data(), bytes.data(), bytes.size());
      } else {
        detail::unpack_elements(bytes.data(), elements);
      }
      return elements;
    }
  };

  std::size_t size() const { return blocks_.size(); }
  bool empty() const { return blocks_.empty(); }
  const Block& operator[](std::size_t i) const { return blocks_[i]; }
  auto begin() const { return blocks_.begin(); }
  auto end() const { return blocks_.end(); }

  /// For the exchange: room for a block that is to come, null for one of nothing.
  std::byte* add(int source, std::size_t bytes) {
    return blocks_.emplace_back(Block{source, std::vector<std::byte>(bytes)}).bytes.data();
  }
  void clear() { blocks_.clear(); }
  /// By source, in the order of adding.
  void sort();

 private:
  std::vector<Block> blocks_;
};

}  // namespace wisp
