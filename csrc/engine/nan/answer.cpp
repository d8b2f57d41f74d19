// See answer.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/nan/answer.h>

#include <csrc/engine/raise_in_python.h>

#include <atomic>

namespace pyharness::engine {

namespace {

namespace py = pybind11;

using Trap = void (*)(const char*, int, const char*, const char*);
std::atomic<Trap> trap{nullptr};

} // namespace

void Answer::act() const {
  const Trap stops = trap.load();
  if (stop && stops != nullptr) {
    const auto& [file, line, function, why] = *stop;
    stops(file.c_str(), line, function.c_str(), why.c_str());
  }
}

Answer read_answer(const py::object& answer) {
  if (PyExceptionClass_Check(answer.ptr())) {
    raise_in_python(answer.ptr());
    return {true, std::nullopt};
  }
  if (py::isinstance<py::tuple>(answer)) {
    return {true, answer.cast<Stop>()};
  }
  return {answer.cast<bool>(), std::nullopt};
}

void set_nan_trap(std::uintptr_t address) {
  trap.store(reinterpret_cast<Trap>(address));
}

} // namespace pyharness::engine
