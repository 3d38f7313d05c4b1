#pragma once

#include <mpi.h>

#include <stdexcept>
#include <string>

namespace wisp {

/// What every call of the library throws: an MPI error class, and a sentence that names the call, the
/// argument, its value and its bound, as in "wisp::Comm::range: last = 9 is outside 0..7".
class Error : public std::runtime_error {
 public:
  Error(int error_class, const std::string& sentence)
      : std::runtime_error(sentence), error_class_(error_class) {}

  /// One of MPI_ERR_RANK, MPI_ERR_ROOT, MPI_ERR_COUNT, …
  int error_class() const { return error_class_; }

 private:
  int error_class_;
};

namespace detail {

[[noreturn]] void throw_mpi_error(int code, const char* call);
[[noreturn]] void throw_outside(int error_class, const char* call, const char* argument, long long value,
                                long long first, long long last);

/// Throws an Error with MPI's own text if `code` is not MPI_SUCCESS.
inline void check_mpi(int code, const char* call) {
  if (code != MPI_SUCCESS) [[unlikely]]
    throw_mpi_error(code, call);
}

/// Throws "<call>: <argument> = <value> is outside <first>..<last>" unless first <= value <= last.
inline void check_within(int error_class, const char* call, const char* argument, long long value,
                         long long first, long long last) {
  if (value < first || value > last) [[unlikely]]
    throw_outside(error_class, call, argument, value, first, last);
}

}  // namespace detail
}  // namespace wisp
