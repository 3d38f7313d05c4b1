// Devices that there are not: pages that nobody may touch but within a call of MPI or of CUDA's driver, whose
// names are taken here.

#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "device_memory.hpp"

namespace wisp::test {
namespace {

std::map<std::byte*, std::size_t> devices;
int calls_within = 0;
bool has_context = false;  ///< as of a thread that has not used its device

void allow(int protection) {
  for (const auto& [address, bytes] : devices) mprotect(address, bytes, protection);
}

/// While it lives, the memory of devices can be touched.
struct Within {
  Within() {
    if (calls_within++ == 0) allow(PROT_READ | PROT_WRITE);
  }
  ~Within() {
    if (--calls_within == 0) allow(PROT_NONE);
  }
};

bool is_of_device(const void* address) {
  const auto* const asked = static_cast<const std::byte*>(address);
  const auto behind = devices.upper_bound(const_cast<std::byte*>(asked));
  return behind != devices.begin() && asked < std::prev(behind)->first + std::prev(behind)->second;
}

/// Open MPI asks of the elements alone where they are, and not of what they are packed to.
void check_of_host(const void* packed) {
  if (!is_of_device(packed)) return;
  std::fprintf(stderr, "stand-in: the packed side is on a device\n");
  std::abort();
}

/// A datatype may not reach from one memory into another: MPI asks of the address alone where it is.
void check_of_one_memory(const void* address, int count, MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_true_extent(type, &true_lower, &true_extent);
  if (count == 0 || true_extent == 0) return;
  const auto* const first = static_cast<const std::byte*>(address) + true_lower;
  const auto* const last = first + (count - 1) * extent + true_extent - 1;
  for (const auto& [begin, bytes] : devices) {
    const bool is_first_in = begin <= first && first < begin + bytes;
    const bool is_last_in = begin <= last && last < begin + bytes;
    if (is_first_in == is_last_in && (is_first_in || last < begin || first >= begin + bytes)) continue;
    std::fprintf(stderr, "stand-in: a message of %d elements is partly on a device\n", count);
    std::abort();
  }
}

}  // namespace

std::string why_no_device() {
  return {};
}

DeviceMemory::DeviceMemory(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  bytes_ = (bytes / page + 1) * page;
  address_ = static_cast<std::byte*>(mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  devices[address_] = bytes_;
}

DeviceMemory::~DeviceMemory() {
  devices.erase(address_);
  munmap(address_, bytes_);
}

void DeviceMemory::copy(void* to, const void* from, std::size_t bytes) {
  const Within driver;
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace wisp::test

using wisp::test::Within;

extern "C" {

// For the tests in Python, which find them by name.
void* device_allocate(std::size_t bytes) {
  return (new wisp::test::DeviceMemory(bytes))->address();
}
void device_copy(void* to, const void* from, std::size_t bytes) {
  const Within driver;
  std::memcpy(to, from, bytes);
}

int cuPointerGetAttribute(void* value, int attribute, unsigned long long address) {
  if (!wisp::test::is_of_device(reinterpret_cast<const void*>(address))) return 1;
  if (attribute == 1) *static_cast<void**>(value) = &wisp::test::devices;  // a context
  if (attribute == 2) *static_cast<unsigned*>(value) = 2;                  // on a device
  if (attribute == 8) *static_cast<bool*>(value) = false;                  // and not managed
  return 0;
}

int cuMemcpy(unsigned long long to, unsigned long long from, std::size_t bytes) {
  if (!wisp::test::has_context) return 201;
  const Within driver;
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int cuStreamSynchronize(void*) {
  return 0;
}
int cuCtxSetCurrent(void* context) {
  wisp::test::has_context = context == &wisp::test::devices;
  return 0;
}

// Every call of MPI's that wisp makes with a user's buffer, or in which messages move. MPI_Reduce_local is
// none: Open MPI 4's cannot read a device.
#define WITHIN_MPI(name, parameters, arguments) \
  int MPI_##name parameters {                   \
    const Within within;                        \
    return PMPI_##name arguments;               \
  }

/// The same of calls whose first three arguments are a buffer.
#define WITHIN_MPI_OF_BUFFER(name, parameters, arguments) \
  int MPI_##name parameters {                             \
    wisp::test::check_of_one_memory(b, n, t);             \
    const Within within;                                  \
    return PMPI_##name arguments;                         \
  }

WITHIN_MPI_OF_BUFFER(Isend, (const void* b, int n, MPI_Datatype t, int r, int g, MPI_Comm c, MPI_Request* q),
                     (b, n, t, r, g, c, q))
WITHIN_MPI_OF_BUFFER(Issend, (const void* b, int n, MPI_Datatype t, int r, int g, MPI_Comm c, MPI_Request* q),
                     (b, n, t, r, g, c, q))
WITHIN_MPI_OF_BUFFER(Irecv, (void* b, int n, MPI_Datatype t, int r, int g, MPI_Comm c, MPI_Request* q),
                     (b, n, t, r, g, c, q))
WITHIN_MPI(Imrecv, (void* b, int n, MPI_Datatype t, MPI_Message* m, MPI_Request* q), (b, n, t, m, q))
WITHIN_MPI(Iprobe, (int r, int g, MPI_Comm c, int* f, MPI_Status* s), (r, g, c, f, s))
WITHIN_MPI(Improbe, (int r, int g, MPI_Comm c, int* f, MPI_Message* m, MPI_Status* s), (r, g, c, f, m, s))
WITHIN_MPI(Test, (MPI_Request * q, int* f, MPI_Status* s), (q, f, s))
WITHIN_MPI(Testsome, (int n, MPI_Request* q, int* o, int* i, MPI_Status* s), (n, q, o, i, s))
WITHIN_MPI(Waitany, (int n, MPI_Request* q, int* i, MPI_Status* s), (n, q, i, s))
WITHIN_MPI(Request_get_status, (MPI_Request q, int* f, MPI_Status* s), (q, f, s))
WITHIN_MPI(Wait, (MPI_Request * q, MPI_Status* s), (q, s))
WITHIN_MPI(Waitall, (int n, MPI_Request* q, MPI_Status* s), (n, q, s))
WITHIN_MPI(Allreduce, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
           (a, b, n, t, o, c))
WITHIN_MPI(Comm_split, (MPI_Comm c, int n, int k, MPI_Comm* m), (c, n, k, m))
WITHIN_MPI(Comm_free, (MPI_Comm * c), (c))
int MPI_Pack(const void* b, int n, MPI_Datatype t, void* to, int m, int* p, MPI_Comm c) {
  wisp::test::check_of_one_memory(b, n, t);
  wisp::test::check_of_host(to);
  const Within within;
  return PMPI_Pack(b, n, t, to, m, p, c);
}
int MPI_Unpack(const void* from, int m, int* p, void* b, int n, MPI_Datatype t, MPI_Comm c) {
  wisp::test::check_of_one_memory(b, n, t);
  wisp::test::check_of_host(from);
  const Within within;
  return PMPI_Unpack(from, m, p, b, n, t, c);
}

}  // extern "C"
