#include "transport/type_layout.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "transport/device_memory.hpp"
#include "transport/mpi_process.hpp"
#include "transport/throw_error.hpp"

namespace wisp::detail {
namespace {

// MPICH 4.0 packs up to 255 bytes too few once there are hundreds of datatypes, from types whose data lie in
// order and without gaps.
void pack_rest(const std::byte* address, const TypeLayout& layout, int packed, int bytes, std::byte* to) {
  if (layout.extent != layout.true_extent || layout.size != as_size(layout.extent)) {
    throw_error(MPI_ERR_INTERN, "MPI_Pack packed {} of {} bytes", packed, bytes);
  }
  copy_bytes(to + packed, address + layout.true_lower + packed, as_size(bytes - packed));
}

// MPICH 4.0 takes no MPI_BOTTOM in MPI_Pack and MPI_Unpack: the same elements, seen from where the first
// begins.
class AddressedElements {
 public:
  AddressedElements(const void* address, MPI_Datatype type, const TypeLayout& layout)
      : address_(address), type_(type) {
    if (address != nullptr) [[likely]]
      return;
    constexpr int one = 1;
    const MPI_Aint back = -layout.true_lower;
    check_mpi(MPI_Type_create_hindexed(1, &one, &back, type, &type_), "MPI_Type_create_hindexed");
    is_made_ = true;
    check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
    address_ = reinterpret_cast<const void*>(layout.true_lower);
  }
  AddressedElements(const AddressedElements&) = delete;
  AddressedElements& operator=(const AddressedElements&) = delete;
  ~AddressedElements() {
    if (is_made_) MPI_Type_free(&type_);
  }

  const void* address() const { return address_; }
  MPI_Datatype type() const { return type_; }

