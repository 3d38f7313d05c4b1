#include "python/module.hpp"

#include <nanobind/stl/string.h>

#include <string>

#include "python/mpi4py.hpp"
#include "python/request.hpp"
#include "wisp/error.hpp"
#include "wisp/version.h"

// The extension, one for each kind of MPI: wisp._openmpi, wisp._mpich, wisp._mpiabi.

namespace wisp::python {
namespace {

/// The class, for as long as the process lives: whoever throws may do so late.
PyObject* error_class() {
  static PyObject* const made = [] {
    nb::dict of_all;
    of_all["error_class"] = int{MPI_ERR_OTHER};  // of those that Python raises; an enumerator in MPI's ABI
    return PyErr_NewExceptionWithDoc(
        "wisp.Error",
        "A wrong argument, or what MPI says: the sentence names call, argument, value and bound, and "
        "`error_class` is one of MPI.ERR_….",
        PyExc_RuntimeError, of_all.ptr());
  }();
  return made;
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    PyErr_SetObject(error_class(), as_python(error).ptr());
  }
}

}  // namespace

nb::object as_python(const Error& error) {
  std::string sentence;
  for (const char* from = error.what(); *from != 0; ++from) {
    const bool is_scope = from[0] == ':' && from[1] == ':';
    sentence.push_back(is_scope ? '.' : *from);
    if (is_scope) ++from;
  }
  nb::object made = nb::borrow(error_class())(sentence);
  made.attr("error_class") = error.error_class();
  return made;
}

}  // namespace wisp::python

NB_MODULE(WISP_PYTHON_MODULE, module) {
  using namespace wisp::python;
  // Whatever lives until the interpreter ends has its memory taken back with it.
  nb::set_leak_warnings(false);
  check_mpi4py();
  module.attr("version") = WISP_VERSION;
  module.attr("Error") = nb::borrow(error_class());
  nb::register_exception_translator(&translate);
  define_requests(module);
  define_comm(module);
  define_neighborhood(module);
  define_sort(module);
  define_simulate(module);
}
