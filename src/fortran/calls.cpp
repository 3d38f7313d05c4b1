// Between the interfaces of Fortran's module and the functions of C: handles are converted, subarrays get
// datatypes, statuses and indices become those of Fortran.

#include <cstdio>
#include <vector>

#include "c/shims.hpp"
#include "fortran/subarray.hpp"
#include "wisp/chain.h"
#include "wisp/neighborhood.h"

using namespace wisp::c;
using namespace wisp::fortran;
using wisp::detail::as_size;
using wisp::detail::throw_error;

static_assert(sizeof(MPI_Fint) == sizeof(int), "arrays of Fortran are passed on as they are");

extern "C" {
void wisp_fortran_tell_addresses();  // of the module
void wisp_fortran_take_buffers(CFI_cdesc_t* in_place, CFI_cdesc_t* bottom);
void wisp_fortran_take_statuses(void* ignore, void* ignore_all, const int* bytes);
}

namespace {

struct Addresses {
  const void* in_place = nullptr;
  const void* bottom = nullptr;
  const void* ignore = nullptr;
  const void* ignore_all = nullptr;
  int status_bytes = 0;
};
Addresses told;

const Addresses& addresses() {
  static const Addresses all = (wisp_fortran_tell_addresses(), told);
  return all;
}

void* address_of(const CFI_cdesc_t& buffer) {
  if (buffer.base_addr == addresses().in_place) return MPI_IN_PLACE;
  return buffer.base_addr == addresses().bottom ? MPI_BOTTOM : buffer.base_addr;
}

int size_of(WISP_Comm comm) {
  return comm_of(comm).size();
}
/// Of a range: none, if it is wrong, which is said later.
int size_of(WISP_Comm comm, int first, int last) {
  return first >= 0 && last < size_of(comm) ? last - first + 1 : 0;
}

void check_index(WISP_Arrivals arrivals, int i) {
  int count = 0;
  if (WISP_Arrivals_count(arrivals, &count) == MPI_SUCCESS && (i < 1 || i > count))
    throw_error(MPI_ERR_ARG, "i = {}, but {} blocks have arrived", i, count);
}

enum class Side { sent, received };

int degree(WISP_Neighborhood neighborhood, Side side) {
  int received = 0;
  int sent = 0;
  const int code = WISP_Neighborhood_degrees(neighborhood, &received, &sent);
  if (code != MPI_SUCCESS) throw_error(code, "{}", WISP_Error_message());
  return side == Side::sent ? sent : received;
}

/// The root of a range counts from its first rank.
bool is_root(WISP_Comm comm, int root, int first = 0) {
  return comm_of(comm).rank() == first + root;
}
bool is_root(WISP_Chain chain, int root) {
  int rank = -1;
  const int code = WISP_Chain_rank(chain, &rank);
  return code != MPI_SUCCESS || rank == root;
}

/// What is made of a subarray with gaps for the time of a call.
enum class Copies { none, read, written };

/// A buffer that has no datatype of its own, or counts for each rank. One that does not count is not looked
/// at.
class Contiguous {
 public:
  Contiguous(const CFI_cdesc_t* buffer, const char* name, Copies copies, bool counts = true)
      : address_(address_of(*buffer)) {
    if (!counts || is_contiguous(*buffer)) return;
    if (copies == Copies::none) {
      throw_error(MPI_ERR_BUFFER, "{} is a subarray with gaps, which this call takes only where it blocks",
                  name);
    }
    copy_ = packed(*buffer);
    address_ = copy_.data();
    if (copies == Copies::written) written_ = buffer;
    name_ = name;
  }
  Contiguous(const Contiguous&) = delete;
  Contiguous& operator=(const Contiguous&) = delete;
  ~Contiguous() {
    if (written_ != nullptr) unpack(copy_, *written_);
  }
  void* address() const { return address_; }
  /// A copy has no memory behind it.
  void check_room(MPI_Count count, MPI_Fint type) const {
    if (name_ == nullptr || count <= 0 || MPI_Type_f2c(type) == MPI_DATATYPE_NULL) return;
    MPI_Count size = 0;
    wisp::detail::check_mpi(MPI_Type_size_x(MPI_Type_f2c(type), &size), "MPI_Type_size_x");
    if (size == 0 || as_size(count) <= copy_.size() / as_size(size)) return;
    throw_error(MPI_ERR_BUFFER, "{} is a subarray with gaps of {} bytes: {} elements of {} bytes do not fit",
                name_, copy_.size(), count, size);
  }

