// See breakpoint.h.
#include <csrc/torch_headers.h>

#include <csrc/breakpoints/breakpoint.h>

#include <csrc/breakpoints/active.h>
#include <csrc/breakpoints/glob.h>
#include <csrc/breakpoints/hit.h>

#include <pybind11/pybind11.h>

#include <string_view>

namespace pyharness::breakpoints {

namespace py = pybind11;

namespace {

std::atomic<Trap> trap{nullptr};

bool has_python() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsInitialized() != 0 && Py_IsFinalizing() == 0;
#else
  return Py_IsInitialized() != 0 && _Py_IsFinalizing() == 0;
#endif
}

// What an action does is part of no exception that is on its way up.
class KeepError {
 public:
  KeepError() {
    PyErr_Fetch(&type_, &value_, &traceback_);
  }
  ~KeepError() {
    PyErr_Restore(type_, value_, traceback_);
  }
  KeepError(const KeepError&) = delete;
  KeepError& operator=(const KeepError&) = delete;

 private:
  PyObject* type_ = nullptr;
  PyObject* value_ = nullptr;
  PyObject* traceback_ = nullptr;
};

// The line at which gdb stops, as the Python half tells it.
struct Stop {
  std::string file;
  int line = 0;
  std::string function;
  std::string why;
};

struct Answer {
  std::optional<Stop> stop;
  bool counts = true; // false: a debugger evaluates, the program is not there
};

Answer ask_what_to_do(PyObject* on_hit, const Event& event) {
  const py::gil_scoped_acquire gil;
  const KeepError keep;
  try {
    const py::object answer =
        py::reinterpret_borrow<py::object>(on_hit)(hit_of(event));
    if (answer.is_none() || py::isinstance<py::bool_>(answer)) {
      return {std::nullopt, answer.is_none() || answer.cast<bool>()};
    }
    const auto [file, line, function, why] =
        answer.cast<std::tuple<std::string, int, std::string, std::string>>();
    return {Stop{file, line, function, why}};
  } catch (py::error_already_set& error) {
    error.restore();
    PyErr_WriteUnraisable(on_hit);
  } catch (const std::exception& error) { // the answer is no such tuple
    PyErr_SetString(PyExc_RuntimeError, error.what());
    PyErr_WriteUnraisable(on_hit);
  }
  return {};
}

} // namespace

// --- who is busy -------------------------------------------------------------

Busy::Busy() {
  this_thread().busy = true;
}

Busy::~Busy() {
  this_thread().busy = false;
}

bool Busy::here() {
  return this_thread().busy;
}

void set_trap(Trap function) {
  trap.store(function, std::memory_order_release);
}

// --- decisions ---------------------------------------------------------------

ChainDecisions::~ChainDecisions() {
  for (auto& block : blocks_) {
    delete block.load();
  }
}

ChainDecisions::Decision ChainDecisions::of(engine::Chain chain) const {
  const std::size_t at = chain / kBlock;
  const Block* block =
      at < kBlocks ? blocks_[at].load(std::memory_order_acquire) : nullptr;
  if (block == nullptr) {
    return kUnknown;
  }
  return static_cast<Decision>(
      (*block)[chain % kBlock].load(std::memory_order_relaxed));
}

void ChainDecisions::keep(engine::Chain chain, bool yes) {
  const std::size_t at = chain / kBlock;
  if (at >= kBlocks) {
    return; // so many chains that this one is decided each time
  }
  Block* block = blocks_[at].load(std::memory_order_acquire);
  if (block == nullptr) {
    auto made = std::make_unique<Block>();
    if (blocks_[at].compare_exchange_strong(block, made.get())) {
      block = made.release();
    }
  }
  (*block)[chain % kBlock].store(yes ? kYes : kNo, std::memory_order_relaxed);
}

// --- a match -----------------------------------------------------------------

bool means_node(std::string_view pattern, std::string_view name) {
  const auto colon = name.rfind(':');
  return matches_glob(pattern, name) ||
      (colon != std::string_view::npos &&
       matches_glob(pattern, name.substr(colon + 1)));
}

bool Breakpoint::means(const char* name, std::string_view overload) const {
  if (kind == Kind::kNode) {
    return means_node(pattern, name);
  }
  return matches_glob(pattern, name) ||
      (!overload.empty() &&
       matches_glob(
           pattern, std::string(name).append(1, '.').append(overload)));
}

bool Breakpoint::is_in_module(engine::Chain chain) {
  if (chain == 0) {
    return false;
  }
  const auto decision = decisions_.of(chain);
  if (decision != ChainDecisions::kUnknown) {
    return decision == ChainDecisions::kYes;
  }
  if (!has_python()) {
    return false;
  }
  const Busy here;
  const py::gil_scoped_acquire gil;
  const KeepError keep;
  bool yes = false;
  try {
    yes = py::reinterpret_borrow<py::object>(in_module)(chain).cast<bool>();
  } catch (py::error_already_set& error) {
    error.restore();
    PyErr_WriteUnraisable(in_module);
  }
  decisions_.keep(chain, yes);
  return yes;
}

void Breakpoint::act_on(const Event& event) {
  const auto count = seen.fetch_add(1, std::memory_order_relaxed) + 1;
  if (nth == 0 || count == nth) {
    hits.fetch_add(1, std::memory_order_relaxed);
    act(event);
  }
}

void Breakpoint::act(const Event& event) {
  if (!has_python()) {
    return;
  }
  const Busy here;
  const auto [stop, counts] = ask_what_to_do(on_hit, event);
  if (!counts) {
    seen.fetch_sub(1, std::memory_order_relaxed);
    hits.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  const Trap stops = trap.load(std::memory_order_acquire);
  if (stop && stops != nullptr) { // without the GIL, if the thread had none
    stops(
        stop->file.c_str(),
        stop->line,
        stop->function.c_str(),
        stop->why.c_str());
  }
}

} // namespace pyharness::breakpoints
