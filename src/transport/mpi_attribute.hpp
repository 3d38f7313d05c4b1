#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "wisp/error.hpp"

namespace wisp::detail {

/// One look at the attributes of a communicator at a time: MPI leaves that to its callers.
inline std::mutex& attributes_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// MPI will call this function: the library that it is in must not be unloaded before.
inline void keep_loaded(const void* function) {
  Dl_info library = {};
  if (dladdr(function, &library) == 0 || library.dli_fname == nullptr) return;
  // It stays once it has been marked; the program itself has no such name, and is not unloaded.
  if (void* handle = dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE)) dlclose(handle);
}

/// The T that is kept as an attribute of `comm`, made by `make` when there is none yet. It is closed and let
/// go when `comm` is freed, or at MPI_Finalize. `Key` tells several attributes of one type apart.
template <class T, int Key = 0, class Make>
std::shared_ptr<T> attribute_of(MPI_Comm comm, Make make) {
  // A keyval is a handle for the whole process: the one thing that MPI gives us no other place for.
  static const int keyval = [] {
    int created = MPI_KEYVAL_INVALID;
    const auto drop = [](MPI_Comm, int, void* attribute, void*) -> int {
      auto* held = static_cast<std::shared_ptr<T>*>(attribute);
      (*held)->close();
      delete held;
      return MPI_SUCCESS;
    };
    keep_loaded(reinterpret_cast<const void*>(+drop));
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, +drop, &created, nullptr),
              "MPI_Comm_create_keyval");
    return created;
  }();
  const auto look = [&] {
    void* found = nullptr;
    int exists = 0;
    check_mpi(MPI_Comm_get_attr(comm, keyval, &found, &exists), "MPI_Comm_get_attr");
    return exists != 0 ? *static_cast<std::shared_ptr<T>*>(found) : nullptr;
  };
  // Making one may wait for other processes, in collective calls of one thread: another one that wants the
  // same waits for it. Not destroyed: static destructors may call, too.
  struct Making {
    std::vector<MPI_Comm> comms;
    std::condition_variable fewer;
  };
  static Making& making = *new Making;
  std::shared_ptr<T> found;
  std::unique_ptr<std::shared_ptr<T>> held;  // goes after the lock
  std::unique_lock lock(attributes_mutex());
  making.fewer.wait(lock, [&] { return (found = look()) || std::ranges::count(making.comms, comm) == 0; });
  if (found) return found;
  making.comms.push_back(comm);
  const auto end_making = [&] {
    if (!lock.owns_lock()) lock.lock();
    std::erase(making.comms, comm);
    making.fewer.notify_all();
  };
  try {
    lock.unlock();
    held = std::make_unique<std::shared_ptr<T>>(make());
    lock.lock();
    check_mpi(MPI_Comm_set_attr(comm, keyval, held.get()), "MPI_Comm_set_attr");
    found = *held.release();
  } catch (...) {
    end_making();
    throw;
  }
  end_making();
  return found;
}

}  // namespace wisp::detail
