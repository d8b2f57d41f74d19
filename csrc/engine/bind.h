// What each part of pyharness._engine adds to the module.
#pragma once

#include <pybind11/pybind11.h>

namespace pyharness::engine {

void bind_nodes(pybind11::module_& m);

} // namespace pyharness::engine