 private:
  const void* address_;
  MPI_Datatype type_;
  bool is_made_ = false;
};

// MPI_Pack counts in int: larger vectors go in parts.
std::size_t part_of(const TypeLayout& layout) {
  if (layout.size > INT_MAX) {
    throw_error(MPI_ERR_TYPE,
                "a datatype of {} bytes is beyond the {} that MPI_Pack takes: give more elements of "
                "a smaller one",
                layout.size, INT_MAX);
  }
  return std::max<std::size_t>(1, (std::size_t{1} << 30) / std::max<std::size_t>(1, layout.size));
}

TypeLayout asked_of_mpi(MPI_Datatype type) {
  TypeLayout layout;
  MPI_Count size = 0;
  MPI_Aint lower = 0;
  check_mpi(MPI_Type_size_x(type, &size), "MPI_Type_size_x");
  check_mpi(MPI_Type_get_extent(type, &lower, &layout.extent), "MPI_Type_get_extent");
  check_mpi(MPI_Type_get_true_extent(type, &layout.true_lower, &layout.true_extent),
            "MPI_Type_get_true_extent");
  layout.size = as_size(size);
  if (layout.true_lower == 0 && layout.extent == size && layout.true_extent == size) {
    layout.contiguous = is_named(type);  // a derived type may still permute its bytes
  }
  return layout;
}

/// Those that are used less, of sizes that depend on a compiler's options: MPI is asked once for each.
[[gnu::noinline]] std::size_t other_plain_size_of(MPI_Datatype type) {
  static const MPI_Datatype types[] = {MPI_DOUBLE_PRECISION,
                                       MPI_INTEGER,
                                       MPI_REAL,
                                       MPI_LOGICAL,
                                       MPI_CHARACTER,
                                       MPI_COMPLEX,
                                       MPI_DOUBLE_COMPLEX,
                                       MPI_SHORT,
                                       MPI_INT16_T,
                                       MPI_UNSIGNED_SHORT,
                                       MPI_UINT16_T,
                                       MPI_SIGNED_CHAR,
                                       MPI_C_BOOL,
                                       MPI_CXX_BOOL,
                                       MPI_WCHAR,
                                       MPI_AINT,
                                       MPI_OFFSET,
                                       MPI_COUNT,
                                       MPI_C_FLOAT_COMPLEX,
                                       MPI_C_DOUBLE_COMPLEX,
                                       MPI_LONG_DOUBLE,
                                       MPI_2INT,
                                       MPI_FLOAT_INT};
  static std::array<std::atomic<std::size_t>, std::size(types)> sizes{};
  const auto found = std::ranges::find(types, type);
  if (found == std::end(types) || type == MPI_DATATYPE_NULL) return 0;
  std::atomic<std::size_t>& size = sizes[static_cast<std::size_t>(found - std::begin(types))];
  if (size.load(std::memory_order_relaxed) == 0 && has_mpi_world()) {
    if (const TypeLayout layout = asked_of_mpi(type); layout.contiguous)
      size.store(layout.size, std::memory_order_relaxed);
  }
  return size.load(std::memory_order_relaxed);
}

}  // namespace

[[gnu::hot]] std::size_t plain_size_of(MPI_Datatype type) {
  // Those that are used most come first.
  if (type == MPI_DOUBLE) return 8;
  if (type == MPI_INT || type == MPI_FLOAT) return 4;
  if (type == MPI_BYTE || type == MPI_CHAR) return 1;
  if (type == MPI_LONG || type == MPI_UNSIGNED_LONG) return sizeof(long);
  if (type == MPI_PACKED || type == MPI_UNSIGNED_CHAR || type == MPI_INT8_T || type == MPI_UINT8_T) return 1;
  if (type == MPI_UNSIGNED || type == MPI_INT32_T || type == MPI_UINT32_T) return 4;
  if (type == MPI_LONG_LONG || type == MPI_UNSIGNED_LONG_LONG || type == MPI_INT64_T ||
      type == MPI_UINT64_T) {
    return 8;
  }
  return other_plain_size_of(type);
}

TypeEnvelope envelope_of(MPI_Datatype type) {
  TypeEnvelope of;
#if MPI_VERSION >= 4  // the older call refuses datatypes that were made with large counts
  MPI_Count integers = 0, addresses = 0, types = 0;
  check_mpi(MPI_Type_get_envelope_c(type, &integers, &addresses, &of.large_counts, &types, &of.combiner),
            "MPI_Type_get_envelope_c");
  of.integers = static_cast<int>(integers);
  of.addresses = static_cast<int>(addresses);
  of.types = static_cast<int>(types);
#else
  check_mpi(MPI_Type_get_envelope(type, &of.integers, &of.addresses, &of.types, &of.combiner),
            "MPI_Type_get_envelope");
#endif
  return of;
}

[[gnu::hot]] TypeLayout TypeLayout::of(MPI_Datatype type) {
  if (const std::size_t plain = plain_size_of(type); plain > 0) {
    const auto extent = static_cast<MPI_Aint>(plain);
    return {.size = plain, .extent = extent, .true_lower = 0, .true_extent = extent, .contiguous = true};
  }
  return asked_of_mpi(type);
}

void check_many_fit(const char* call, const char* name, std::size_t count, MPI_Datatype type) {
  const TypeLayout layout = TypeLayout::of(type);
  const std::size_t widest = std::max({layout.size, as_size(std::abs(layout.extent)), std::size_t{1}});
  constexpr std::size_t addresses = std::size_t{1} << 57;  // that a process has at most
  if (count > addresses / widest) {
    throw_error(MPI_ERR_COUNT, "{}: {} has {} elements of {} bytes, more than memory can hold", call, name,
                count, widest);
  }
}

void check_made_type(const char* call, const char* name, MPI_Datatype type) {
  // To pack nothing is the cheapest that every MPI refuses.
  char nothing = 0;
  int position = 0;
  const SelfComm self;
  if (MPI_Pack(&nothing, 0, type, &nothing, 1, &position, self.get()) != MPI_SUCCESS) {
    throw_error(MPI_ERR_TYPE, "{}: the datatype of {} has not been committed", call, name);
  }
}

bool is_nowhere(const TypeLayout& layout, MPI_Aint displacement) {
  constexpr MPI_Aint first_page = 4096;
  return layout.size > 0 && displacement + layout.true_lower < first_page;
}

[[gnu::hot]] void check_address(const char* call, const char* name, const ConstBuffer& buffer) {
  check_fits(call, name, buffer.count, buffer.type);
  check_committed(call, name, buffer.type);
  if (buffer.address != nullptr || buffer.count == 0) [[likely]]
    return;
  if (is_nowhere(TypeLayout::of(buffer.type), 0)) {
    throw_error(MPI_ERR_BUFFER, "{}: {} is null, but has {} elements", call, name, buffer.count);
  }
}

bool are_on_device(const ConstBuffer& elements) {
  if (!knows_devices() || elements.count == 0 || elements.address == MPI_IN_PLACE) return false;
  return is_of_device(static_cast<const std::byte*>(elements.address) +
                      TypeLayout::of(elements.type).true_lower);
}

// An MPI looks at the elements alone to see whether they are on a device: what they are packed to is the
// host's.

void pack(const ConstBuffer& from, const TypeLayout& layout, std::byte* to) {
  if (layout.contiguous) {
    copy_bytes(to, from.address, from.count * layout.size);
    return;
  }
  if (layout.size == 0) return;
  if (is_of_device(to)) [[unlikely]] {
    const ScratchVector packed(from.count * layout.size);
    pack(from, layout, packed.data());
    copy_bytes(to, packed.data(), packed.bytes());
    return;
  }
  const std::size_t part = part_of(layout);
  const SelfComm self;
  for (std::size_t done = 0; done < from.count; done += part) {
    const std::size_t count = std::min(part, from.count - done);
    const auto bytes = static_cast<int>(count * layout.size);
    int position = 0;
    const auto* address =
        static_cast<const std::byte*>(from.address) + static_cast<MPI_Aint>(done) * layout.extent;
    const AddressedElements elements(address, from.type, layout);
    check_mpi(MPI_Pack(elements.address(), static_cast<int>(count), elements.type(), to + done * layout.size,
                       bytes, &position, self.get()),
              "MPI_Pack");
    if (position < bytes) pack_rest(address, layout, position, bytes, to + done * layout.size);
  }
}

void unpack(const std::byte* from, const Buffer& to, const TypeLayout& layout) {
  if (layout.contiguous) {
    copy_bytes(to.address, from, to.count * layout.size);
    return;
  }
  if (layout.size == 0) return;
  if (is_of_device(from)) [[unlikely]] {
    const ScratchVector packed(to.count * layout.size);
    copy_bytes(packed.data(), from, packed.bytes());
    unpack(packed.data(), to, layout);
    return;
  }
  const std::size_t part = part_of(layout);
  const SelfComm self;
  for (std::size_t done = 0; done < to.count; done += part) {
    const std::size_t count = std::min(part, to.count - done);
    const auto bytes = static_cast<int>(count * layout.size);
    int position = 0;
    const AddressedElements elements(element(to.address, done, layout), to.type, layout);
    check_mpi(MPI_Unpack(from + done * layout.size, bytes, &position, const_cast<void*>(elements.address()),
                         static_cast<int>(count), elements.type(), self.get()),
              "MPI_Unpack");
  }
}

bool unpack_message(const std::byte* from, std::size_t bytes, const Buffer& to, const TypeLayout& layout) {
  if (bytes > to.count * layout.size) return false;
  if (bytes == 0) return true;
  const std::size_t whole = bytes / layout.size;
  unpack(from, {to.address, whole, to.type}, layout);
  if (const std::size_t rest = bytes % layout.size; rest > 0) {
    const Buffer last(element(to.address, whole, layout), 1, to.type);
    const ScratchVector packed(layout.size);
    pack(last, layout, packed.data());
    std::memcpy(packed.data(), from + whole * layout.size, rest);
    unpack(packed.data(), last, layout);
  }
  return true;
}

[[gnu::hot]] void copy_elements(const void* from, void* to, std::size_t count, MPI_Datatype type,
                                const TypeLayout& layout) {
  if (count == 0) return;
  if (layout.contiguous) {
    copy_bytes(to, from, count * layout.size);
    return;
  }
  const ScratchVector packed(count * layout.size);
  pack({from, count, type}, layout, packed.data());
  unpack(packed.data(), {to, count, type}, layout);
}

}  // namespace wisp::detail
