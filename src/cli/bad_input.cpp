#include "cli/bad_input.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/world_rank.hpp"

namespace wisp::cli {
namespace {

/// Why a file cannot be written, as an errno, without opening it: it may be a pipe. 0: it can.
int why_not_writable(const std::filesystem::path& file) {
  std::error_code code;
  const auto status = std::filesystem::status(file, code);
  if (std::filesystem::is_directory(status)) return EISDIR;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  const int result =
      std::filesystem::exists(status) ? access(file.c_str(), W_OK) : access(folder.c_str(), W_OK | X_OK);
  return result == 0 ? 0 : errno;
}

}  // namespace

void check_writable(const std::string& command, const std::string& file) {
  if (file.empty()) return;
  int why = world_rank() == 0 ? why_not_writable(file) : 0;
  detail::check_mpi(MPI_Bcast(&why, 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Bcast");
  if (why != 0)
    throw BadInput(fmt::format("wisp {}: {} cannot be written: {}", command, file, std::strerror(why)));
}

}  // namespace wisp::cli
