// Hands what the search for a bad value found to Python.
#include <csrc/torch_headers.h>

#include <csrc/engine/bind.h>
#include <csrc/engine/nan/answer.h>
#include <csrc/engine/nan/finder.h>
#include <csrc/engine/raise_in_python.h>
#include <csrc/engine/values/bind_values.h>

#include <mutex>
#include <optional>

#include <pybind11/stl.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/profiler/unwind/unwind.h>
#include <torch/csrc/utils/pybind.h>

namespace pyharness::engine {

namespace py = pybind11;

namespace {

// --- as Python objects -------------------------------------------------------

py::list as_list(const std::vector<CheckedTensor>& tensors) {
  py::list all;
  for (const auto& facts : tensors) {
    py::dict fields;
    fields["name"] = facts.name;
    fields["position"] = facts.position;
    fields["address"] =
        reinterpret_cast<std::uintptr_t>(facts.tensor.unsafeGetTensorImpl());
    fields["shape"] = py::tuple(py::cast(facts.shape));
    fields["dtype"] = py::cast(facts.dtype);
    fields["device"] = facts.device;
    fields["kinds"] = facts.kinds;
    fields["statistics"] = as_dict(facts.statistics);
    all.append(std::move(fields));
  }
  return all;
}

std::vector<std::uintptr_t> addresses_of(const std::vector<void*>& frames) {
  std::vector<std::uintptr_t> addresses;
  addresses.reserve(frames.size());
  for (void* frame : frames) {
    addresses.push_back(reinterpret_cast<std::uintptr_t>(frame));
  }
  return addresses;
}

// [(function, library, address)], innermost first; by the dynamic symbols
// only, so that no debug information has to be read.
py::list native_frames(const std::vector<std::uintptr_t>& addresses) {
  std::vector<void*> places;
  places.reserve(addresses.size());
  for (const auto address : addresses) {
    places.push_back(reinterpret_cast<void*>(address));
  }
  const auto frames =
      torch::unwind::symbolize(places, torch::unwind::Mode::dladdr);
  py::list all;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    all.append(
        py::make_tuple(frames[i].funcname, frames[i].filename, addresses[i]));
  }
  return all;
}

py::dict as_dict(const Finding& finding) {
  py::dict fields;
  fields["kind"] = finding.is_node ? "node" : "op";
  fields["made"] = finding.made;
  fields["kinds"] = finding.kinds;
  fields["name"] = finding.name;
  fields["overload"] = finding.overload;
  fields["within"] = finding.within;
  fields["node"] = finding.node;
  fields["why"] = finding.why;
  fields["chain"] = finding.chain;
  fields["origin"] = finding.origin;
  fields["approximate"] = finding.approximate;
  fields["of_all_ranks"] = finding.of_all_ranks;
  fields["graph_task"] = finding.graph_task;
  fields["thread"] = finding.thread;
  fields["number"] = finding.number;
  fields["inputs"] = as_list(finding.inputs);
  fields["outputs"] = as_list(finding.outputs);
  fields["native"] = addresses_of(finding.native);
  return fields;
}

// --- told --------------------------------------------------------------------

// take(finding: dict, may_raise: bool): False where this is not what is looked
// for; else True, an exception class to be raised where Python called the op,
// or a place and a reason for gdb to stop there. Held with the GIL, from start
// to stop.
PyObject* handler = nullptr;

// What a thread without Python found waits for one that has it.
std::mutex parked_mutex;
std::optional<Finding> parked;

// An error of Python's, as the engine carries it to who called backward().
[[noreturn]] void throw_python_error(py::error_already_set& error) {
  error.restore();
  python_error carried;
  carried.persist();
  throw python_error(std::move(carried));
}

Answer ask(const Finding& finding, bool may_throw) {
  const py::gil_scoped_acquire gil;
  if (handler == nullptr) {
    return {};
  }
  try {
    const auto told = py::reinterpret_borrow<py::object>(handler);
    return read_answer(told(as_dict(finding), may_throw));
  } catch (py::error_already_set& error) {
    if (may_throw) {
      throw_python_error(error);
    }
    error.discard_as_unraisable("pyharness.find_nan");
    return {true, std::nullopt};
  }
}

bool tell(const Finding& finding, bool may_throw) {
  const auto answer = ask(finding, may_throw);
  answer.act();
  return answer.taken;
}

bool tell_parked() {
  std::optional<Finding> finding;
  {
    const std::lock_guard<std::mutex> lock(parked_mutex);
    finding.swap(parked);
  }
  if (!finding) {
    return false;
  }
  const bool taken = tell(*finding, /*may_throw=*/false);
  if (!taken) {
    resume_search();
  }
  return taken;
}

bool park(Finding& finding) {
  {
    const std::lock_guard<std::mutex> lock(parked_mutex);
    parked = std::move(finding);
  }
  // By the main thread, when it next runs Python; without a wait for the GIL.
  Py_AddPendingCall(
      [](void*) {
        tell_parked();
        return 0;
      },
      nullptr);
  return true;
}

bool take(Finding& finding, bool may_throw) {
  return PyGILState_GetThisThreadState() == nullptr ? park(finding)
                                                    : tell(finding, may_throw);
}

// False where a search runs already.
bool start(const py::object& told, ValueKinds kinds, double limit) {
  if (handler != nullptr) {
    return false;
  }
  handler = py::object(told).release().ptr();
  try {
    const py::gil_scoped_release no_gil;
    start_search({kinds, limit}, &take);
  } catch (...) {
    Py_CLEAR(handler);
    throw;
  }
  return true;
}

void stop() {
  {
    const py::gil_scoped_release no_gil;
    stop_search();
  }
  tell_parked();
  Py_CLEAR(handler);
}

// Calls a function of Python's without the error that may be on its way to it.
py::object uninterrupted(const py::function& call, const py::args& arguments) {
  forget_error_in_python();
  return call(*arguments);
}

} // namespace

void bind_nan(py::module_& m) {
  m.def("start_nan_search", &start);
  m.def("stop_nan_search", &stop);
  m.def("native_frames", &native_frames);
  m.def("uninterrupted", &uninterrupted);
  m.def("set_nan_trap", &set_nan_trap);
  m.def("ops_checked_by_thread", &checked_by_thread);
}

} // namespace pyharness::engine
