#pragma once

#include <array>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "c/handle.hpp"
#include "comm/comm_access.hpp"
#include "transport/throw_error.hpp"
#include "wisp/comm.hpp"
#include "wisp/error.hpp"
#include "wisp/neighborhood.hpp"
#include "wisp/wisp.h"

// What the functions of wisp.h share: handles, conversions, and exceptions that become error classes.

struct WISP_Comm_object : wisp::c::Handle<WISP_Comm_object> {
  explicit WISP_Comm_object(wisp::Comm of) : comm(std::move(of)) {}
  wisp::Comm comm;
};

struct WISP_Request_object : wisp::c::Handle<WISP_Request_object> {
  explicit WISP_Request_object(wisp::Request of) : request(std::move(of)) {}
  wisp::Request request;
};

struct WISP_Arrivals_object : wisp::c::Handle<WISP_Arrivals_object> {
  wisp::Arrivals arrivals;
};

struct WISP_Neighborhood_object : wisp::c::Handle<WISP_Neighborhood_object> {
  explicit WISP_Neighborhood_object(wisp::Neighborhood of) : neighborhood(std::move(of)) {}
  wisp::Neighborhood neighborhood;
};

namespace wisp::c {

using detail::as_size;

/// Keeps the sentence for WISP_Error_message, with the C name of the call; gives the class.
int keep_error(const char* call, int error_class, const std::string& sentence) noexcept;

/// Frees what is on this context: while no other thread looks at it, and where this one may.
template <class Object>
void free_handle(Object*& handle, const detail::ContextPtr& of) {
  // It may go with the object, but not while it is held.
  const std::shared_ptr<detail::World> world = of ? of->world : nullptr;
  std::optional<detail::EngineLock> lock;
  if (world) lock.emplace(world->engine(), "wisp::Comm");
  delete std::exchange(handle, nullptr);
}

/// Runs `body`; an exception becomes its error class.
template <class Body>
int guarded(const char* call, Body body) noexcept {
  try {
    body();
    return MPI_SUCCESS;
  } catch (const Error& error) {
    return keep_error(call, error.error_class(), error.what());
  } catch (const std::bad_alloc&) {
    return keep_error(call, MPI_ERR_NO_MEM, "out of memory");
  } catch (const std::exception& error) {
    return keep_error(call, MPI_ERR_OTHER, error.what());
  } catch (...) {
    return keep_error(call, MPI_ERR_OTHER, "a function of the program has thrown what is no std::exception");
  }
}

inline const Comm& comm_of(WISP_Comm comm) {
  if (comm == WISP_COMM_NULL) throw Error(MPI_ERR_COMM, "comm = WISP_COMM_NULL");
  return alive(comm, MPI_ERR_COMM, "comm").comm;
}

/// A pointer that may not be null.
template <class T>
T& given(T* pointer, const char* name) {
  if (pointer == nullptr) detail::throw_error(MPI_ERR_ARG, "{} = NULL", name);
  return *pointer;
}
/// An array of so many, which may be null if there are none.
template <class T>
std::span<T> array_of(T* first, std::size_t count, const char* name) {
  if (count == 0) return {};
  return {&given(first, name), count};
}
/// An argument that the call writes to.
template <class T>
T& out(T* pointer, const char* name) {
  return given(pointer, name);
}

/// WISP_COMM_NULL for an empty communicator.
inline WISP_Comm new_comm(Comm comm) {
  return comm.empty() ? WISP_COMM_NULL : new WISP_Comm_object(std::move(comm));
}

/// What `make` makes; nothing, if there is nowhere to put it: a communicator that one rank made and lost is
/// counted.
template <class Make>
void put_comm(WISP_Comm* newcomm, Make make) {
  WISP_Comm& made = out(newcomm, "newcomm");
  made = new_comm(make());
}

/// The request that `start` gives, which is not called where there is nowhere to put it.
template <class Start>
void put_request(WISP_Request* request, Start start) {
  WISP_Request& handle = out(request, "request");
  handle = new WISP_Request_object(start());
}

/// What an info says of a key; empty if it says nothing.
class InfoValue {
 public:
  InfoValue(MPI_Info info, const char* key) {
    if (info == MPI_INFO_NULL) return;
    int found = 0;
    detail::check_mpi(MPI_Info_get(info, key, static_cast<int>(text_.size()) - 1, text_.data(), &found),
                      "MPI_Info_get");
    if (found == 0) text_[0] = '\0';
  }
  std::string_view get() const { return text_.data(); }

 private:
  std::array<char, MPI_MAX_INFO_VAL + 1> text_{};
};

template <class Count>
std::size_t checked_count(Count count, const char* name) {
  if (count < 0) detail::throw_error(MPI_ERR_COUNT, "{} = {} is below 0", name, count);
  return as_size(count);
}

/// Of an array.
template <class Count>
std::size_t checked_count(Count count, const char* name, std::size_t place) {
  if (count < 0) detail::throw_error(MPI_ERR_COUNT, "{}[{}] = {} is below 0", name, place, count);
  return as_size(count);
}

template <class Count>
ConstBuffer to_send(const void* address, Count count, MPI_Datatype type, const char* count_name) {
  if (address == MPI_IN_PLACE) return in_place();
  return {address, checked_count(count, count_name), type};
}

template <class Count>
Buffer to_receive(void* address, Count count, MPI_Datatype type, const char* count_name) {
  if (address == MPI_IN_PLACE) return in_place();
  return {address, checked_count(count, count_name), type};
}

inline void put_status(MPI_Status* status, const Status& from) {
  from.copy_to(status);
}
/// Of an array, which may be MPI_STATUSES_IGNORE.
inline void put_status(MPI_Status* statuses, std::size_t place, const Status& from) {
  if (statuses != MPI_STATUSES_IGNORE) put_status(statuses + place, from);
}

}  // namespace wisp::c
