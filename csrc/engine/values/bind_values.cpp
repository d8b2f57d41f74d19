// Python's view of the check of a tensor's values.
#include <csrc/torch_headers.h>

#include <csrc/engine/bind.h>
#include <csrc/engine/values/bind_values.h>
#include <csrc/engine/values/values.h>

#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

namespace pyharness::engine {

namespace py = pybind11;

namespace {

// The fields of model/results/finding.py's Statistics.
py::dict statistics(const at::Tensor& tensor, ValueKinds kinds, double limit) {
  return as_dict(statistics_of(tensor, {kinds, limit}));
}

} // namespace

py::dict as_dict(const ValueStatistics& statistics) {
  py::dict fields;
  fields["count"] = statistics.count;
  fields["nan"] = statistics.nan;
  fields["positive_infinity"] = statistics.positive_infinity;
  fields["negative_infinity"] = statistics.negative_infinity;
  fields["large"] = statistics.large;
  fields["denormal"] = statistics.denormal;
  const bool finite = statistics.finite > 0;
  fields["minimum"] = finite ? py::cast(statistics.minimum) : py::none();
  fields["maximum"] = finite ? py::cast(statistics.maximum) : py::none();
  fields["mean"] = finite ? py::cast(statistics.mean) : py::none();
  fields["first"] = statistics.first
      ? py::object(py::tuple(py::cast(*statistics.first)))
      : py::none();
  return fields;
}

void bind_values(py::module_& m) {
  m.def(
      "value_kinds",
      [](const at::Tensor& tensor, ValueKinds kinds, double limit) {
        const py::gil_scoped_release no_gil;
        return kinds_of(tensor, {kinds, limit});
      },
      py::arg("tensor"),
      py::arg("kinds"),
      py::arg("limit"));
  m.def(
      "value_statistics",
      statistics,
      py::arg("tensor"),
      py::arg("kinds"),
      py::arg("limit"));
}

} // namespace pyharness::engine
