// See hit.h.
#include <csrc/torch_headers.h>

#include <csrc/breakpoints/hit.h>
#include <csrc/breakpoints/sites.h>

#include <torch/csrc/autograd/python_variable.h>

namespace pyharness::breakpoints {

namespace py = pybind11;

namespace {

py::object object_of(const at::Tensor& tensor) {
  return tensor.defined()
      ? py::reinterpret_steal<py::object>(THPVariable_Wrap(tensor))
      : py::none();
}

// What a program hands to an op; what is of another type is said by its name.
py::object object_of(const c10::IValue& value) {
  if (value.isNone()) {
    return py::none();
  }
  if (value.isTensor()) {
    return object_of(value.toTensor());
  }
  if (value.isBool()) {
    return py::bool_(value.toBool());
  }
  if (value.isInt()) {
    return py::int_(value.toInt());
  }
  if (value.isDouble()) {
    return py::float_(value.toDouble());
  }
  if (value.isString()) {
    return py::str(value.toStringRef());
  }
  if (value.isList()) {
    py::list items;
    for (const c10::IValue& each : value.toListRef()) {
      items.append(object_of(each));
    }
    return items;
  }
  return py::str("<" + value.tagKind() + ">");
}

py::tuple objects_of(std::span<const c10::IValue> values) {
  py::tuple made(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    made[i] = object_of(values[i]);
  }
  return made;
}

// Addresses of c10::TensorImpl, which a debugger reads from memory.
void add_tensors(
    py::dict& addresses,
    const char* side,
    std::span<const c10::IValue> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].isTensor() && values[i].toTensor().defined()) {
      const auto* impl = values[i].toTensor().unsafeGetTensorImpl();
      const auto name = side + std::to_string(i);
      addresses[name.c_str()] = reinterpret_cast<std::uintptr_t>(impl);
    }
  }
}

const char* name_of(Kind kind) {
  return kind == Kind::kOp ? "op" : kind == Kind::kNode ? "node" : "site";
}

} // namespace

py::dict hit_of(const Event& event) {
  py::dict tensors;
  add_tensors(tensors, "in", event.values.inputs);
  add_tensors(tensors, "out", event.values.outputs);
  py::dict hit;
  hit["kind"] = name_of(event.kind);
  hit["name"] = event.name;
  hit["overload"] = event.overload;
  hit["before"] = event.before;
  hit["inputs"] = objects_of(event.values.inputs);
  hit["outputs"] = objects_of(event.values.outputs);
  hit["tensors"] = tensors;
  py::tuple variables(event.variables);
  for (std::size_t i = 0; i < event.variables; ++i) {
    variables[i] = event.values.variables[i];
  }
  hit["variables"] = variables;
  if (event.site != nullptr) {
    hit["file"] = event.site->file;
    hit["line"] = event.site->line;
    hit["names"] = event.site->variables;
  }
  return hit;
}

} // namespace pyharness::breakpoints
