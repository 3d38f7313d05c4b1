#include "split/choice.hpp"

#include <cmath>
#include <limits>

namespace wisp::detail {
namespace {

/// A walk by doubling distances: two messages a rank and round, one waited for.
Cost walks(double number, double ranks, double rounds, double bytes) {
  const double steps = number * rounds;
  const double messages = 2 * steps;
  return {messages, messages * bytes, steps, messages * ranks, messages * ranks * bytes};
}

Cost operator+(const Cost& a, const Cost& b) {
  return {a.startups + b.startups, a.bytes + b.bytes, a.steps + b.steps, a.messages + b.messages,
          a.volume + b.volume};
}

/// How many walks it takes on average to tell colors or keys apart, where chains grow shorter on the way.
constexpr double walks_of_color_digits = 1.3;
constexpr double walks_of_key_digits = 2.5;
constexpr double walks_of_hashes = 1.9;

/// Nobody knows before how many ranks share a color.
double ranks_of_one_color(double ranks) {
  return std::pow(ranks, 0.75);
}

}  // namespace

Cost cost_of_split(std::string_view algorithm, const SplitQuestion& asked) {
  const double p = asked.ranks;
  const double rounds = ceil_log2(asked.ranks);
  const auto item = static_cast<double>(asked.item_bytes);
  constexpr double place = 24;  // bytes of a rank's place in its chain
  constexpr double digit_table = 16 * 40;
  constexpr double hash_table = 16 * 24;
  const auto gathered = [&](double ranks, double steps) {
    return Cost{2 * steps, 2 * ranks * item, steps, 2 * p * steps, p * ranks * item};
  };
  const Cost neighbors{2, 2 * item, 1, 2 * p, 2 * p * item};
  if (algorithm == "radix") {
    const double number =
        (asked.splits ? walks_of_color_digits : 0) + (asked.orders ? walks_of_key_digits : 0);
    return walks(number, p, rounds, digit_table) + neighbors;
  }
  if (algorithm == "hash-64") {
    const double proofs = asked.are_integers ? 0 : 1;
    const Cost hashed =
        walks(walks_of_hashes, p, rounds, hash_table) + walks(proofs, p, rounds, 12) + neighbors;
    return asked.orders ? hashed + gathered(ranks_of_one_color(p), 0.75 * rounds) : hashed;
  }
  const Cost agreement = walks(asked.has_texts ? 1 : 0, p, rounds, 8);
  if (algorithm == "allgather") return agreement + gathered(p, rounds);
  if (algorithm == "gather-scatter") {
    return agreement +
           Cost{2 * rounds, p * (item + place), 2 * rounds, 3 * p, p * rounds / 2 * (item + place)};
  }
  const double steps = rounds * (rounds + 1) / 2;
  const Cost network{2 * steps, steps * item, steps, p * steps, p * steps * item};
  return agreement + walks(2, p, rounds, 16) + network + neighbors;
}

std::string_view choose_split(const SplitQuestion& asked, const Machine& machine) {
  // What a rank does with all items alone: a comparison or a copy of one takes about so long.
  constexpr double seconds_per_item = 20e-9;
  const double pass = seconds_per_item * asked.ranks;
  std::string_view best;
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](std::string_view name, bool is_allowed, double own_work, double all_work) {
    if (!is_allowed) return;
    const double work = machine.shares_cores ? all_work * machine.ranks_per_core / asked.ranks : own_work;
    const double seconds = time_of(cost_of_split(name, asked), machine, asked.ranks) + work;
    if (seconds >= least) return;
    least = seconds;
    best = name;
  };
  consider("allgather", true, pass, pass * asked.ranks);
  consider("gather-scatter", true, 3 * pass, 6 * pass);
  consider("radix", asked.are_integers, 0, 0);
  const double pass_of_color = asked.orders ? seconds_per_item * ranks_of_one_color(asked.ranks) : 0;
  consider("hash-64", asked.splits && asked.has_hash, pass_of_color, pass_of_color * asked.ranks);
  consider("bitonic", true, 0, 0);
  return best;
}

}  // namespace wisp::detail
