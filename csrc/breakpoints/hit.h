// An event as Python sees it.
#pragma once

#include <csrc/breakpoints/breakpoint.h>

#include <pybind11/pybind11.h>

namespace pyharness::breakpoints {

// A dict: kind, name, overload, before, inputs, outputs, variables, tensors.
// `tensors` has the address of the TensorImpl of each that is one: "in0", ...
// Needs the GIL.
pybind11::dict hit_of(const Event& event);

} // namespace pyharness::breakpoints
