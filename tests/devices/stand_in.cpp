// Devices that there are not: pages that nobody may touch but within a call of MPI, and CUDA's question whose
// a pointer is, in the name of CUDA's driver.

#include "stand_in.hpp"

#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>

namespace wisp::test {
namespace {

std::map<std::byte*, std::size_t> devices;
int calls_within = 0;

void allow(int protection) {
  for (const auto& [address, bytes] : devices) mprotect(address, bytes, protection);
}

/// While it lives, the memory of devices can be touched.
struct WithinMpi {
  WithinMpi() {
    if (calls_within++ == 0) allow(PROT_READ | PROT_WRITE);
  }
  ~WithinMpi() {
    if (--calls_within == 0) allow(PROT_NONE);
  }
};

}  // namespace

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
  const WithinMpi as_the_driver;
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace wisp::test

using wisp::test::WithinMpi;

extern "C" {

int cuPointerGetAttribute(void* value, int attribute, unsigned long long address) {
  const auto* const asked = reinterpret_cast<const std::byte*>(address);
  const auto behind = wisp::test::devices.upper_bound(const_cast<std::byte*>(asked));
  if (behind == wisp::test::devices.begin()) return 1;
  const auto& [begin, bytes] = *std::prev(behind);
  if (asked >= begin + bytes) return 1;
  if (attribute == 2) *static_cast<unsigned*>(value) = 2;  // on a device
  if (attribute == 8) *static_cast<bool*>(value) = false;  // and not managed
  return 0;
}

// Every call of MPI's that wisp makes with a user's buffer, or in which messages move.
#define WITHIN_MPI(name, parameters, arguments) \
  int MPI_##name parameters {                   \
    const WithinMpi within;                     \
    return PMPI_##name arguments;               \
  }

WITHIN_MPI(Isend, (const void* b, int n, MPI_Datatype t, int r, int g, MPI_Comm c, MPI_Request* q),
           (b, n, t, r, g, c, q))
WITHIN_MPI(Issend, (const void* b, int n, MPI_Datatype t, int r, int g, MPI_Comm c, MPI_Request* q),
           (b, n, t, r, g, c, q))
WITHIN_MPI(Irecv, (void* b, int n, MPI_Datatype t, int r, int g, MPI_Comm c, MPI_Request* q),
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
WITHIN_MPI(Reduce_local, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o), (a, b, n, t, o))
WITHIN_MPI(Pack, (const void* a, int n, MPI_Datatype t, void* b, int m, int* p, MPI_Comm c),
           (a, n, t, b, m, p, c))
WITHIN_MPI(Unpack, (const void* a, int m, int* p, void* b, int n, MPI_Datatype t, MPI_Comm c),
           (a, m, p, b, n, t, c))

}  // extern "C"
