// Kernels of torch.compile's, which are no ops: shown to recordings as such,
// and to Python.
#include <csrc/torch_headers.h>

#include <csrc/engine/bind.h>
#include <csrc/engine/kernels/led_calls.h>
#include <csrc/engine/nan/answer.h>

#include <dlfcn.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <pybind11/stl.h>
#include <torch/csrc/autograd/python_variable.h>

namespace pyharness::engine {

namespace {

namespace py = pybind11;

// How inductor's kernels are called.
constexpr const char* kPrefix = "cpp_";

// --- as ops ------------------------------------------------------------------

// An op as long as this is there, as torch calls one: recordings see it, also
// in a backward, whose own arithmetic they do not.
class ShownAsOp {
 public:
  template <typename Inputs>
  ShownAsOp(const char* name, Inputs add_inputs) {
    const at::AutoGradMode shown(true);
    op_.emplace(at::RecordScope::FUNCTION);
    if (op_->isActive()) {
      std::vector<c10::IValue> inputs;
      add_inputs(inputs);
      op_->before(name, &inputs);
    }
  }

 private:
  std::optional<at::RecordFunction> op_;
};

// A kernel that a wrapper in Python calls.
py::object call_as_op(
    const std::string& name,
    const py::function& function,
    const py::args& arguments) {
  const ShownAsOp op(name.c_str(), [&](std::vector<c10::IValue>& inputs) {
    for (const auto& each : arguments) {
      if (THPVariable_Check(each.ptr())) {
        inputs.emplace_back(THPVariable_Unpack(each.ptr()));
      }
    }
  });
  return function(*arguments);
}

// Its name, and the address behind the call: NAME@ADDRESS.
std::string name_of_site(const LedCall& call) {
  std::string digits;
  for (auto left = call.back(); left != 0; left /= 16) {
    digits.insert(digits.begin(), "0123456789abcdef"[left % 16]);
  }
  return call.name() + '@' + digits;
}

// Kernels that a wrapper in C++ calls; the tensors are not known.
class AsOps final : public CallObserver {
 public:
  void around(const LedCall& call) override {
    const auto name = name_of_site(call);
    const ShownAsOp op(name.c_str(), [](std::vector<c10::IValue>&) {});
    call.proceed();
  }
};

// --- told --------------------------------------------------------------------

// told(name, back, arguments) is called before a kernel, with the address
// behind the call and all arguments as integers; it returns None, or what is
// called when the kernel has ended, with the nanoseconds that it took, and
// answers as Python does to a bad value.
class Told final : public CallObserver {
 public:
  Told(py::function told, std::map<std::string, std::size_t> arguments)
      : told_(std::move(told)), arguments_(std::move(arguments)) {}
  Told(const Told&) = delete;
  Told& operator=(const Told&) = delete;

  ~Told() override {
    const py::gil_scoped_acquire gil;
    told_ = {};
  }

  void around(const LedCall& call) override {
    After after;
    before(call, after);
    const auto begun = std::chrono::steady_clock::now();
    call.proceed(); // may throw
    const std::chrono::nanoseconds took =
        std::chrono::steady_clock::now() - begun;
    after.answer(took.count()).act();
  }

 private:
  // What is called at the end; null where nobody wants to hear of it.
  class After {
   public:
    After() = default;
    After(const After&) = delete;
    After& operator=(const After&) = delete;

    ~After() {
      if (called_) {
        const py::gil_scoped_acquire gil;
        called_ = {};
      }
    }

    void be(py::object called) {
      called_ = std::move(called);
    }

    Answer answer(std::int64_t nanoseconds) const {
      if (!called_) {
        return {};
      }
      const py::gil_scoped_acquire gil;
      try {
        return read_answer(called_(nanoseconds));
      } catch (py::error_already_set& error) {
        error.discard_as_unraisable("pyharness.find_nan");
        return {};
      }
    }

   private:
    py::object called_;
  };

  void before(const LedCall& call, After& after) const {
    const auto known = arguments_.find(call.name());
    if (known == arguments_.end()) {
      return;
    }
    const py::gil_scoped_acquire gil;
    try {
      py::object called =
          told_(call.name(), call.back(), call.arguments(known->second));
      if (!called.is_none()) {
        after.be(std::move(called));
      }
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("pyharness.find_nan");
    }
  }

  py::object told_;
  const std::map<std::string, std::size_t> arguments_;
};

// --- for Python --------------------------------------------------------------

// As long as it has not ended.
class LedKernels {
 public:
  LedKernels(
      const std::string& library,
      std::size_t words,
      std::shared_ptr<CallObserver> observer)
      : calls_(
            std::make_unique<LedCalls>(
                library.c_str(),
                kPrefix,
                words,
                std::move(observer))) {}

  void end() {
    calls_.reset();
  }

 private:
  std::unique_ptr<LedCalls> calls_;
};

// What a library of inductor's exports: one that Python loads, and one of
// AOTInductor's. Another's functions may be named alike.
bool is_inductors(const char* library) {
  void* opened = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (opened == nullptr) {
    return false;
  }
  const bool found = dlsym(opened, "PyInit_inductor_entry_cpp") != nullptr ||
      dlsym(opened, "AOTInductorModelContainerRun") != nullptr;
  dlclose(opened);
  return found;
}

std::map<std::string, std::uint64_t> kernels_in(const std::string& library) {
  return is_inductors(library.c_str())
      ? functions_called_within(library.c_str(), kPrefix)
      : std::map<std::string, std::uint64_t>();
}

std::unique_ptr<LedKernels> show_as_ops(
    const std::string& library,
    std::size_t words) {
  return std::make_unique<LedKernels>(
      library, words, std::make_shared<AsOps>());
}

std::unique_ptr<LedKernels> tell_of_kernels(
    const std::string& library,
    std::size_t words,
    const std::map<std::string, std::size_t>& arguments,
    py::function told) {
  return std::make_unique<LedKernels>(
      library, words, std::make_shared<Told>(std::move(told), arguments));
}

} // namespace

void bind_kernels(py::module_& m) {
  py::class_<LedKernels>(m, "LedKernels").def("end", &LedKernels::end);
  m.def("call_as_op", &call_as_op);
  m.def("kernels_in", &kernels_in);
  m.def("show_as_ops", &show_as_ops);
  m.def("tell_of_kernels", &tell_of_kernels);
}

} // namespace pyharness::engine
