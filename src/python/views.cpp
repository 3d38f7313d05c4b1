#include "python/views.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>

#include "python/mpi4py.hpp"
#include "transport/type_layout.hpp"
#include "wisp/detail/as_size.hpp"
#include "wisp/error.hpp"

namespace wisp::python {
namespace {

using detail::as_size;
using detail::TypeLayout;

bool is_list(nb::handle given) {
  return PyList_Check(given.ptr()) != 0 || PyTuple_Check(given.ptr()) != 0;
}

/// A datatype, or its character as NumPy has it.
bool names_datatype(nb::handle given) {
  return is_datatype(given) || PyUnicode_Check(given.ptr()) != 0;
}

MPI_Datatype named_datatype(nb::handle given, const Use& use) {
  if (PyUnicode_Check(given.ptr()) == 0) return datatype_in(given, use.argument);
  return datatype_called(nb::cast<std::string>(given), use.argument);
}

/// An error if a block, `place` bytes from the beginning, is not within so many bytes.
void check_within_bytes(std::size_t bytes, std::int64_t count, std::int64_t place, MPI_Datatype type,
                        std::size_t block, const char* argument) {
  if (count <= 0 || type == MPI_DATATYPE_NULL) return;
  const auto layout = TypeLayout::of(type);
  if (layout.size == 0) return;
  using Wide = long double;  // what is given may be anything
  const Wide last = Wide(count - 1) * Wide(layout.extent);
  const Wide begin = Wide(place) + Wide(layout.true_lower) + std::min<Wide>(last, 0);
  const Wide end = Wide(place) + Wide(layout.true_lower + layout.true_extent) + std::max<Wide>(last, 0);
  if (begin >= 0 && end <= Wide(bytes)) return;
  throw_value_error(std::string(argument) + ": block " + std::to_string(block) + ", " +
                    std::to_string(count) + " elements at byte " + std::to_string(place) +
                    ", is not within its " + std::to_string(bytes) + " bytes");
}

struct Items {
  nb::object buffer;
  nb::object count = nb::none();
  nb::object displacement = nb::none();
  nb::object datatype = nb::none();
  std::size_t numbers = 0;  ///< that were given, None or not
};

/// Of a list of 2 to 4, the last of which may be a datatype.
Items items_of(nb::handle given, const std::string& argument) {
  const std::size_t items = nb::len(given);
  if (items < 2 || items > 4)
    throw_value_error(argument + ": 2 to 4 items are expected, not " + std::to_string(items));
  Items found{given[0]};
  const nb::object last = given[items - 1];
  if (names_datatype(last)) {
    found.datatype = last;
  } else if (items == 4 && !last.is_none()) {
    throw_type_error(argument + ": its fourth item is no datatype");
  }
  found.numbers = items - (found.datatype.is_none() ? 1 : 2);
  if (found.numbers > 0) found.count = given[1];
  if (found.numbers > 1) found.displacement = given[2];
  return found;
}

}  // namespace

void Views::clear() noexcept {
  arrays_.clear();
  integers_.clear();
  types_.clear();
}

/// So many of the datatype as there is room for.
Elements Views::with_datatype(nb::handle given, nb::handle datatype, const Use& use) {
  const MPI_Datatype type = named_datatype(datatype, use);
  if (type == MPI_DATATYPE_NULL)
    throw Error(MPI_ERR_TYPE, std::string(use.argument) + ": the datatype is MPI.DATATYPE_NULL");
  Elements found = arrays_.bytes_of(given, use);
  const auto layout = TypeLayout::of(type);
  found.type = type;
  if (found.count == ConstBlocks::unknown_room) return found;
  if (layout.extent <= 0) {
    found.count = ConstBlocks::unknown_room;
    return found;
  }
  // The last one need not reach to the end of its extent.
  const auto bytes = static_cast<MPI_Aint>(found.count);
  const MPI_Aint end = layout.true_lower + layout.true_extent;
  found.count = bytes < end ? 0 : as_size(1 + (bytes - end) / layout.extent);
  return found;
}

/// mpi4py's: a buffer, [buffer, datatype], [buffer, count], [buffer, count, datatype],
/// [buffer, (count, displacement), datatype], [buffer, count, displacement, datatype].
Elements Views::message(nb::handle given, const Use& use) {
  if (!is_list(given)) return arrays_.elements(given, use);
  const auto argument = std::string(use.argument);
  auto [buffer, count, displacement, datatype, _] = items_of(given, argument);
  if (displacement.is_none() && is_list(count)) {
    if (nb::len(count) != 2) throw_value_error(argument + ": (count, displacement) is expected");
    displacement = count[1];
    count = count[0];
  }
  const Use whole = {use.argument, use.is_written, 1, use.is_reduced};
  Elements found =
      datatype.is_none() ? arrays_.elements(buffer, whole) : with_datatype(buffer, datatype, whole);
  const std::size_t room = found.count;
  const auto skipped = displacement.is_none() ? 0 : integer_in(displacement, use.argument);
  if (skipped < 0 || static_cast<std::size_t>(skipped) > room) {
    throw_value_error(argument + ": the displacement " + std::to_string(skipped) + " is outside its " +
                      std::to_string(room) + " elements");
  }
  found.address = static_cast<std::byte*>(found.address) + skipped * TypeLayout::of(found.type).extent;
  found.count = room - static_cast<std::size_t>(skipped);
  if (count.is_none()) {
    if (room == ConstBlocks::unknown_room)
      throw_value_error(argument + ": a count is needed, for nothing says how many there are");
    return found;
  }
  const auto wanted = integer_in(count, use.argument);
  if (wanted < 0) throw_value_error(argument + ": count = " + std::to_string(wanted) + " is negative");
  std::size_t all = 0;
  const bool is_beyond = __builtin_mul_overflow(static_cast<std::size_t>(wanted), as_size(use.blocks), &all);
  if (is_beyond || (room != ConstBlocks::unknown_room && all > found.count)) {
    const std::string each = use.blocks > 1 ? std::to_string(use.blocks) + " times " : "";
    throw_value_error(argument + ": " + (is_beyond ? each + std::to_string(wanted) : std::to_string(all)) +
                      " elements are more than the " + std::to_string(found.count) + " that are there");
  }
  found.count = all;
  return found;
}

Buffer Views::writable(nb::handle given, Use use) {
  if (given.is_none()) return {};
  if (is_in_place(given)) return in_place();
  use.is_written = true;
  const Elements found = message(given, use);
  return {found.address, found.count, found.type};
}

ConstBuffer Views::readable(nb::handle given, Use use) {
  if (given.is_none()) return {};
  if (is_in_place(given)) return in_place();
  const Elements found = message(given, use);
  return {found.address, found.count, found.type};
}

Integers Views::integers(nb::handle given, int ranks, const char* argument) {
  std::vector<std::int64_t>& numbers = integers_.emplace_back();
  if (PyIndex_Check(given.ptr()) != 0 && PySequence_Check(given.ptr()) == 0) {
    numbers.assign(as_size(ranks), integer_in(given, argument));
    return numbers;
  }
  const auto all = nb::steal(PySequence_Fast(given.ptr(), "an integer for each rank is expected"));
  if (!all.is_valid()) throw nb::python_error();
  for (const nb::handle one : all) numbers.push_back(integer_in(one, argument));
  if (numbers.size() != as_size(ranks)) {
    throw_value_error(std::string(argument) + ": " + std::to_string(numbers.size()) +
                      " counts or displacements for " + std::to_string(ranks) + " ranks");
  }
  return numbers;
}

/// mpi4py's: as of a message, with counts and displacements for each rank, or one count for all, and as a
/// displacement the distance of blocks. Without counts, blocks of the same size, the first ones with what is
/// left.
Blocks Views::blocks(nb::handle given, int ranks, const Use& use) {
  auto [buffer, counts, displacements, datatype, numbers] =
      is_list(given) ? items_of(given, use.argument) : Items{nb::borrow(given)};
  // As for mpi4py, a tuple there is the pair of counts and displacements; lists are counts.
  if (numbers == 1 && PyTuple_Check(counts.ptr()) != 0) {
    if (nb::len(counts) != 2)
      throw_value_error(std::string(use.argument) +
                        ": a tuple is (counts, displacements); a list has the counts");
    displacements = counts[1];
    counts = counts[0];
  }
  const Elements found =
      datatype.is_none() ? arrays_.elements(buffer, use) : with_datatype(buffer, datatype, use);
  Blocks made(Buffer(found.address, found.count, found.type), Integers());
  if (counts.is_none()) {
    std::vector<std::int64_t>& even = integers_.emplace_back();
    const std::size_t all = as_size(ranks);
    for (std::size_t i = 0; i < all; ++i)
      even.push_back(static_cast<std::int64_t>(found.count / all + (i < found.count % all ? 1 : 0)));
    made.counts = even;
  } else {
    made.counts = integers(counts, ranks, use.argument);
  }
  if (!displacements.is_none()) {
    made.displacements = integers(displacements, ranks, use.argument);
    if (PyIndex_Check(displacements.ptr()) != 0 && PySequence_Check(displacements.ptr()) == 0) {
      for (std::size_t i = 0; i < integers_.back().size(); ++i)
        integers_.back()[i] *= static_cast<std::int64_t>(i);
    }
  }
  return made;
}

/// Each a buffer of its own: one datatype at an absolute address, as behind MPI_BOTTOM.
Blocks Views::listed_blocks(nb::handle given, int ranks, const Use& use) {
  std::vector<std::int64_t>& counts = integers_.emplace_back();
  std::vector<std::int64_t>& places = integers_.emplace_back();
  std::vector<MPI_Datatype>& types = types_.emplace_back();
  if (nb::len(given) != as_size(ranks)) {
    throw_value_error(std::string(use.argument) + ": " + std::to_string(nb::len(given)) + " buffers for " +
                      std::to_string(ranks) + " blocks");
  }
  for (const nb::handle one : nb::borrow<nb::sequence>(given)) {
    const Elements found = one.is_none() ? Elements{} : message(one, use);
    MPI_Aint place = 0;
    if (found.count > 0) detail::check_mpi(MPI_Get_address(found.address, &place), "MPI_Get_address");
    counts.push_back(static_cast<std::int64_t>(found.count));
    places.push_back(place);
    types.push_back(found.type);
  }
  return {MPI_BOTTOM, counts, places, types};
}

Blocks Views::typed_blocks(nb::handle given, int ranks, const Use& use) {
  const auto argument = std::string(use.argument);
  if (!is_list(given))
    throw_type_error(argument +
                     ": [buffer, counts, displacements, datatypes] or a list of buffers is expected");
  const std::size_t items = nb::len(given);
  const nb::object last = items > 1 ? nb::object(given[items - 1]) : nb::none();
  const bool has_types = is_list(last) && (nb::len(last) > 0 ? names_datatype(last[0]) : ranks == 0);
  if (!has_types) return listed_blocks(given, ranks, use);
  nb::object counts = items > 2 ? nb::object(given[1]) : nb::none();
  nb::object displacements = items > 3 ? nb::object(given[2]) : nb::none();
  if (items == 3) {
    if (!is_list(counts) || nb::len(counts) != 2)
      throw_value_error(argument + ": (counts, displacements) are expected");
    displacements = counts[1];
    counts = counts[0];
  }
  std::vector<MPI_Datatype>& types = types_.emplace_back();
  for (const nb::handle one : nb::borrow<nb::sequence>(last)) types.push_back(named_datatype(one, use));
  if (types.size() != as_size(ranks)) {
    throw_value_error(argument + ": " + std::to_string(types.size()) + " datatypes for " +
                      std::to_string(ranks) + " blocks");
  }
  const Elements found = arrays_.bytes_of(given[0], use);
  const Integers of_block = integers(counts.is_none() ? nb::int_(1) : counts, ranks, use.argument);
  const Integers places =
      integers(displacements.is_none() ? nb::int_(0) : displacements, ranks, use.argument);
  for (std::size_t i = 0; i < types.size() && found.count != ConstBlocks::unknown_room; ++i)
    check_within_bytes(found.count, of_block[i], places[i], types[i], i, use.argument);
  return {found.address, of_block, places, types};
}

ConstBlocks Views::readable_blocks(nb::handle given, int ranks, Use use) {
  if (is_in_place(given)) return in_place();
  if (given.is_none()) return {};
  return use.is_typed ? typed_blocks(given, ranks, use) : blocks(given, ranks, use);
}

Blocks Views::writable_blocks(nb::handle given, int ranks, Use use) {
  if (given.is_none()) return {};
  use.is_written = true;
  return use.is_typed ? typed_blocks(given, ranks, use) : blocks(given, ranks, use);
}

}  // namespace wisp::python
