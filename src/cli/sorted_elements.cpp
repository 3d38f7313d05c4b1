#include "cli/sorted_elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "wisp/detail/mix.hpp"
#include "wisp/detail/sort/byte_blocks.hpp"
#include "wisp/detail/sort/local_sort.hpp"
#include "wisp/detail/sort/merge_sort.hpp"
#include "wisp/detail/sort/run_for.hpp"
#include "wisp/detail/sort/string_run.hpp"
#include "wisp/sort_order.hpp"

namespace wisp::cli {
namespace {

using wisp::detail::as_size;
using wisp::detail::run_for;

/// A number that changes if one of the bytes does.
std::uint64_t hash_of(std::string_view bytes) {
  std::uint64_t hash = bytes.size();
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    hash = wisp::detail::mix(hash ^ word);
  }
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data(), bytes.size());
  return wisp::detail::mix(hash ^ word);
}

void count_in(std::string_view element, Inspection& seen) {
  ++seen.count;
  seen.checksum += hash_of(element);
}

template <class T>
class Numbers final : public SortedElements {
 public:
  Numbers(const Comm& comm, bool is_reversed, const ElementOptions& options)
      : SortedElements(comm, options), is_reversed_(is_reversed) {}

  ElementShape shape() const override { return {sizeof(T)}; }

  void add(Chunk chunk) override {
    const std::span<T> numbers = numbers_in(chunk);
    if (options_.inspects_input)
      for (const T& number : numbers) count_in(bytes_of_number(number), input_);
    turn(numbers);
    wisp::detail::local_sort<T>(numbers, Ascending{}, options_.keeps_places);
    own_ += numbers.size();
    own_bytes_ += chunk.size;
    most_ = std::max(most_, numbers.size());
    chunk.memory.size = chunk.begin + chunk.size;  // of a stream, less may have come than there is room for
    store_.add(std::move(chunk.memory));
  }

  std::string merge(const std::vector<Slot>& ends) override {
    const auto channel = [&] { return comm_.channel("wisp sort"); };
    Cuts cuts = cuts_up_to(
        run_for(comm_, wisp::detail::find_splitters(channel(), ends, runs_, count_, most_, Ascending{})));
    read_ahead(cuts);
    std::vector<T> received;
    std::vector<Slot> begins = run_for(
        comm_, wisp::detail::exchange_runs<T>(channel(), runs_, cuts.first, cuts.last, false, received));
    store_.forget_pages();
    begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
    std::vector<T> other(received.size());
    wisp::detail::merge_runs(received, other, std::move(begins), Ascending{});
    if (options_.keeps_one_of_equal) leave_out_equal(received);
    turn(received);
    merged_ += received.size();
    return std::string(reinterpret_cast<const char*>(received.data()), received.size() * sizeof(T));
  }

  void inspect(const Chunk& chunk, Inspection& seen) const override {
    const std::string_view text = chunk.text();
    for (std::size_t at = 0; at < text.size(); at += sizeof(T)) {
      const std::string_view bytes = text.substr(at, sizeof(T));
      if (seen.count == 0) {
        seen.first = bytes;
      } else if (is_before(bytes, seen.last)) {
        seen.is_in_order = false;
      }
      seen.last = bytes;
      count_in(bytes, seen);
    }
  }
  bool is_before(std::string_view a, std::string_view b) const override {
    return Ascending{}(turned(a), turned(b));
  }

 private:
  static std::span<T> numbers_in(const Chunk& chunk) {
    return {reinterpret_cast<T*>(chunk.memory.bytes.get() + chunk.begin), chunk.size / sizeof(T)};
  }
  static std::string_view bytes_of_number(const T& number) {
    return {reinterpret_cast<const char*>(&number), sizeof(T)};
  }

  /// Numbers whose ascending order is the one that is wanted, and back. NaN stays last.
  T turned(T number) const {
    if (!is_reversed_) return number;
    if constexpr (std::is_integral_v<T>) return static_cast<T>(~number);
    return -number;
  }
  T turned(std::string_view bytes) const {
    T number;
    std::memcpy(&number, bytes.data(), sizeof(T));
    return turned(number);
  }
  void turn(std::span<T> numbers) const {
    if (!is_reversed_) return;
    for (T& number : numbers) number = turned(number);
  }

