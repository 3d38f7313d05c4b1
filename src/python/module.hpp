#pragma once

#include <nanobind/nanobind.h>

#include "wisp/comm.hpp"
#include "wisp/error.hpp"

// The parts of the extension, each in the file of its name.

namespace wisp::python {

namespace nb = nanobind;

/// An instance of wisp.Error, with the dots of Python's names.
nb::object as_python(const Error& error);

void define_comm(nb::module_& module);
void define_collectives(nb::class_<Comm>& comm);
void define_neighborhood(nb::module_& module);
void define_sort(nb::module_& module);
void define_simulate(nb::module_& module);

}  // namespace wisp::python
