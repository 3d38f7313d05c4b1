#include "trace/record.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>

#include "transport/throw_error.hpp"

namespace wisp::detail {
namespace {

constexpr std::string_view magic = "wisptrace2\n";

using Bytes = std::vector<std::byte>;

/// The numbers of one record, side by side.
class Packed {
 public:
  Packed& put(std::uint64_t number) {
    for (; number >= 128; number >>= 7) bytes_[size_++] = static_cast<std::byte>(number | 128);
    bytes_[size_++] = static_cast<std::byte>(number);
    return *this;
  }
  /// Small ones of either sign become small ones.
  Packed& put_signed(std::int64_t number) {
    return put(static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63));
  }
  void append_to(Bytes& to) const { to.insert(to.end(), bytes_.data(), bytes_.data() + size_); }

 private:
  static constexpr std::size_t most_numbers = 10;
  static constexpr std::size_t most_bytes = 10;  // of one: 64 bits in parts of 7

  std::array<std::byte, most_numbers * most_bytes> bytes_;  // NOLINT: nobody reads beyond size_
  std::size_t size_ = 0;
};

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
  /// Whether all of a chunk is there: so many bytes, two numbers, and as many bytes as a third one says.
  bool has_chunk(std::size_t before) const {
    Reader ahead(bytes_.subspan(std::min(before, bytes_.size())), file_);
    for (int i = 0; i < 2; ++i) {
      if (!ahead.has_number()) return false;
      ahead.number();
    }
    return ahead.has_number() && ahead.number() <= ahead.bytes_.size();
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
  std::uint64_t number() {
    std::uint64_t number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint64_t>(take(1).front());
      number |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    return number;
  }
  std::int64_t signed_number() {
    const std::uint64_t number = this->number();
    return static_cast<std::int64_t>(number >> 1) ^ -static_cast<std::int64_t>(number & 1);
  }
  int small() { return static_cast<int>(signed_number()); }
  std::string text() {
    const auto bytes = take(number());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  bool has_number() const {
    return std::ranges::any_of(bytes_, [](std::byte byte) { return static_cast<unsigned>(byte) < 128; });
  }

  std::span<const std::byte> bytes_;
  const std::string& file_;
};

void read_records(Reader reader, RankTrace& rank) {
  std::uint64_t latest = 0;
  while (!reader.at_end()) {
    TraceRecord record;
    record.kind = static_cast<TraceRecord::Kind>(reader.number());
    if (record.kind == TraceRecord::Kind::text) {
      rank.texts.push_back(reader.text());
      continue;
    }
    record.begin = latest = latest + static_cast<std::uint64_t>(reader.signed_number());
    record.end = record.begin + reader.number();
    record.communicator = reader.small();
    if (record.kind != TraceRecord::Kind::wait) {
      record.peer = reader.small();
      record.world = reader.number();
      record.tag = reader.signed_number();
      record.bytes = reader.number();
      record.operation = reader.small();
      record.call = reader.small();
    }
    rank.records.push_back(record);
  }
}

}  // namespace

int TraceWriter::add_text(const std::string& text) {
  Packed().put(static_cast<std::uint64_t>(TraceRecord::Kind::text)).append_to(bytes_);
  put_text(bytes_, text);
  return texts_++;
}

void TraceWriter::add(const TraceRecord& record) {
  Packed numbers;
  numbers.put(static_cast<std::uint64_t>(record.kind))
      .put_signed(static_cast<std::int64_t>(record.begin - latest_))
      .put(record.end - record.begin)
      .put_signed(record.communicator);
  latest_ = record.begin;
  if (record.kind != TraceRecord::Kind::wait) {
    numbers.put_signed(record.peer)
        .put(record.world)
        .put_signed(record.tag)
        .put(record.bytes)
        .put_signed(record.operation)
        .put_signed(record.call);
  }
  numbers.append_to(bytes_);
}

std::vector<std::byte> TraceWriter::take_chunk(int rank, int ranks, const std::string& host) {
  Bytes body;
  put_text(body, host);
  Bytes chunk;
  const auto* first = reinterpret_cast<const std::byte*>(magic.data());
  chunk.insert(chunk.end(), first, first + magic.size());
  Packed().put_signed(rank).put_signed(ranks).put(body.size() + bytes_.size()).append_to(chunk);
  chunk.insert(chunk.end(), body.begin(), body.end());
  chunk.insert(chunk.end(), bytes_.begin(), bytes_.end());
  bytes_.clear();
  latest_ = 0;
  return chunk;
}

bool read_trace(std::span<const std::byte> chunks, const std::string& file, std::vector<RankTrace>& ranks) {
  Reader reader(chunks, file);
  while (!reader.at_end()) {
    const auto begin = reader.peek(magic.size());
    if (std::memcmp(begin.data(), magic.data(), begin.size()) != 0)
      throw_error(MPI_ERR_FILE, "wisp: {} is no trace of this version of wisp", file);
    if (!reader.has_chunk(magic.size())) return true;
    reader.take(magic.size());
    const int rank = reader.small();
    const int all = reader.small();
    Reader body(reader.take(reader.number()), file);
    const auto found = std::ranges::find(ranks, rank, &RankTrace::rank);
    RankTrace& of_rank = found != ranks.end() ? *found : ranks.emplace_back(RankTrace{rank, all, {}, {}, {}});
    of_rank.host = body.text();
    read_records(body, of_rank);
  }
  return false;
}

}  // namespace wisp::detail
