// See trap.h. This file knows nothing of torch, so that it is loaded before the
// user's program imports anything.
#include <csrc/trap/python_api.h>
#include <csrc/trap/trap.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace {

PyObject* installed_agent = nullptr;

// Keeps what the stopped code may be about to look at: errno, and a Python
// exception on its way up.
class KeepErrors {
 public:
  KeepErrors() : errno_(errno) {
    PyErr_Fetch(&type_, &value_, &traceback_);
  }
  ~KeepErrors() {
    PyErr_Restore(type_, value_, traceback_);
    errno = errno_;
  }
  KeepErrors(const KeepErrors&) = delete;
  KeepErrors& operator=(const KeepErrors&) = delete;

 private:
  int errno_;
  PyObject* type_ = nullptr;
  PyObject* value_ = nullptr;
  PyObject* traceback_ = nullptr;
};

// Nothing that runs meanwhile ends a step, meets a breakpoint or obeys a pause:
// gdb waits for the answer. debugpy, which was asked for the pause as well,
// comes to know of it when the agent lets go of the GIL.
class Unwatched {
 public:
  Unwatched() {
    watch(false);
  }
  Unwatched(const Unwatched&) = delete;
  Unwatched& operator=(const Unwatched&) = delete;
  ~Unwatched() {
    watch(true);
  }

 private:
  static void watch(bool on) {
    PyThreadState* thread = PyThreadState_Get();
    auto change = on ? PyThreadState_LeaveTracing : PyThreadState_EnterTracing;
    if (change != nullptr) {
      change(thread);
    } else if (std::strncmp(Py_GetVersion(), "3.9.", 4) == 0) {
      using pyharness::breakpoints::ThreadState39;
      auto* state = reinterpret_cast<ThreadState39*>(thread);
      state->use_tracing = traced_afterwards(*state, on) ? 1 : 0;
    } else {
      using pyharness::breakpoints::ThreadState310;
      auto* state = reinterpret_cast<ThreadState310*>(thread);
      state->cframe->use_tracing = traced_afterwards(*state, on) ? 255 : 0;
    }
  }

  // What those functions, which are new in 3.11, do; whether the interpreter
  // shall call trace functions then.
  template <typename State>
  static bool traced_afterwards(State& state, bool on) {
    state.tracing += on ? -1 : 1;
    const bool traced = state.c_tracefunc != nullptr ||
        state.c_profilefunc != nullptr;
    return state.tracing == 0 && traced;
  }
};

void refuse(const char* reason) {
  std::snprintf(
      pyharness_answer,
      pyharness::breakpoints::kMessageSize,
      R"({"error": "%s"})",
      reason);
}

void answer_with_gil() {
  KeepErrors keep;
  Unwatched unwatched;
  PyObject* answer =
      PyObject_CallFunction(installed_agent, "s", pyharness_request);
  Py_ssize_t size = 0;
  const char* text = answer != nullptr ? PyUnicode_AsUTF8AndSize(answer, &size)
                                       : nullptr;
  if (text == nullptr) {
    PyErr_WriteUnraisable(installed_agent);
    refuse("the agent failed; its traceback is on the program's stderr");
  } else if (
      static_cast<std::size_t>(size) >= pyharness::breakpoints::kMessageSize) {
    refuse("the answer is longer than the buffer that gdb reads");
  } else {
    std::memcpy(pyharness_answer, text, static_cast<std::size_t>(size) + 1);
  }
  Py_XDECREF(answer);
}

} // namespace

void pyharness::breakpoints::set_agent(PyObject* agent) {
  Py_XINCREF(agent);
  Py_XDECREF(installed_agent);
  installed_agent = agent;
}

// noipa: the compiler may neither inline these, nor clone them, nor drop
// arguments that only gdb reads.
extern "C" {

char pyharness_request[pyharness::breakpoints::kMessageSize];
char pyharness_answer[pyharness::breakpoints::kMessageSize];

#if defined(__clang__)
#define PYHARNESS_STOP __attribute__((noinline, optnone))
#else
#define PYHARNESS_STOP __attribute__((noipa))
#endif

PYHARNESS_STOP void pyharness_python_line(
    const char* file,
    int line,
    const char* function,
    const char* why) {
  asm volatile("" : : "r"(file), "r"(line), "r"(function), "r"(why) : "memory");
}

PYHARNESS_STOP void pyharness_program_ends(const char* report) {
  asm volatile("" : : "r"(report) : "memory");
}

int pyharness_holds_gil() {
  return Py_IsInitialized() != 0 && PyGILState_Check() != 0 ? 1 : 0;
}

int pyharness_agent() {
  if (installed_agent == nullptr || Py_IsInitialized() == 0) {
    return 1;
  }
  const PyGILState_STATE gil = PyGILState_Ensure();
  answer_with_gil();
  PyGILState_Release(gil);
  return 0;
}
}
