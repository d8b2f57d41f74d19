// What of the module pyharness._trap stands in front of callbacks of
// sys.monitoring.
#pragma once

#include <Python.h>

namespace pyharness::breakpoints {

// Returns false with an exception set.
bool add_monitored(PyObject* module);

} // namespace pyharness::breakpoints
