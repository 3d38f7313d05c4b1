#include "transport/mpi_library.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <array>

#include "wisp/error.hpp"

namespace wisp::detail {
namespace {

constexpr MpiLibrary open_mpi{.tells_truncated_length = true,
                              .has_constant_ended_request = true,
                              .joins_in_sessions = false,  // 5.0.11 crashes
                              .looks_in_turn = 4,
                              .least_copied = 257,
                              .largest_copied = 2048,
                              .largest_copied_on_shared_cores = 4096,
                              .eager_bytes = 4032,
                              .least_typed_block = 256,
                              .least_typed_message = 4032,
                              .short_bytes = 256,
                              .short_of_turn = 1.0 / 60,
                              .message_of_turn = 1.0 / 25,
                              .handshake_of_turn = 1.0 / 4,
                              .queued_seconds = 0};

/// MPICH; of others nothing else is known.
constexpr MpiLibrary mpich{.tells_truncated_length = false,
                           .has_constant_ended_request = false,
                           .joins_in_sessions = true,
                           .looks_in_turn = 1,
                           .least_copied = 0,
                           .largest_copied = 0,
                           .largest_copied_on_shared_cores = 0,
                           .eager_bytes = 6144,
                           .least_typed_block = 16384,
                           .least_typed_message = 6144,
                           .short_bytes = 0,
                           .short_of_turn = 1.0 / 25,
                           .message_of_turn = 1.0 / 25,
                           .handshake_of_turn = 1.0 / 2.5,
                           .queued_seconds = 2e-9};

}  // namespace

std::string library_version() {
  std::array<char, 16384>
      text{};  // a preload may meet another library than it was made for, with longer texts
  int length = 0;
  check_mpi(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  return text.data();
}

bool is_open_mpi() {
  return library_version().find("Open MPI") != std::string::npos;
}

std::optional<bool> is_aware_of_cuda() {
  // Open MPI and MPICH have it, declared in a header of the one's and in none of some versions of the other.
  auto* const query = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"));
  return query == nullptr ? std::nullopt : std::optional(query() != 0);
}

[[gnu::hot]] const MpiLibrary& mpi_library() {
  static const MpiLibrary& found = is_open_mpi() ? open_mpi : mpich;
  return found;
}

}  // namespace wisp::detail
