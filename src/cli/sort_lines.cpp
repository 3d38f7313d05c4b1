#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cli/element_file.hpp"
#include "wisp/collectives.hpp"
#include "wisp/detail/sort/balance.hpp"

namespace wisp::cli {

void LineFile::open(const Comm& comm, const std::string& path) {
  comm_ = &comm;
  const InputFile file(comm, path);
  check_memory(comm, arguments_, file.size(), 2);  // more is known when the longest line is
  const wisp::detail::Balance balance(file.size(), comm.size());
  find_lines(file, {balance.begin(comm.rank()), balance.begin(comm.rank() + 1)});
}

void LineFile::find_lines(const InputFile& file, const Bytes& part) {
  // One byte before the part tells whether a line begins with it; the last line may go on behind the part.
  const std::uint64_t lead = part.begin > 0 ? 1 : 0;
  const std::uint64_t read_end = std::min(file.size(), part.end + arguments_.max_line + 1);
  const Bytes read{part.begin - lead, part.size() == 0 ? part.begin - lead : read_end};
  text_.resize(read.size());
  file.read_all(read, text_.data());

  begins_.clear();
  lengths_.clear();
  longest_ = 0;
  const char* const end = text_.data() + text_.size();
  const std::uint64_t part_end = lead + part.size();
  std::uint64_t begin = lead;
  if (lead == 1 && !text_.empty() && text_[0] != '\n') {
    const auto* newline = static_cast<const char*>(std::memchr(text_.data(), '\n', text_.size()));
    begin = newline == nullptr ? text_.size() : static_cast<std::uint64_t>(newline - text_.data()) + 1;
  }
  constexpr std::uint64_t none = ~std::uint64_t{0};
  std::uint64_t too_long = none;
  while (begin < part_end && begin < text_.size()) {
    const char* const first = text_.data() + begin;
    const auto* newline = static_cast<const char*>(std::memchr(first, '\n', detail::as_size(end - first)));
    const auto length = static_cast<std::uint64_t>((newline == nullptr ? end : newline) - first);
    if (length > arguments_.max_line) {
      too_long = begin;
      break;
    }
    begins_.push_back(begin);
    lengths_.push_back(static_cast<std::uint16_t>(length));
    longest_ = std::max(longest_, length);
    begin += length + 1;
  }

  std::uint64_t lines_before = 0;
  std::uint64_t lines = begins_.size();
  comm_->exscan(buffer_of(lines), buffer_of(lines_before), MPI_SUM);
  std::string problem;
  if (too_long != none) problem = describe_too_long(file, read.begin + too_long, lines_before + lines);
  agree_on_errors(*comm_, problem);
  comm_->allreduce(in_place(), buffer_of(longest_), MPI_MAX);
}

std::string LineFile::describe_too_long(const InputFile& file, std::uint64_t line_begin,
                                        std::uint64_t lines_before) const {
  std::vector<char> chunk(1 << 20);
  std::uint64_t end = line_begin;
  while (end < file.size()) {
    const std::uint64_t bytes = std::min<std::uint64_t>(chunk.size(), file.size() - end);
    file.read({end, end + bytes}, chunk.data());
    const auto* newline = static_cast<const char*>(std::memchr(chunk.data(), '\n', bytes));
    if (newline != nullptr) {
      end += static_cast<std::uint64_t>(newline - chunk.data());
      break;
    }
    end += bytes;
  }
  return fmt::format("wisp sort: line {} has {} bytes, more than --max-line {}", lines_before + 1,
                     end - line_begin, arguments_.max_line);
}

void LineFile::load(unsigned char* to, std::size_t stride) {
  for (std::size_t i = 0; i < begins_.size(); ++i) {
    unsigned char* const line = to + i * stride;
    std::memcpy(line, text_.data() + begins_[i], lengths_[i]);
    std::memset(line + lengths_[i], 0, stride - 2 - lengths_[i]);
    line[stride - 2] = static_cast<unsigned char>(lengths_[i] >> 8);
    line[stride - 1] = static_cast<unsigned char>(lengths_[i] & 0xff);
  }
  text_ = {};
  begins_ = {};
  lengths_ = {};
}

void LineFile::store(OutputFile& output, const unsigned char* from, std::uint64_t count, std::size_t stride) {
  std::vector<char> text;
  for (std::uint64_t i = 0; i < count; ++i) {
    const unsigned char* const line = from + i * stride;
    const std::size_t length = detail::as_size(line[stride - 2]) << 8 | line[stride - 1];
    text.insert(text.end(), line, line + length);
    text.push_back('\n');
  }
  std::uint64_t bytes = text.size();
  std::uint64_t before = 0;
  std::uint64_t total = bytes;
  comm_->exscan(buffer_of(bytes), buffer_of(before), MPI_SUM);
  comm_->allreduce(in_place(), buffer_of(total), MPI_SUM);
  output.write_all(before, text.data(), bytes);
  output.commit(total);
}

}  // namespace wisp::cli
