// How this module was built, told to Python.
#pragma once

#include <pybind11/pybind11.h>

namespace pyharness {

void bind_build_info(pybind11::module_& m);

} // namespace pyharness
