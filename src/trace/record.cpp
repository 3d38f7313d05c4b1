#include "trace/record.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "pattern/packed_number.hpp"
#include "transport/throw_error.hpp"

namespace wisp::detail {
namespace {

constexpr std::string_view magic = "wisptrace3\n";

using Bytes = std::vector<std::byte>;
using Kind = TraceRecord::Kind;

/// In the first byte of a record, beside its kind: whose it is has not changed.
constexpr std::uint64_t same = 8;
constexpr std::size_t bytes_of_fixed = 4;

/// Who sends or waits: mostly the one of the record before. A wait tells no more than its communicator.
bool is_of_same(const TraceRecord& a, const TraceRecord& b) {
  if (a.communicator != b.communicator) return false;
  return b.kind == Kind::wait ||
         (a.tag == b.tag && a.world == b.world && a.operation == b.operation && a.call == b.call);
}

/// The numbers of one record, side by side.
class Packed {
 public:
  Packed& put(std::uint64_t number) {
    size_ = static_cast<std::size_t>(write_packed(bytes_.data() + size_, number) - bytes_.data());
    return *this;
  }
  Packed& put_signed(std::int64_t number) { return put(without_sign(number)); }
  void append_to(Bytes& to) const { to.insert(to.end(), bytes_.data(), bytes_.data() + size_); }

 private:
  static constexpr std::size_t most_numbers = 10;
  static constexpr std::size_t most_bytes = 10;  // of one: 64 bits in parts of 7

  std::array<std::byte, most_numbers * most_bytes> bytes_;  // NOLINT: nobody reads beyond size_
  std::size_t size_ = 0;
};

void put_fixed(Bytes& to, std::uint32_t number) {
  for (std::size_t i = 0; i < bytes_of_fixed; ++i) to.push_back(static_cast<std::byte>(number >> 8 * i));
}

void put_text(Bytes& to, std::string_view text) {
  Packed().put(text.size()).append_to(to);
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  to.insert(to.end(), first, first + text.size());
}

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  bool at_end() const { return bytes_.empty(); }

