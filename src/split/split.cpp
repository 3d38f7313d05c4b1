// The choice of an algorithm, and the faces of the generalized split.

#include "wisp/split.hpp"

#include <algorithm>
#include <utility>

#include "pattern/hash_bytes.hpp"
#include "split/algorithms.hpp"
#include "split/choice.hpp"
#include "transport/throw_error.hpp"

namespace wisp {

namespace detail {
namespace {

struct Entry {
  std::string_view name;
  Task<ChainPlace> (*run)(Link link, const SplitCase& of) = nullptr;
  /// Or one of so many items: that a leader has (Cheng), below which they are gathered (hash).
  Task<ChainPlace> (*run_with)(Link link, const SplitCase& of, int items) = nullptr;
  int items = 0;

  Task<ChainPlace> start(Link link, const SplitCase& of) const {
    return run != nullptr ? run(std::move(link), of) : run_with(std::move(link), of, items);
  }
};

constexpr Entry table[] = {{"allgather", split_allgather},
                           {"allgather-mpi", split_allgather_mpi},
                           {"gather-scatter", split_gather_scatter},
                           {"cheng-128", nullptr, split_cheng, 128},
                           {"cheng-256", nullptr, split_cheng, 256},
                           {"cheng-512", nullptr, split_cheng, 512},
                           {"cheng-1024", nullptr, split_cheng, 1024},
                           {"cheng-2048", nullptr, split_cheng, 2048},
                           {"cheng-4096", nullptr, split_cheng, 4096},
                           {"cheng-8192", nullptr, split_cheng, 8192},
                           {"bitonic", split_bitonic},
                           {"radix", split_radix},
                           {"hash", nullptr, split_hash, 0},
                           {"hash-64", nullptr, split_hash, 64}};

/// Labels whose length only their rank knows count as so long.
constexpr std::size_t typical_text_bytes = 32;

SplitQuestion question_of(int ranks, const SplitField& color, const SplitField& key) {
  SplitQuestion asked;
  asked.ranks = ranks;
  asked.splits = color.is_given;
  asked.orders = key.is_given;
  asked.are_integers = (!color.is_given || color.is_integer) && (!key.is_given || key.is_integer);
  asked.has_hash = !color.order.compare || color.order.hash;
  asked.has_texts = color.has_own_length || key.has_own_length;
  constexpr std::size_t rank_and_address = 13;
  asked.item_bytes = rank_and_address;
  for (const SplitField* field : {&color, &key}) {
    asked.item_bytes += field->has_own_length ? typical_text_bytes : field->bytes.size();
  }
  return asked;
}

const Machine& machine_of(const Chain& chain) {
  return ChainAccess::context(chain)->world->machine();
}

/// Throws unless the algorithm can do what is asked.
void check_allowed(const char* call, std::string_view name, const SplitQuestion& asked, const Chain& chain) {
  const auto refuse = [&](const char* why) {
    throw_error(MPI_ERR_ARG, "{}: algorithm = {} {}", call, name, why);
  };
  if (name == "radix" && !asked.are_integers) {
    refuse("needs integers of at most 8 bytes, without an Order, as color and key");
  }
  if (name.starts_with("hash") && !asked.has_hash) refuse("needs a hash in a color_order with a compare");
  if (name != "allgather-mpi") return;
  const Context& context = *ChainAccess::context(chain).get();
  if (context.world->mpi_comm() == MPI_COMM_NULL) refuse("needs MPI, which a simulated cluster has not");
  if (context.counters == &context.own_counters) {
    refuse("needs the communicator of all ranks that Comm::duplicate or attach gives");
  }
}

const Entry& entry_named(const char* call, std::string_view name) {
  const auto found =
      std::find_if(std::begin(table), std::end(table), [&](const Entry& e) { return e.name == name; });
  if (found != std::end(table)) return *found;
  throw_error(MPI_ERR_ARG, "{}: algorithm = {} is none of {}", call, name, joined(split_algorithms(), ", "));
}

SplitField field_of(const char* call, const char* argument, const Label& label, const Order& order) {
  SplitField field;
  if (!label.is_given()) return field;
  constexpr std::size_t most_bytes = std::size_t{1} << 30;
  if (label.bytes().size() > most_bytes) {
    throw_error(MPI_ERR_ARG, "{}: {} has {} bytes, more than {}", call, argument, label.bytes().size(),
                most_bytes);
  }
  if (order.bytes > 0 && label.bytes().size() != order.bytes) {
    throw_error(MPI_ERR_ARG, "{}: {} has {} bytes, but its order is of values of {}", call, argument,
                label.bytes().size(), order.bytes);
  }
  field.is_given = true;
  field.kind = label.kind();
  field.has_own_length = label.has_own_length();
  field.order = order;
  field.bytes = order.compare ? label.bytes() : label.ordered_bytes(call, argument);
  const bool is_number =
      label.kind() == Label::Kind::unsigned_numbers || label.kind() == Label::Kind::signed_numbers;
  if (order.compare && !label.is_undefined() && order.compare(label.bytes(), label.bytes()) != 0) {
    throw_error(MPI_ERR_ARG, "{}: the order of {} says that a label differs from itself", call, argument);
  }
  field.is_integer = is_number && !order.compare && !order.hash && field.bytes.size() <= 8;
  return field;
}

struct Splitting {
  SplitCase of;
  SplitQuestion asked;
};

Splitting checked(const Chain& chain, const char* call, const Label& color, const Order& color_order,
                  const Label& key, const Order& key_order) {
  check_usable(chain, call);
  if (key.is_undefined()) {
    throw_error(MPI_ERR_ARG, "{}: key is undefined; only a color can be", call);
  }
  if (color.is_undefined() && !color.is_given()) {
    throw_error(MPI_ERR_ARG, "{}: color is undefined, but has no type; give that of the others", call);
  }
  Splitting splitting;
  splitting.of.call = call;
  splitting.of.color = field_of(call, "color", color, color_order);
  splitting.of.key = field_of(call, "key", key, key_order);
  splitting.of.is_undefined = color.is_undefined();
  if (color.is_given() && !color.is_undefined()) {
    splitting.of.color_hash =
        color_order.hash ? color_order.hash(color.bytes()) : hash_bytes(splitting.of.color.bytes);
  }
  splitting.asked = question_of(chain.size(), splitting.of.color, splitting.of.key);
  return splitting;
}

Task<Chain> run_split(Link link, SplitCase of, const Entry& entry) {
  if (link.world().checks_calls()) co_await check_same_split(link, of, entry.name);
  const ChainPlace place = co_await entry.start(std::move(link), of);
  if (place.size == 0) co_return Chain();
  co_return ChainAccess::make(std::move(of.made), place);
}

}  // namespace

Task<ChainPlace> split_as_chosen(Link link, const SplitCase& of) {
  const SplitQuestion asked = question_of(link.size(), of.color, of.key);
  const Entry& entry = entry_named(of.call, choose_split(asked, link.world().machine()));
  return entry.start(std::move(link), of);
}

}  // namespace detail

std::vector<std::string_view> split_algorithms() {
  std::vector<std::string_view> names;
  for (const detail::Entry& entry : detail::table) names.push_back(entry.name);
  return names;
}

std::string_view chosen_split(const Chain& chain, const Label& color, const Order& color_order,
                              const Label& key, const Order& key_order) {
  const detail::Splitting splitting =
      detail::checked(chain, "wisp::chosen_split", color, color_order, key, key_order);
  return detail::choose_split(splitting.asked, detail::machine_of(chain));
}

Task<Chain> async_split(Chain chain, Label color, Order color_order, Label key, Order key_order,
                        SplitOptions options) {
  constexpr const char* call = "wisp::split";
  detail::Splitting splitting = detail::checked(chain, call, color, color_order, key, key_order);
  const std::string_view name = options.algorithm.empty()
                                    ? choose_split(splitting.asked, detail::machine_of(chain))
                                    : options.algorithm;
  const detail::Entry& entry = detail::entry_named(call, name);
  detail::check_allowed(call, name, splitting.asked, chain);
  // First the number of the operation, which all ranks draw: after an error too they agree on the next one.
  detail::Link link = detail::ChainAccess::link(chain, call, options.own_tag);
  if (!splitting.of.is_undefined)
    splitting.of.made = detail::new_context(detail::ChainAccess::context(chain));
  return run_split(std::move(link), std::move(splitting.of), entry);
}

Chain split(const Chain& chain, const Label& color, const Order& color_order, const Label& key,
            const Order& key_order, const SplitOptions& options) {
  return detail::result_of(chain, async_split(chain, color, color_order, key, key_order, options));
}

Request isplit(const Chain& chain, Chain& made, const Label& color, const Order& color_order,
               const Label& key, const Order& key_order, const SplitOptions& options) {
  return chain.start(detail::put(async_split(chain, color, color_order, key, key_order, options), made));
}

}  // namespace wisp
