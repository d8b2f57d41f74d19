// See bind_monitored.h.
#include <csrc/trap/monitoring/bind_monitored.h>

#include <csrc/trap/monitoring/monitored.h>
#include <csrc/trap/monitoring/superinstructions.h>

namespace {

PyObject* begin_monitored(PyObject* /*module*/, PyObject* args) {
  pyharness::breakpoints::Monitored monitored{};
  if (PyArg_ParseTuple(
          args,
          "OOOOOO:begin_monitored",
          &monitored.lines_in,
          &monitored.is_stepping,
          &monitored.may_stop,
          &monitored.begins_threads,
          &monitored.watches_lines,
          &monitored.disable) == 0 ||
      !pyharness::breakpoints::begin_monitored(monitored)) {
    return nullptr;
  }
  Py_RETURN_NONE;
}

PyObject* change_monitored(PyObject* /*module*/, PyObject* args) {
  pyharness::breakpoints::Callbacks behind{};
  if (PyArg_ParseTuple(
          args,
          "OOO:change_monitored",
          &behind.start,
          &behind.line,
          &behind.unwind) == 0 ||
      !pyharness::breakpoints::change_monitored(behind)) {
    return nullptr;
  }
  Py_RETURN_NONE;
}

PyObject* end_monitored(PyObject* /*module*/, PyObject* /*unused*/) {
  pyharness::breakpoints::end_monitored();
  Py_RETURN_NONE;
}

PyObject* combine_instructions(PyObject* /*module*/, PyObject* code) {
  pyharness::breakpoints::combine_instructions(code);
  Py_RETURN_NONE;
}

PyMethodDef stepped{
    "stepped_event",
    pyharness::breakpoints::stepped_event,
    METH_VARARGS,
    "A callback of sys.monitoring."};

PyObject* while_stepping(PyObject* /*module*/, PyObject* callback) {
  return PyCFunction_NewEx(&stepped, callback, nullptr);
}

PyMethodDef methods[] = {
    {"begin_monitored",
     begin_monitored,
     METH_VARARGS,
     "begin_monitored(lines_in, is_stepping, may_stop, begins_threads, "
     "watches_lines, disable): see monitored.h."},
    {"change_monitored",
     change_monitored,
     METH_VARARGS,
     "change_monitored(start, line, unwind): the debugger's callbacks; files "
     "have other lines."},
    {"end_monitored",
     end_monitored,
     METH_NOARGS,
     "What comes is the debugger's again."},
    {"start_event",
     pyharness::breakpoints::start_event,
     METH_VARARGS,
     "A callback of sys.monitoring, for PY_START."},
    {"resume_event",
     pyharness::breakpoints::resume_event,
     METH_VARARGS,
     "A callback of sys.monitoring, for PY_RESUME."},
    {"line_event",
     pyharness::breakpoints::line_event,
     METH_VARARGS,
     "A callback of sys.monitoring, for LINE."},
    {"unwind_event",
     pyharness::breakpoints::unwind_event,
     METH_VARARGS,
     "A callback of sys.monitoring, for PY_UNWIND."},
    {"while_stepping",
     while_stepping,
     METH_O,
     "while_stepping(callback): a callback of sys.monitoring that calls it "
     "while a thread steps."},
    {"combine_instructions",
     combine_instructions,
     METH_O,
     "combine_instructions(code): see superinstructions.h."},
    {nullptr, nullptr, 0, nullptr},
};

} // namespace

bool pyharness::breakpoints::add_monitored(PyObject* module) {
  return PyModule_AddFunctions(module, methods) == 0;
}