  std::span<const std::byte> peek(std::size_t most) const {
    return bytes_.first(std::min(most, bytes_.size()));
  }
  std::span<const std::byte> take(std::uint64_t count) {
    if (count > bytes_.size()) {
      throw_error(MPI_ERR_FILE, "wisp: {} is no whole trace: {} bytes are missing at its end", file_,
                  count - bytes_.size());
    }
    const auto taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }
  bool has(std::uint64_t count) const { return count <= bytes_.size(); }
  std::uint32_t fixed() {
    std::uint32_t number = 0;
    int shift = 0;
    for (const std::byte byte : take(bytes_of_fixed)) {
      number |= static_cast<std::uint32_t>(byte) << shift;
      shift += 8;
    }
    return number;
  }
  std::uint64_t number() {
    return read_packed([&] { return take(1).front(); });
  }
  std::int64_t signed_number() { return with_sign(number()); }
  int small() { return static_cast<int>(signed_number()); }
  std::string text() {
    const auto bytes = take(number());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& file_;
};

/// What a wait tells.
TraceRecord wait_of(const TraceRecord& record) {
  TraceRecord wait;
  wait.begin = record.begin;
  wait.end = record.end;
  wait.communicator = record.communicator;
  return wait;
}

void read_records(Reader reader, RankTrace& rank) {
  TraceRecord latest;
  while (!reader.at_end()) {
    const std::uint64_t head = reader.number();
    TraceRecord record = latest;
    record.kind = static_cast<Kind>(head & ~same);
    if (record.kind == Kind::text) {
      rank.texts.push_back(reader.text());
      continue;
    }
    const bool is_message = record.kind != Kind::wait;
    record.begin = latest.begin + static_cast<std::uint64_t>(reader.signed_number());
    record.end = record.begin + reader.number();
    if ((head & same) == 0) {
      record.communicator = reader.small();
      if (is_message) {
        record.world = static_cast<std::uint32_t>(reader.number());
        record.tag = reader.signed_number();
        record.operation = reader.small();
        record.call = reader.small();
      }
    }
    latest = record;
    record.peer = is_message ? reader.small() : -1;
    record.bytes = record.kind == Kind::send ? reader.number() : 0;
    rank.records.push_back(is_message ? record : wait_of(record));
  }
}

}  // namespace

int TraceWriter::add_text(const std::string& text) {
  Packed().put(static_cast<std::uint64_t>(TraceRecord::Kind::text)).append_to(bytes_);
  put_text(bytes_, text);
  return texts_++;
}

void TraceWriter::add(const TraceRecord& record) {
  const bool is_message = record.kind != Kind::wait;
  const bool is_same = is_of_same(latest_, record);
  Packed numbers;
  numbers.put(static_cast<std::uint64_t>(record.kind) | (is_same ? same : 0))
      .put_signed(static_cast<std::int64_t>(record.begin - latest_.begin))
      .put(record.end - record.begin);
  if (!is_same) {
    numbers.put_signed(record.communicator);
    if (is_message)
      numbers.put(record.world).put_signed(record.tag).put_signed(record.operation).put_signed(record.call);
  }
  if (is_message) numbers.put_signed(record.peer);
  if (record.kind == Kind::send) numbers.put(record.bytes);
  numbers.append_to(bytes_);
  if (is_message) {
    latest_ = record;
  } else {
    latest_.begin = record.begin;
    latest_.communicator = record.communicator;
  }
}

std::vector<std::byte> TraceWriter::take_chunk(int rank, int ranks, const std::string& host) {
  Bytes body;
  put_text(body, host);
  Bytes chunk;
  const auto* first = reinterpret_cast<const std::byte*>(magic.data());
  chunk.insert(chunk.end(), first, first + magic.size());
  put_fixed(chunk, static_cast<std::uint32_t>(rank));
  put_fixed(chunk, static_cast<std::uint32_t>(ranks));
  put_fixed(chunk, static_cast<std::uint32_t>(body.size() + bytes_.size()));
  chunk.insert(chunk.end(), body.begin(), body.end());
  chunk.insert(chunk.end(), bytes_.begin(), bytes_.end());
  bytes_.clear();
  latest_ = {};
  return chunk;
}

bool read_trace(std::span<const std::byte> chunks, const std::string& file, std::vector<RankTrace>& ranks) {
  // Of the ranks in this file, which are one or all; one that other files have, too, is looked for once.
  std::unordered_map<int, std::size_t> places;
  const auto of_others = static_cast<std::ptrdiff_t>(ranks.size());
  Reader reader(chunks, file);
  while (!reader.at_end()) {
    const auto begin = reader.peek(magic.size());
    if (std::memcmp(begin.data(), magic.data(), begin.size()) != 0)
      throw_error(MPI_ERR_FILE, "wisp: {} is no trace of this version of wisp", file);
    if (!reader.has(magic.size() + 3 * bytes_of_fixed)) return true;
    reader.take(magic.size());
    const auto rank = static_cast<int>(reader.fixed());
    const auto all = static_cast<int>(reader.fixed());
    const std::uint32_t bytes = reader.fixed();
    if (!reader.has(bytes)) return true;
    Reader body(reader.take(bytes), file);
    const auto [found, is_new] = places.try_emplace(rank, ranks.size());
    if (is_new) {
      const auto end = ranks.begin() + of_others;
      const auto known = std::ranges::find(ranks.begin(), end, rank, &RankTrace::rank);
      if (known != end) {
        found->second = static_cast<std::size_t>(known - ranks.begin());
      } else {
        ranks.push_back({rank, all, {}, {}, {}});
      }
    }
    RankTrace& of_rank = ranks[found->second];
    of_rank.host = body.text();
    read_records(body, of_rank);
  }
  return false;
}

}  // namespace wisp::detail