  void take_runs(std::size_t runs) override {
    for (std::size_t i = 0; i < runs; ++i) {
      const auto bytes = store_.run(i);
      runs_.runs.push_back({reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)});
    }
  }

  std::span<const std::byte> part_of_run(std::size_t run, Slot first, Slot last) const override {
    return std::as_bytes(runs_.runs[run].subspan(first, last - first));
  }
  Slot size_of_run(std::size_t run) const override { return runs_.runs[run].size(); }

  void leave_out_equal(std::vector<T>& numbers) {
    const auto equal = [](T a, T b) { return !Ascending{}(a, b) && !Ascending{}(b, a); };
    numbers.erase(std::unique(numbers.begin(), numbers.end(), equal), numbers.end());
    // One form of those that are equal and not the same, as 0 and -0.
    const auto key = [&](T number) {
      if (equal(number, T{})) number = T{};
      return number == number ? std::string(bytes_of_number(number)) : "NaN";
    };
    const bool has_any = !numbers.empty();
    if (follows_equal(has_any, has_any ? key(numbers.front()) : "", has_any ? key(numbers.back()) : ""))
      numbers.erase(numbers.begin());
  }

  bool is_reversed_;
  wisp::detail::SpanRuns<T> runs_;
};

class StringElements final : public SortedElements {
 public:
  StringElements(const Comm& comm, std::size_t width, const LineOrder& order, const ElementOptions& options)
      : SortedElements(comm, options), width_(width), order_(order) {}

  ElementShape shape() const override { return {width_}; }

  void add(Chunk chunk) override {
    // Text, where each string begins, and what is sorted.
    constexpr std::size_t bytes_of_string = 32;
    constexpr std::uint64_t longest = wisp::detail::longest_string;
    const std::size_t most = std::max<std::size_t>(options_.chunk_memory / bytes_of_string, 1);
    // With many keys, text is coded as several times as much. No run of several has 2^32 characters.
    const std::size_t most_bytes = std::clamp<std::size_t>(options_.chunk_memory, 1, std::size_t{1} << 31);
    std::string_view text = chunk.text();
    own_bytes_ += text.size();
    std::uint64_t place = chunk.place;
    while (!text.empty()) {
      std::vector<std::uint64_t> begins{0};
      std::size_t end = 0;
      std::string encoded;
      std::vector<std::uint64_t> encoded_begins{0};
      while (end < text.size() && begins.size() <= most && end < most_bytes && encoded.size() < most_bytes) {
        const std::size_t next = end_of_element(text, end);
        if (end > 0 && next >= longest) break;  // a run of its own
        begins.push_back(next);
        if (!order_.is_plain()) {
          order_.encode(element(text, begins, begins.size() - 2), place + end, encoded);
          if (end > 0 && encoded.size() >= longest) {
            begins.pop_back();
            encoded.resize(encoded_begins.back());
            break;
          }
          encoded_begins.push_back(encoded.size());
        }
        end = next;
      }
      const std::string_view part = text.substr(0, end);
      const std::size_t gap = width_ > 0 ? 0 : 1;
      if (options_.inspects_input)
        for (std::size_t i = 0; i + 1 < begins.size(); ++i) count_in(element(text, begins, i), input_);
      const Slot strings = begins.size() - 1;
      if (const std::size_t bytes = std::max(part.size(), encoded.size()); bytes >= longest) {
        store_.refuse(fmt::format("wisp sort: a line has {} bytes{}; it may have fewer than {}", bytes,
                                  encoded.size() > part.size() ? " with its keys" : "", longest));
      } else if (order_.is_plain()) {
        add_run(wisp::detail::sort_strings(part, begins, gap));
      } else {
        begins = {};
        add_run(wisp::detail::sort_strings(encoded, encoded_begins, 0));
      }
      own_ += strings;
      most_ = std::max(most_, strings);
      place += end;
      text.remove_prefix(std::min(end, text.size()));
    }
  }

