#include "comm/pair_codes.hpp"

#include <algorithm>
#include <utility>

#include "comm/world.hpp"

namespace wisp::detail {
namespace {

using Number = PairCodes::Number;
using Words = ServiceMessages::Words;

constexpr std::size_t bits_of_word = 63;  // of what fits a signed one

enum class Kind : std::int64_t {
  wanted,    ///< number, states taken
  state,     ///< number, whether it is made, communicators made, blocks taken, held codes as bits
  block,     ///< number, codes as bits
  refused,   ///< number: both have made it, and there is no code for it
  deferred,  ///< number, whether the lower has made it: there is none now, and one of them has yet to make it
};

Words message_of(Kind kind, Number number) {
  return {static_cast<std::int64_t>(kind), number};
}

void append_bits(Words& words, const std::vector<bool>& bits) {
  const std::size_t first = words.size();
  words.resize(first + (bits.size() + bits_of_word - 1) / bits_of_word);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (bits[i]) words[first + i / bits_of_word] |= std::int64_t{1} << i % bits_of_word;
  }
}

std::vector<bool> bits_at(const Words& words, std::size_t first, int count) {
  std::vector<bool> bits(as_size(count));
  for (std::size_t i = 0; i < bits.size(); ++i) {
    bits[i] = (words[first + i / bits_of_word] >> i % bits_of_word & 1) != 0;
  }
  return bits;
}

bool contains(const std::vector<Number>& numbers, Number number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

}  // namespace

PairCodes::Pair& PairCodes::pair_with(int peer) {
  std::unique_ptr<Pair>& pair = pairs_[peer];
  if (pair == nullptr) pair = std::make_unique<Pair>(code_count_);
  return *pair;
}

int PairCodes::code_of(int peer, Number number) const {
  int code = static_cast<int>(number - 1);
  if (!CodeBlocks::is_given(number, code_count_)) {
    const auto found = pairs_.find(peer);
    code = found == pairs_.end() ? -1 : found->second->blocks.code_of(number);
  }
  return code < 0 ? -1 : world_.tags().numbered_code(code);
}

/// `of(context, number)` for each that is alive here and shared with `peer`.
template <class Function>
void PairCodes::for_each_alive(int peer, Function of) const {
  for (const Context* alive = world_.latest_numbered(); alive != nullptr; alive = alive->made_before) {
    if (alive->members.from_world(peer) >= 0) of(*alive, alive->number_with(peer));
  }
}

std::vector<bool> PairCodes::held(int peer, Pair& pair) {
  return pair.blocks.held(world_.pair_numbers().with(peer), [&](auto mark) {
    mark(0, world_.root_counters(TagLayout::Kind::isolated).extensions);
    for_each_alive(peer, [&](const Context& alive, Number number) {
      mark(number, alive.extension > 0 ? -1 : alive.counters->extensions);
    });
  });
}

std::int64_t PairCodes::count_without_code(int peer, const Pair& pair, Number before) const {
  std::int64_t count = 0;
  for_each_alive(peer, [&](const Context&, Number number) {
    if (number < before && pair.blocks.code_of(number) < 0) ++count;
  });
  return count;
}

/// Whether this process has made what the number is of.
bool PairCodes::is_made(int peer, Number number) const {
  const Number created = world_.pair_numbers().with(peer);
  if (number >= 0) return number <= created;
  const Number of = CodeBlocks::extended(number);
  if (of > created) return false;
  int extensions = CodeBlocks::extension_of(number);  // that a communicator which is gone had, if need be
  if (of == 0) extensions = world_.root_counters(TagLayout::Kind::isolated).extensions;
  for_each_alive(peer, [&](const Context& alive, Number alive_number) {
    if (alive_number == of) extensions = alive.counters->extensions;
  });
  return CodeBlocks::extension_of(number) <= extensions;
}

void PairCodes::refuse(Pair& pair, Number number) {
  std::erase(pair.asked, number);
  pair.refused.push_back(number);
  has_refused_ = true;
  learned_ = true;
}

void PairCodes::defer(Pair& pair, Number number) {
  pair.deferred.push_back(number);
  has_deferred_ = true;
}

/// The numbers have codes now.
void PairCodes::add_block(Pair& pair, Number first, const std::vector<int>& codes) {
  pair.blocks.add(first, codes);
  const auto is_known = [&](Number number) { return pair.blocks.code_of(number) >= 0; };
  std::erase_if(pair.asked, is_known);
  std::erase_if(pair.promised, is_known);
  learned_ = true;
}

void PairCodes::need(int peer, Number number) {
  Pair& pair = pair_with(peer);
  if (contains(pair.asked, number)) return;
  if (peer == world_.rank()) {
    give(peer, pair, number, true, std::vector<bool>(as_size(code_count_)));
    return;
  }
  look();  // the other may have asked already
  if (pair.blocks.code_of(number) >= 0 || contains(pair.refused, number) || contains(pair.asked, number))
    return;
  pair.asked.push_back(number);
  if (peer < world_.rank()) {
    tell_next_state(peer, pair);
    return;
  }
  Words words = message_of(Kind::wanted, number);
  words.push_back(pair.states);
  messages_.tell(peer, std::move(words));
}

bool PairCodes::is_refused(int peer, Number number) const {
  const auto found = pairs_.find(peer);
  return found != pairs_.end() && contains(found->second->refused, number);
}

bool PairCodes::take_learned() {
  return std::exchange(learned_, false);
}

void PairCodes::forget_refusals() {
  if (!std::exchange(has_refused_, false)) return;
  for (const auto& [peer, pair] : pairs_) pair->refused.clear();
}

void PairCodes::look() {
  // As long as a process has made no more than have codes of their own, nobody needs its answer.
  is_used_ = is_used_ || created_ > CodeBlocks::given_count(code_count_);
  if (!is_used_ && !messages_.has_incoming()) return;
  messages_.take_arrived();
  while (const auto received = messages_.next()) handle(received->source, received->words);
  if (has_deferred_) ask_again();
}

void PairCodes::handle(int source, const Words& words) {
  Pair& pair = pair_with(source);
  const Number number = words[1];
  switch (static_cast<Kind>(words[0])) {
    case Kind::wanted:
      // A state that is still on its way there serves it.
      if (words[2] == pair.states) {
        tell_state(source, pair, number);
      } else if (pair.blocks.code_of(number) < 0) {
        pair.promised.push_back(number);
      }
      return;
    case Kind::state: {
      ++pair.states;
      for (; pair.confirmed < words[4]; ++pair.confirmed) pair.unconfirmed.pop_front();
      std::vector<Number> numbers = pair.asked;
      if (!contains(numbers, number)) numbers.push_back(number);
      for (const Number wanted : numbers) {
        // If it is known, the block is on its way.
        if (pair.blocks.code_of(wanted) < 0) {
          const bool is_made_there = wanted == number ? words[2] != 0 : wanted > 0 && wanted <= words[3];
          give(source, pair, wanted, is_made_there, bits_at(words, 5, code_count_));
        }
      }
      return;
    }
    case Kind::block: {
      const std::vector<bool> chosen = bits_at(words, 2, code_count_);
      std::vector<int> codes;
      for (int code = 0; code < code_count_; ++code) {
        if (chosen[as_size(code)]) codes.push_back(code);
      }
      add_block(pair, number, codes);
      ++pair.blocks_taken;
      break;
    }
    case Kind::refused:
      std::erase(pair.promised, number);
      refuse(pair, number);
      break;
    case Kind::deferred:
      // Unless the lower has made it, it will want it when it has.
      std::erase(pair.asked, number);
      std::erase(pair.promised, number);
      if (words[2] != 0) defer(pair, number);
      break;
  }
  tell_next_state(source, pair);
}

/// One state at a time: the block that answers it may well have the other numbers too.
void PairCodes::tell_next_state(int peer, Pair& pair) {
  if (pair.promised.empty() && !pair.asked.empty()) tell_state(peer, pair, pair.asked.front());
}

void PairCodes::tell_state(int peer, Pair& pair, Number number) {
  pair.promised.push_back(number);
  ++pair.states;
  Words words = message_of(Kind::state, number);
  words.push_back(is_made(peer, number) ? 1 : 0);
  words.push_back(world_.pair_numbers().with(peer));
  words.push_back(pair.blocks_taken);
  append_bits(words, held(peer, pair));
  messages_.tell(peer, std::move(words));
}

void PairCodes::give(int peer, Pair& pair, Number number, bool is_made_there, std::vector<bool> in_use) {
  const bool is_self = peer == world_.rank();
  const std::vector<bool> held_here = held(peer, pair);
  for (std::size_t code = 0; code < in_use.size(); ++code) in_use[code] = in_use[code] || held_here[code];
  for (const std::vector<int>& codes : pair.unconfirmed) {
    for (const int code : codes) in_use[as_size(code)] = true;
  }
  const std::vector<int> codes = choose_codes(in_use, pair.blocks.room_from(number, code_count_),
                                              count_without_code(peer, pair, number));
  if (codes.empty()) {
    // Who has yet to make it asks again then.
    const bool is_made_here = is_made(peer, number);
    const bool is_refused = is_made_here && is_made_there;
    if (is_refused) refuse(pair, number);
    if (!is_made_here) defer(pair, number);
    if (is_self) return;
    Words words = message_of(is_refused ? Kind::refused : Kind::deferred, number);
    words.push_back(is_made_here ? 1 : 0);
    messages_.tell(peer, std::move(words));
    return;
  }
  if (!is_self) {
    Words words = message_of(Kind::block, number);
    std::vector<bool> chosen(as_size(code_count_));
    for (const int code : codes) chosen[as_size(code)] = true;
    append_bits(words, chosen);
    messages_.tell(peer, std::move(words));
    pair.unconfirmed.push_back(codes);
  }
  add_block(pair, number, codes);
}

/// What was put off until this process has made a communicator, and it has by now.
void PairCodes::ask_again() {
  has_deferred_ = false;
  std::vector<std::pair<int, Number>> made;
  for (const auto& [peer, pair] : pairs_) {
    std::erase_if(pair->deferred, [&, of = peer](Number number) {
      if (!is_made(of, number)) return false;
      made.emplace_back(of, number);
      return true;
    });
    has_deferred_ = has_deferred_ || !pair->deferred.empty();
  }
  for (const auto& [peer, number] : made) {
    if (code_of(peer, number) < 0) need(peer, number);
  }
}

}  // namespace wisp::detail
