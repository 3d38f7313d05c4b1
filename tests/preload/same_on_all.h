/* Numbers that are the same on all ranks, and one number of all results of a rank. */
#include <stddef.h>
#include <stdint.h>

static uint64_t shared_state;
/* The same numbers on all ranks. */
static unsigned pick(unsigned below) {
  shared_state = shared_state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(shared_state >> 33) % below;
}

static uint64_t result = 1469598103934665603u;
static void look_at(const void* data, size_t bytes) {
  const unsigned char* all = data;
  for (size_t i = 0; i < bytes; ++i) result = (result ^ all[i]) * 1099511628211u;
}
