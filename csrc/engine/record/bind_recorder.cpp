// Recordings, for Python: one tuple of plain values each, decoded there.
#include <csrc/torch_headers.h>

#include <csrc/engine/record/recordings.h>

#include <csrc/engine/bind.h>
#include <csrc/engine/provenance/names.h>

#include <string>
#include <vector>

#include <pybind11/stl.h>

namespace pyharness::engine {

namespace {

namespace py = pybind11;

template <typename T>
py::bytes bytes_of(const std::vector<T>& values) {
  return {
      reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

py::tuple described(const Drained& drained) {
  return py::make_tuple(
      drained.thread,
      drained.number,
      drained.name,
      bytes_of(drained.events),
      drained.lost,
      bytes_of(drained.notes),
      drained.first_note);
}

py::list stop(std::uint64_t recording) {
  std::vector<Drained> all;
  {
    const py::gil_scoped_release no_gil;
    all = stop_recording(recording);
  }
  py::list threads;
  for (const auto& each : all) {
    threads.append(described(each));
  }
  return threads;
}

std::string name_of_dtype(int number) {
  const auto type = static_cast<at::ScalarType>(number);
  // Lower case, and as Python has them: Float is float32.
  return std::string(c10::getDtypeNames(type).first);
}

std::string name_of_device(int type, int index) {
  return at::Device(
             static_cast<at::DeviceType>(type),
             static_cast<c10::DeviceIndex>(static_cast<std::int8_t>(index)))
      .str();
}

} // namespace

void bind_recorder(py::module_& m) {
  m.def(
      "start_recording",
      [](bool forward,
         bool backward,
         bool tensors,
         bool inner_ops,
         bool interpose,
         std::size_t capacity) {
        return start_recording(
            {forward, backward, tensors, inner_ops, interpose}, capacity);
      },
      py::arg("forward"),
      py::arg("backward"),
      py::arg("tensors"),
      py::arg("inner_ops"),
      py::arg("interpose"),
      py::arg("capacity"),
      py::call_guard<py::gil_scoped_release>());
  m.def("stop_recording", &stop);
  m.def(
      "count_events", &count_events, py::call_guard<py::gil_scoped_release>());
  m.def("all_names", &all_names);
  m.def("name_of_dtype", &name_of_dtype);
  m.def("name_of_device", &name_of_device);
}

} // namespace pyharness::engine