  std::string merge(const std::vector<Slot>& ends) override {
    const auto channel = [&] { return comm_.channel("wisp sort"); };
    Cuts cuts = cuts_up_to(
        run_for(comm_, wisp::detail::find_splitters(channel(), ends, runs_, count_, most_, std::less<>())));
    read_ahead(cuts);
    const wisp::detail::ReceivedStrings received =
        run_for(comm_, wisp::detail::exchange_strings(channel(), runs_, cuts.first, cuts.last));
    store_.forget_pages();
    wisp::detail::StringMerger merger = received.merge();
    std::string text;
    text.reserve(received.coded.size() + received.coded.size() / 4);
    std::string first;
    std::string last;
    std::size_t first_bytes = 0;
    Slot kept = 0;
    for (bool has_last = false; merger.next(); has_last = true) {
      const std::string_view string = merger.string();
      if (options_.keeps_one_of_equal) {
        const std::string_view key = string.substr(0, order_.key_size(string));
        if (has_last && key == last) continue;
        last = key;
        if (!has_last) first = key;
      }
      if (order_.is_plain()) {
        text.append(string);
      } else {
        order_.decode(string, text);
      }
      if (width_ == 0) text.push_back('\n');
      if (!has_last) first_bytes = text.size();
      ++kept;
    }
    if (options_.keeps_one_of_equal && follows_equal(kept > 0, first, last)) {
      text.erase(0, first_bytes);
      --kept;
    }
    merged_ += kept;
    return text;
  }

  void inspect(const Chunk& chunk, Inspection& seen) const override {
    const std::string_view text = chunk.text();
    std::string encoded;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = end_of_element(text, begin);
      const std::string_view string = text.substr(begin, end - begin - (width_ > 0 ? 0 : 1));
      begin = end;
      encoded.clear();
      order_.encode(string, 0, encoded);
      if (order_.keeps_places) encoded.resize(order_.key_size(encoded));
      if (seen.count == 0) {
        seen.first = encoded;
      } else if (encoded < seen.last) {
        seen.is_in_order = false;
      }
      std::swap(seen.last, encoded);
      count_in(string, seen);
    }
  }
  bool is_before(std::string_view a, std::string_view b) const override { return a < b; }

 private:
  /// Where the element that begins here ends; the last line's end is one behind the text, if it has none.
  std::size_t end_of_element(std::string_view text, std::size_t begin) const {
    if (width_ > 0) return begin + width_;
    const void* const newline = std::memchr(text.data() + begin, '\n', text.size() - begin);
    if (newline == nullptr) return text.size() + 1;
    return as_size(static_cast<const char*>(newline) - text.data()) + 1;
  }
  std::string_view element(std::string_view text, const std::vector<std::uint64_t>& begins,
                           std::size_t i) const {
    return text.substr(begins[i], begins[i + 1] - begins[i] - (width_ > 0 ? 0 : 1));
  }

  /// Marks, what is coded, and zeros so that the marks of the next run are aligned in a file.
  void add_run(const wisp::detail::StringCoder& run) {
    const StoredRun stored{run.marks.size(), run.coded.size(), run.size};
    const std::size_t unpadded = stored.mark_bytes() + stored.coded;
    Block block((unpadded + 7) / 8 * 8);
    std::memcpy(block.data(), run.marks.data(), stored.mark_bytes());
    std::memcpy(block.data() + stored.mark_bytes(), run.coded.data(), stored.coded);
    std::memset(block.data() + unpadded, 0, block.size - unpadded);
    stored_.push_back(stored);
    store_.add(std::move(block));
  }

  void take_runs(std::size_t runs) override {
    stored_.resize(runs);
    for (std::size_t i = 0; i < runs; ++i) {
      const StoredRun& stored = stored_[i];
      const std::span<const std::byte> block = store_.run(i);
      const auto* const marks = reinterpret_cast<const std::uint64_t*>(block.data());
      const auto coded = stored.coded > 0 ? block.subspan(stored.mark_bytes(), stored.coded) : block.first(0);
      runs_.runs.push_back({coded, {marks, stored.marks}, stored.strings});
    }
    if (count_ > 0) runs_.mean_length = bytes_ / count_ + 1;
  }

  std::span<const std::byte> part_of_run(std::size_t run, Slot first, Slot last) const override {
    const wisp::detail::StringRun& of = runs_.runs[run];
    const auto mark = [&](Slot place) {
      const Slot block = place / wisp::detail::StringRun::block;
      return block < of.marks.size() ? of.marks[block] : of.coded.size();
    };
    const std::uint64_t begin = mark(first);
    return of.coded.subspan(begin, mark(last + wisp::detail::StringRun::block - 1) - begin);
  }
  Slot size_of_run(std::size_t run) const override { return runs_.runs[run].size; }

  struct StoredRun {
    std::size_t marks = 0;
    std::size_t coded = 0;  ///< bytes
    Slot strings = 0;

    std::size_t mark_bytes() const { return marks * sizeof(std::uint64_t); }
  };

  std::size_t width_;
  LineOrder order_;
  std::vector<StoredRun> stored_;
  wisp::detail::StringRuns runs_;
};

}  // namespace

