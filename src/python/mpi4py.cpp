#include "python/mpi4py.hpp"

#include <nanobind/stl/string.h>

#include <string>

namespace wisp::python {
namespace {

template <class Handle>
Handle* handle_in(nb::handle object) {
  return reinterpret_cast<Handle*>(nb::cast<std::uintptr_t>(mpi4py().addressof(object)));
}

std::string class_of(nb::handle object) {
  return nb::cast<std::string>(object.type().attr("__name__"));
}

template <class Handle>
Handle checked(nb::handle object, const nb::object& is_a, const char* argument, const char* what) {
  if (!nb::isinstance(object, is_a)) {
    throw_type_error(std::string(argument) + ": " + what + " is expected, not " + class_of(object));
  }
  return *handle_in<Handle>(object);
}

}  // namespace

const Mpi4py& mpi4py() {
  // Never freed: at the end of the program nobody says when the last use has been.
  static const Mpi4py* const names = [] {
    const nb::module_ module = nb::module_::import_("mpi4py.MPI");
    return new Mpi4py{module.attr("_addressof"), module.attr("Datatype"), module.attr("Comm"),
                      module.attr("Op"),         module.attr("Status"),   module.attr("Intracomm"),
                      module.attr("Group"),      module.attr("IN_PLACE"), module.attr("BOTTOM")};
  }();
  return *names;
}

void check_mpi4py() {
  const nb::module_ module = nb::module_::import_("mpi4py.MPI");
  const nb::object world = module.attr("COMM_WORLD");
  const bool fits = nb::cast<std::size_t>(module.attr("_sizeof")(world)) == sizeof(MPI_Comm) &&
                    comm_in(world, "COMM_WORLD") == MPI_COMM_WORLD;
  if (!fits)
    throw nb::import_error("wisp: mpi4py runs on an MPI whose handles are not those of this extension's");
}

bool is_in_place(nb::handle object) {
  return object.is(mpi4py().in_place);
}

bool is_datatype(nb::handle object) {
  return nb::isinstance(object, mpi4py().datatype);
}

MPI_Comm comm_in(nb::handle object, const char* argument) {
  return checked<MPI_Comm>(object, mpi4py().comm, argument, "a communicator of mpi4py");
}

MPI_Datatype datatype_in(nb::handle object, const char* argument) {
  return checked<MPI_Datatype>(object, mpi4py().datatype, argument, "a datatype of mpi4py");
}

MPI_Datatype datatype_called(const std::string& code, const char* argument) {
  try {
    return datatype_in(mpi4py().datatype.attr("fromcode")(code), argument);
  } catch (nb::python_error& error) {
    const std::string sentence = std::string(argument) + ": no datatype is called " + code;
    nb::raise_from(error, PyExc_ValueError, "%s", sentence.c_str());
  }
}

std::int64_t integer_in(nb::handle object, const char* argument) {
  const auto index = nb::steal(PyNumber_Index(object.ptr()));
  const long long value = index.is_valid() ? PyLong_AsLongLong(index.ptr()) : -1;
  if (value == -1 && PyErr_Occurred() != nullptr) {
    nb::python_error error;
    const std::string sentence = std::string(argument) + ": an integer of 64 bits is expected, not " +
                                 nb::cast<std::string>(nb::repr(object));
    nb::raise_from(error, PyExc_TypeError, "%s", sentence.c_str());
  }
  return value;
}

MPI_Op op_in(nb::handle object) {
  if (object.is_none()) return MPI_SUM;
  return checked<MPI_Op>(object, mpi4py().op, "op", "an operator of mpi4py");
}

MPI_Group group_in(nb::handle object, const char* argument) {
  return checked<MPI_Group>(object, mpi4py().group, argument, "a group of mpi4py");
}

MPI_Status* status_in(nb::handle object) {
  if (object.is_none()) return nullptr;
  if (!nb::isinstance(object, mpi4py().status))
    throw_type_error("status: a status of mpi4py is expected, not " + class_of(object));
  return handle_in<MPI_Status>(object);
}

nb::object wrapped_comm(MPI_Comm comm) {
  nb::object made = mpi4py().intracomm();
  *handle_in<MPI_Comm>(made) = comm;
  return made;
}

nb::object wrapped_group(MPI_Group group) {
  nb::object made = mpi4py().group();
  *handle_in<MPI_Group>(made) = group;
  return made;
}

void throw_type_error(const std::string& sentence) {
  throw nb::type_error(sentence.c_str());
}

void throw_value_error(const std::string& sentence) {
  throw nb::value_error(sentence.c_str());
}

}  // namespace wisp::python
