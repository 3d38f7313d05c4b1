#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cli/sort_file.hpp"

namespace wisp::cli {

/// The elements of a file, as fixed-size pieces of memory `stride` bytes apart. All members are collective.
class ElementFile {
 public:
  virtual ~ElementFile() = default;

  /// Opens a file and finds this rank's elements; throws BadInput if they are not what they should be.
  virtual void open(const Comm& comm, const std::string& path) = 0;
  /// Elements of this rank.
  virtual std::uint64_t count() const = 0;
  virtual void load(unsigned char* to, std::size_t stride) = 0;
  virtual void store(OutputFile& output, const unsigned char* from, std::uint64_t count,
                     std::size_t stride) = 0;
};

/// Records of `width` bytes, one after the other; in memory each is padded with zeros to the stride.
class RecordFile final : public ElementFile {
 public:
  explicit RecordFile(std::uint64_t width, double memory_factor, const SortArguments& arguments)
      : width_(width), memory_factor_(memory_factor), arguments_(arguments) {}

  void open(const Comm& comm, const std::string& path) override;
  std::uint64_t count() const override { return own_.size() / width_; }
  void load(unsigned char* to, std::size_t stride) override;
  void store(OutputFile& output, const unsigned char* from, std::uint64_t count, std::size_t stride) override;

 private:
  std::uint64_t width_;
  double memory_factor_;
  const SortArguments& arguments_;
  const Comm* comm_ = nullptr;
  std::unique_ptr<InputFile> file_;
  Bytes own_;
};

/// Lines of text; in memory a line is its bytes, padded with zeros, and its length in the last two bytes of
/// the stride, the high one first: so comparing the memory compares the lines. A line belongs to the rank in
/// whose part of the file it begins.
class LineFile final : public ElementFile {
 public:
  explicit LineFile(const SortArguments& arguments) : arguments_(arguments) {}

  void open(const Comm& comm, const std::string& path) override;
  std::uint64_t count() const override { return begins_.size(); }
  void load(unsigned char* to, std::size_t stride) override;
  void store(OutputFile& output, const unsigned char* from, std::uint64_t count, std::size_t stride) override;

  /// Length of the longest line of the file.
  std::uint64_t longest() const { return longest_; }

 private:
  void find_lines(const InputFile& file, const Bytes& part);
  std::string describe_too_long(const InputFile& file, std::uint64_t line_begin,
                                std::uint64_t lines_before) const;

  const SortArguments& arguments_;
  const Comm* comm_ = nullptr;
  std::vector<char> text_;
  std::vector<std::uint64_t> begins_;  ///< in text_
  std::vector<std::uint16_t> lengths_;
  std::uint64_t longest_ = 0;
};

}  // namespace wisp::cli
