// What else binds tensors' statistics.
#pragma once

#include <csrc/engine/values/values.h>

#include <pybind11/pybind11.h>

namespace pyharness::engine {

// The fields of model/results/finding.py's Statistics.
pybind11::dict as_dict(const ValueStatistics& statistics);

} // namespace pyharness::engine
