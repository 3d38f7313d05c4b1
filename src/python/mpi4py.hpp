#pragma once

#include <mpi.h>
#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

// What mpi4py's objects hold, by the addresses of the handles in them: nothing here knows what a handle is.

namespace wisp::python {

namespace nb = nanobind;

/// Names of mpi4py.MPI that are looked at again and again.
struct Mpi4py {
  nb::object addressof;
  nb::object datatype;  ///< the classes
  nb::object comm;
  nb::object op;
  nb::object status;
  nb::object intracomm;
  nb::object group;
  nb::object in_place;  ///< the constants
  nb::object bottom;
};
const Mpi4py& mpi4py();
/// An ImportError unless its handles are those of the MPI that this has been compiled for.
void check_mpi4py();

bool is_in_place(nb::handle object);
bool is_datatype(nb::handle object);

/// The handle in one of mpi4py's objects; a TypeError names the argument if it is none of the class.
MPI_Comm comm_in(nb::handle object, const char* argument);
MPI_Datatype datatype_in(nb::handle object, const char* argument);
/// By its code, as in "d" or "i4".
MPI_Datatype datatype_called(const std::string& code, const char* argument);
/// A count or displacement.
std::int64_t integer_in(nb::handle object, const char* argument);
MPI_Group group_in(nb::handle object, const char* argument);
/// None: MPI_SUM.
MPI_Op op_in(nb::handle object);
/// Null for None.
MPI_Status* status_in(nb::handle object);

/// A communicator, or group, of mpi4py's with this handle.
nb::object wrapped_comm(MPI_Comm comm);
nb::object wrapped_group(MPI_Group group);

[[noreturn]] void throw_type_error(const std::string& sentence);
[[noreturn]] void throw_value_error(const std::string& sentence);

}  // namespace wisp::python