void SortedElements::finish() {
  store_.finish(comm_);
  std::uint64_t runs = std::max<std::size_t>(store_.count(), 1);
  std::uint64_t sums[2] = {own_, own_bytes_};
  std::uint64_t most[2] = {runs, most_};
  comm_.allreduce(in_place(), Buffer(sums), MPI_SUM);
  comm_.allreduce(in_place(), Buffer(most), MPI_MAX);
  count_ = sums[0];
  bytes_ = sums[1];
  most_ = most[1];
  take_runs(most[0]);
}

SortedElements::Cuts SortedElements::cuts_up_to(std::vector<Slot> last) {
  const std::size_t runs = last.size() / as_size(comm_.size());
  Cuts cuts{std::move(cut_), std::move(last)};
  cuts.first.resize(runs);  // zeros, in front of the first slice
  cuts.first.insert(cuts.first.end(), cuts.last.begin(), cuts.last.end() - static_cast<std::ptrdiff_t>(runs));
  cut_.assign(cuts.last.end() - static_cast<std::ptrdiff_t>(runs), cuts.last.end());
  return cuts;
}

void SortedElements::read_ahead(const Cuts& cuts) const {
  const std::size_t runs = cuts.first.size() / as_size(comm_.size());
  for (std::size_t run = 0; run < runs; ++run) {
    const Slot first = cuts.first[run];
    const Slot last = cuts.last[cuts.last.size() - runs + run];
    store_.will_read(part_of_run(run, first, std::min(2 * last - first, size_of_run(run))));
  }
}

bool SortedElements::follows_equal(bool has_any, const std::string& first, const std::string& last) {
  std::vector<std::byte> mine;
  if (has_any) {
    mine.push_back(std::byte{1});
    const auto bytes = std::as_bytes(std::span(last));
    mine.insert(mine.end(), bytes.begin(), bytes.end());
  }
  const auto all =
      run_for(comm_, wisp::detail::gather_blocks(comm_.channel("wisp sort"), std::move(mine), 0));
  bool is_equal = false;
  for (int rank = 0; rank < comm_.size(); ++rank) {
    if (rank == comm_.rank()) is_equal = has_any && has_last_ && first == last_;
    const auto block = all.block(rank);
    if (block.empty()) continue;
    has_last_ = true;
    last_.assign(reinterpret_cast<const char*>(block.data()) + 1, block.size() - 1);
  }
  return is_equal;
}

std::unique_ptr<SortedElements> make_numbers(const Comm& comm, const std::string& type, bool is_reversed,
                                             const ElementOptions& options) {
  const auto of = [&]<class T>(T) { return std::make_unique<Numbers<T>>(comm, is_reversed, options); };
  if (type == "i32") return of(std::int32_t{});
  if (type == "u32") return of(std::uint32_t{});
  if (type == "i64") return of(std::int64_t{});
  if (type == "u64") return of(std::uint64_t{});
  if (type == "f32") return of(float{});
  return of(double{});
}

std::unique_ptr<SortedElements> make_strings(const Comm& comm, std::size_t width, const LineOrder& order,
                                             const ElementOptions& options) {
  return std::make_unique<StringElements>(comm, width, order, options);
}

}  // namespace wisp::cli
