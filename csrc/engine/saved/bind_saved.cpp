// Hands what was written into saved tensors to Python.
#include <csrc/torch_headers.h>

#include <csrc/engine/bind.h>
#include <csrc/engine/saved/python_notes.h>
#include <csrc/engine/saved/saves.h>

#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

namespace pyharness::engine {

namespace py = pybind11;

namespace {

// told(found: dict). Held with the GIL, from start to stop.
PyObject* handler = nullptr;

py::list python_lines(const Write& write) {
  py::list all;
  for (std::size_t i = 0; i < write.python_count; ++i) {
    const auto& line = write.python[i];
    all.append(
        py::make_tuple(line.file.data(), line_of(line), line.function.data()));
  }
  return all;
}

py::list addresses(const Write& write) {
  py::list all;
  for (std::size_t i = 0; i < write.native_count; ++i) {
    all.append(reinterpret_cast<std::uintptr_t>(write.native[i]));
  }
  return all;
}

py::dict as_dict(const Overwritten& found) {
  py::dict fields;
  fields["node"] = found.node;
  fields["saved"] = found.saved;
  fields["run"] = found.run;
  fields["shape"] = py::tuple(py::cast(found.shape));
  fields["dtype"] = py::cast(found.dtype);
  fields["counted"] = found.counted;
  fields["inside"] = found.inside;
  fields["graph_task"] = found.graph_task;
  fields["thread"] = found.write->thread;
  fields["python_thread"] = found.write->python_thread;
  fields["native"] = addresses(*found.write);
  fields["python"] = python_lines(*found.write);
  if (found.changed) {
    fields["index"] = py::tuple(py::cast(found.changed->index));
    fields["was"] = found.changed->was;
    fields["is"] = found.changed->is;
  }
  return fields;
}

void tell(const Overwritten& found) {
  const py::gil_scoped_acquire gil;
  if (handler == nullptr) {
    return;
  }
  // An error of the program's may be on its way: this one is ours alone.
  const py::error_scope others;
  try {
    py::reinterpret_borrow<py::object>(handler)(as_dict(found));
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("pyharness.find_overwritten");
  }
}

bool start(const py::object& told) {
  if (handler != nullptr) {
    return false;
  }
  handler = py::object(told).release().ptr();
  try {
    const py::gil_scoped_release no_gil;
    start_watching_saves(&tell);
  } catch (...) {
    Py_CLEAR(handler);
    throw;
  }
  return true;
}

void stop() {
  {
    const py::gil_scoped_release no_gil;
    stop_watching_saves();
  }
  Py_CLEAR(handler);
}

} // namespace

void bind_saved(py::module_& m) {
  m.def("start_watching_saves", &start);
  m.def("stop_watching_saves", &stop);
  m.def("count_saves", [] {
    const auto counts = count_saves();
    return py::make_tuple(counts.watched, counts.elsewhere);
  });
}

} // namespace pyharness::engine