 private:
  std::vector<char> copy_;
  void* address_;
  const CFI_cdesc_t* written_ = nullptr;
  const char* name_ = nullptr;  ///< of a copy
};

/// A buffer of elements, or of such blocks.
template <class Count>
class Elements {
 public:
  Elements(const CFI_cdesc_t* buffer, Count count, MPI_Fint type, Role role, const char* name,
           bool counts = true)
      : address_(address_of(*buffer)), count_(count), type_(MPI_Type_f2c(type)) {
    if (!counts || count <= 0 || type_ == MPI_DATATYPE_NULL || is_contiguous(*buffer)) return;
    type_ = subarray_of(*buffer, count, type_, role, name);
    count_ = 1;
  }
  void* address() const { return address_; }
  Count count() const { return count_; }
  MPI_Datatype type() const { return type_; }

 private:
  void* address_;
  Count count_;
  MPI_Datatype type_;
};

/// One for each rank or neighbor.
class Datatypes {
 public:
  Datatypes(const MPI_Fint* given, int count) {
    for (int i = 0; i < count; ++i) all_.push_back(MPI_Type_f2c(given[i]));
  }
  const MPI_Datatype* of_c() const { return all_.data(); }

 private:
  std::vector<MPI_Datatype> all_;
};

/// Statuses of C, which become those of Fortran at the end.
class Statuses {
 public:
  Statuses(void* given, int count, bool is_array) {
    if (given == (is_array ? addresses().ignore_all : addresses().ignore)) return;
    given_ = static_cast<char*>(given);
    of_c_.resize(count < 0 ? 0 : as_size(count));
    for (std::size_t i = 0; i < of_c_.size(); ++i) MPI_Status_f2c(at(i), &of_c_[i]);
  }
  Statuses(const Statuses&) = delete;
  Statuses& operator=(const Statuses&) = delete;
  ~Statuses() {
    for (std::size_t i = 0; i < of_c_.size(); ++i) MPI_Status_c2f(&of_c_[i], at(i));
  }
  // MPI_STATUSES_IGNORE is the same in the MPIs that there are, or wisp takes both.
  MPI_Status* of_c() const { return given_ == nullptr ? MPI_STATUS_IGNORE : of_c_.data(); }

 private:
  MPI_Fint* at(std::size_t i) const {
    return reinterpret_cast<MPI_Fint*>(given_ + i * as_size(addresses().status_bytes));
  }

  char* given_ = nullptr;
  mutable std::vector<MPI_Status> of_c_;
};

/// A handle of MPI's that a call makes: `null` where it makes none.
template <class Handle, class ToFortran>
class Made {
 public:
  Made(MPI_Fint* given, Handle null, ToFortran to_fortran)
      : given_(given), of_c_(null), to_fortran_(to_fortran) {}
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  ~Made() { *given_ = to_fortran_(of_c_); }
  Handle* of_c() { return &of_c_; }

 private:
  MPI_Fint* given_;
  Handle of_c_;
  ToFortran to_fortran_;
};

/// Indices that become those of arrays that begin with 1: none, if the call fails.
class FromOne {
 public:
  explicit FromOne(int* index) : indices_(index) { *index = MPI_UNDEFINED; }
  FromOne(int* indices, int* count) : indices_(indices), count_(count) { *count = 0; }
  FromOne(const FromOne&) = delete;
  FromOne& operator=(const FromOne&) = delete;
  ~FromOne() {
    const int count = count_ == nullptr ? 1 : *count_;
    if (count == MPI_UNDEFINED) return;
    for (int i = 0; i < count; ++i) {
      if (indices_[i] != MPI_UNDEFINED) ++indices_[i];
    }
  }

 private:
  int* indices_;
  const int* count_ = nullptr;
};

template <class Call>
void end(int* ierror, const char* name, Call call) {
  int code = MPI_SUCCESS;
  const int thrown = guarded(name, [&] { code = call(); });
  if (thrown != MPI_SUCCESS) code = thrown;
  if (ierror != nullptr) {
    *ierror = code;
  } else if (code != MPI_SUCCESS) {
    std::fprintf(stderr, "%s\n", WISP_Error_message());
    MPI_Abort(MPI_COMM_WORLD, code);
  }
}

}  // namespace

extern "C" {

void wisp_fortran_take_buffers(CFI_cdesc_t* in_place, CFI_cdesc_t* bottom) {
  told.in_place = in_place->base_addr;
  told.bottom = bottom->base_addr;
}

void wisp_fortran_take_statuses(void* ignore, void* ignore_all, const int* bytes) {
  told.ignore = ignore;
  told.ignore_all = ignore_all;
  told.status_bytes = *bytes;
}

#include "calls.inc"

}  // extern "C"
