/* Preloaded under MPICH by scripts/mpirun when ranks outnumber cores: MPICH's UCX progress spins while it
 * waits, and holds the core that its partner needs. After a few polls without an event, yield. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

typedef unsigned (*progress_function)(void* worker);

unsigned ucp_worker_progress(void* worker);

unsigned ucp_worker_progress(void* worker) {
  static progress_function progress;
  static int empty_polls;
  if (!progress) *(void**)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
  /* Python loads MPI late, and where only it looks. */
  if (!progress)
    *(void**)&progress = dlsym(dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD), "ucp_worker_progress");
  const unsigned events = progress(worker);
  if (events != 0) {
    empty_polls = 0;
  } else if (++empty_polls >= 8) {
    empty_polls = 0;
    sched_yield();
  }
  return events;
}
