// The one file that compiles fmt; the macro must come before its first header.
#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY
#endif
#include "wisp/error.hpp"

#include <fmt/format.h>

#include <mpi.h>

#include "comm/world.hpp"
#include "transport/mpi_process.hpp"
#include "transport/process_failure.hpp"
#include "transport/throw_error.hpp"
#include "wisp/posted.hpp"

namespace wisp::detail {
namespace {

std::string text_of(int code) {
  if (is_finalized()) return "MPI has been finalized";
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, as_size(length)};
}

int class_of(int code) {
  if (is_finalized()) return code;
  int error_class = MPI_ERR_UNKNOWN;
  MPI_Error_class(code, &error_class);
  return error_class;
}

/// Of a size that may not be known, but for that it is above another.
std::string text_of_size(std::size_t size, std::size_t other) {
  return size == unknown_size ? formatted("more than {}", other) : formatted("{}", size);
}

}  // namespace

std::string format_arguments(fmt::string_view text, fmt::format_args arguments) {
  return fmt::vformat(text, arguments);
}

void throw_unequal_sizes(const char* call, int rank, std::size_t bytes, std::size_t expected) {
  throw_error(
      MPI_ERR_TRUNCATE,
      "{}: rank {} of the parent communicator sends {} bytes where this rank expects {}: sizes must be "
      "the same on all ranks",
      call, rank, text_of_size(bytes, expected), expected);
}

void throw_size_error(const char* call, int rank, std::size_t bytes, std::size_t expected) {
  throw_error(MPI_ERR_TRUNCATE, "{}: rank {} has {} bytes, but the root's counts give it {}", call, rank,
              text_of_size(bytes, expected), text_of_size(expected, bytes));
}

void throw_mpi_error(int code, const char* call) {
  throw_error(class_of(code), "{}: {}", call, text_of(code));
}

void throw_outside(int error_class, const char* call, const char* argument, long long value, long long first,
                   long long last) {
  throw Error(error_class,
              last < first ? formatted("{}: {} = {}, but there is none to choose", call, argument, value)
                           : formatted("{}: {} = {} is outside {}..{}", call, argument, value, first, last));
}

bool is_of_size(int error) noexcept {
  return class_of(error) == MPI_ERR_TRUNCATE;
}

void throw_message_error(const Message& message) {
  using Expecting = Message::Expecting;
  if (message.expecting != Expecting::nothing && is_of_size(message.error)) {
    const std::size_t came = message.envelope.bytes;
    if (message.expecting == Expecting::equal_sizes) {
      throw_unequal_sizes(message.operation, message.rank, came, message.expected);
    }
    if (message.expecting == Expecting::equal_sizes_behind_header) {
      const bool has_header = came != unknown_size && came >= header_bytes;
      throw_unequal_sizes(message.operation, message.rank, has_header ? came - header_bytes : came,
                          message.expected - header_bytes);
    }
    if (message.expecting == Expecting::blocks) {
      throw_error(MPI_ERR_TRUNCATE, "{}: rank {} sends {} bytes where {} are due", message.operation,
                  message.rank, text_of_size(came, message.expected), message.expected);
    }
    if (message.expecting == Expecting::own_block) {
      throw_size_error(message.operation, message.rank, message.expected, came);
    }
    throw_size_error(message.operation, message.rank, came, message.expected);
  }
  const int failed = message.failed < 0 && is_process_failure(message.error) ? message.peer : message.failed;
  if (failed >= 0) {
    message.world->failures().note(message, failed);
    message.world->failures().add_rank(failed);
    throw_error(process_failure_class, "{}: rank {} of the parent communicator has failed", message.operation,
                failed);
  }
  if (message.lacks_code) {
    throw_error(
        MPI_ERR_COMM,
        "{}: rank {} of the parent communicator and this one hold communicators with all {} codes that "
        "tags have for those that the two share. Drop some that are done, or ask for more MPI "
        "communicators below (DuplicateOptions::mpi_communicators)",
        message.operation, message.peer, message.expected);
  }
  if (message.error == MPI_ERR_COMM) {
    throw_error(MPI_ERR_COMM, "{}: the MPI communicator below has been freed", message.operation);
  }
  const std::string peer =
      message.peer < 0 ? "any source" : formatted("rank {} of the parent communicator", message.peer);
  throw_error(class_of(message.error), "{}: a message {} {}: {}", message.operation,
              message.is_receive ? "from" : "to", peer, text_of(message.error));
}

}  // namespace wisp::detail
