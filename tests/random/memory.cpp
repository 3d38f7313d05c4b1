#include "random/memory.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace wisp::test {

std::size_t size_of(Base base) {
  constexpr std::array<std::size_t, 4> sizes = {1, 4, 8, 8};
  return sizes[static_cast<std::size_t>(base)];
}

MPI_Datatype type_of(Base base) {
  switch (base) {
    case Base::int8:
      return MPI_INT8_T;
    case Base::int32:
      return MPI_INT32_T;
    case Base::int64:
      return MPI_INT64_T;
    case Base::real:
      break;
  }
  return MPI_DOUBLE;
}

Layout layout_of(int kind, Base base, std::size_t count, bool may_lie_downwards) {
  const auto b = static_cast<std::ptrdiff_t>(size_of(base));
  Layout layout;
  layout.kind = kind;
  switch (kind) {
    case 1:
      layout = {{0, b, 2 * b}, 3 * b, kind};
      break;  // contiguous
    case 2:
      layout = {{0, 2 * b}, 3 * b, kind};
      break;  // a vector: a gap within
    case 3:
      layout = {{0, b, 2 * b, 3 * b}, 6 * b, kind};
      break;  // resized: a gap behind
    case 4:
      layout = {{b, 0}, 2 * b, kind};
      break;  // another order
    case 5:
      layout = {{-2 * b, 0, b}, 4 * b, kind};
      break;  // begins below its address
    case 6:
      layout = {{0, b}, -2 * b, kind};
      break;  // elements lie downwards
    case 7:
      layout = {{3 * b, 0, -b, b}, 7 * b, kind};
      break;  // everything at once
    default:
      layout = {{0}, b, 0};
  }
  if (layout.extent < 0 && !may_lie_downwards) layout = {{0, b}, 2 * b, 1};
  if (count % layout.cells.size() == 0) return layout;
  return kind % 2 == 0 ? Layout{{0}, b, 0} : Layout{{0}, 2 * b, 3};
}

OwnType::OwnType(const Layout& layout, Base base) : type_(type_of(base)) {
  if (layout.kind == 0) return;
  const MPI_Datatype element = type_;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  if (layout.kind == 1) {
    MPI_Type_contiguous(layout.size(), element, &made);
  } else if (layout.kind == 2) {
    MPI_Type_vector(layout.size(), 1, 2, element, &made);
  } else {
    std::vector<int> lengths(layout.cells.size(), 1);
    std::vector<MPI_Aint> places(layout.cells.begin(), layout.cells.end());
    std::vector<MPI_Datatype> types(layout.cells.size(), element);
    MPI_Datatype structure = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(layout.size(), lengths.data(), places.data(), types.data(), &structure);
    const std::ptrdiff_t lower = std::min<std::ptrdiff_t>(0, *std::ranges::min_element(layout.cells));
    MPI_Type_create_resized(structure, lower, layout.extent, &made);
    MPI_Type_free(&structure);
  }
  MPI_Type_commit(&made);
  type_ = made;
  is_made_ = true;
}

void OwnType::free() {
  if (std::exchange(is_made_, false)) MPI_Type_free(&type_);
}

Area::Area(Base base, std::vector<std::ptrdiff_t> offsets) : base_(base), offsets_(std::move(offsets)) {
  constexpr std::ptrdiff_t guard = 64;
  constexpr auto untouched = std::byte{0xa5};
  const auto b = static_cast<std::ptrdiff_t>(size_of(base));
  std::ptrdiff_t lower = 0;
  std::ptrdiff_t upper = 0;
  for (const std::ptrdiff_t offset : offsets_) {
    lower = std::min(lower, offset);
    upper = std::max(upper, offset + b);
  }
  origin_ = (guard - lower + 7) / 8 * 8;
  bytes_.assign(static_cast<std::size_t>(origin_ + upper + guard), untouched);
  expected_ = bytes_;
}

void Area::put(std::vector<std::byte>& image, std::size_t cell, std::int64_t value) const {
  std::byte* at = image.data() + origin_ + offsets_[cell];
  const auto as = [&](auto typed) { std::memcpy(at, &typed, sizeof typed); };
  switch (base_) {
    case Base::int8:
      return as(static_cast<std::int8_t>(value));
    case Base::int32:
      return as(static_cast<std::int32_t>(value));
    case Base::int64:
      return as(value);
    case Base::real:
      return as(static_cast<double>(value));
  }
}

std::int64_t Area::get(const std::vector<std::byte>& image, std::size_t cell) const {
  const std::byte* at = image.data() + origin_ + offsets_[cell];
  const auto as = [&](auto typed) {
    std::memcpy(&typed, at, sizeof typed);
    return static_cast<std::int64_t>(typed);
  };
  switch (base_) {
    case Base::int8:
      return as(std::int8_t{});
    case Base::int32:
      return as(std::int32_t{});
    case Base::int64:
      return as(std::int64_t{});
    case Base::real:
      break;
  }
  return as(double{});
}

std::string Area::difference() const {
  std::vector<std::byte> expected = expected_;
  for (const std::size_t cell : allowed_) put(expected, cell, get(bytes_, cell));
  if (bytes_ == expected) return {};
  for (std::size_t cell = 0; cell < offsets_.size(); ++cell) {
    const std::int64_t is = get(bytes_, cell);
    const std::int64_t due = get(expected, cell);
    if (is != due) {
      return "element " + std::to_string(cell) + " of " + std::to_string(offsets_.size()) + " is " +
             std::to_string(is) + " instead of " + std::to_string(due);
    }
  }
  const auto first = std::mismatch(bytes_.begin(), bytes_.end(), expected.begin()).first - bytes_.begin();
  return "the byte at " + std::to_string(first - origin_) + ", where no element is, has changed";
}

}  // namespace wisp::test
