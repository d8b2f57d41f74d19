// What each part of pyharness._engine adds to the module.
#pragma once

#include <pybind11/pybind11.h>

namespace pyharness::engine {

void bind_breakpoints(pybind11::module_& m);
void bind_chains(pybind11::module_& m);
void bind_kernels(pybind11::module_& m);
void bind_nan(pybind11::module_& m);
void bind_nodes(pybind11::module_& m);
void bind_recorder(pybind11::module_& m);
void bind_saved(pybind11::module_& m);
void bind_values(pybind11::module_& m);

} // namespace pyharness::engine
