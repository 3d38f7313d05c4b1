#include <fmt/format.h>

#include <cstring>
#include <memory>

#include "cli/element_file.hpp"
#include "wisp/collectives.hpp"
#include "wisp/detail/sort/balance.hpp"

namespace wisp::cli {

void RecordFile::open(const Comm& comm, const std::string& path) {
  comm_ = &comm;
  file_ = std::make_unique<InputFile>(comm, path);
  if (file_->size() % width_ != 0) {
    throw BadInput(fmt::format("wisp sort: {} has {} bytes, which is not a multiple of the element's {}",
                               path, file_->size(), width_));
  }
  check_memory(comm, arguments_, file_->size(), memory_factor_);
  const wisp::detail::Balance balance(file_->size() / width_, comm.size());
  own_ = {balance.begin(comm.rank()) * width_, balance.begin(comm.rank() + 1) * width_};
}

void RecordFile::load(unsigned char* to, std::size_t stride) {
  if (stride == width_) {
    file_->read_all(own_, to);
    return;
  }
  std::vector<char> packed(own_.size());
  file_->read_all(own_, packed.data());
  for (std::uint64_t i = 0; i < count(); ++i) {
    std::memcpy(to + i * stride, packed.data() + i * width_, width_);
    std::memset(to + i * stride + width_, 0, stride - width_);
  }
}

void RecordFile::store(OutputFile& output, const unsigned char* from, std::uint64_t count,
                       std::size_t stride) {
  std::uint64_t before = 0;
  std::uint64_t total = count;
  comm_->exscan(buffer_of(count), buffer_of(before), MPI_SUM);
  comm_->allreduce(in_place(), buffer_of(total), MPI_SUM);
  std::vector<char> packed;
  const char* bytes = reinterpret_cast<const char*>(from);
  if (stride != width_) {
    packed.resize(count * width_);
    for (std::uint64_t i = 0; i < count; ++i) {
      std::memcpy(packed.data() + i * width_, from + i * stride, width_);
    }
    bytes = packed.data();
  }
  output.write_all(before * width_, bytes, count * width_);
  output.commit(total * width_);
}

}  // namespace wisp::cli
