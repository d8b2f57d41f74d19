// An extension to debug, with pybind11 and without torch: it holds the GIL, releases it, calls back, waits, crashes.
//
// It is compiled as three units: what calls Python (CALLS), the module (BINDINGS) with line numbers only, and the rest. gdb
// reads the unit of a function as a whole when a thread stops there, and that of its caller: a tenth of a second for
// pybind11's types.
#include <string>

#if !defined(CALLS) && !defined(BINDINGS)
#include <Python.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace crossing {

// Without the GIL, to the end of the block.
using Released = std::unique_ptr<PyThreadState, decltype(&PyEval_RestoreThread)>;

int scaled(int value, int factor) {
  int result = value * factor; // @scaled
  return result; // @scaled_return
}

int held(int value) {
  int doubled = scaled(value, 2); // @held
  return doubled + 1; // @held_return
}

int released(int value) {
  Released release(PyEval_SaveThread(), &PyEval_RestoreThread);
  int tripled = scaled(value, 3); // @released
  return tripled + 1; // @released_return
}

void tick(int n) {
  (void)n; // @tick
}

void repeat(int count) {
  Released release(PyEval_SaveThread(), &PyEval_RestoreThread);
  for (int i = 0; i < count; ++i) {
    tick(i); // @repeat
  }
}

void fail(const std::string& message) {
  throw std::runtime_error(message); // @fail
}

int attempt(const std::string& message) {
  try {
    fail(message);
  } catch (const std::exception&) { // @caught
    return 1;
  }
  return 0;
}

void send(int number) {
  std::raise(number); // @send
}

void crash(int* nowhere) {
  *nowhere = 1; // @crash
}

// Returns when a byte (or the end) can be read from `descriptor`, without the GIL.
int wait_for(int descriptor) {
  Released release(PyEval_SaveThread(), &PyEval_RestoreThread);
  char byte = 0;
  return static_cast<int>(read(descriptor, &byte, 1)); // @wait_for
}

// The same with the GIL held: nothing of Python runs meanwhile.
int wait_holding(int descriptor) {
  char byte = 0;
  auto count = read(descriptor, &byte, 1); // @wait_holding
  return static_cast<int>(count); // @waited_holding
}

// Native code all along: neither the wait nor the call of tick() needs the GIL.
void tick_when_told(int descriptor, int n) {
  Released release(PyEval_SaveThread(), &PyEval_RestoreThread);
  char byte = 0;
  if (read(descriptor, &byte, 1) >= 0) {
    tick(n);
  }
}

void in_threads(int count) {
  Released release(PyEval_SaveThread(), &PyEval_RestoreThread);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back(tick, i);
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

} // namespace crossing

#else
#include <pybind11/pybind11.h>

namespace py = pybind11;
#endif

#ifdef CALLS
namespace crossing {

int call(const py::function& function, int value) {
  int first = value + 1; // @call
  int back = function(first).cast<int>(); // @call_back
  return back + 1; // @call_return
}

// Native code that calls native code that calls Python.
int relay(const py::function& function, int value) {
  int first = call(function, value); // @relay
  return first + call(function, first); // @relay_return
}

} // namespace crossing
#endif

#ifdef BINDINGS
namespace crossing {

int held(int value);
int released(int value);
void repeat(int count);
void fail(const std::string& message);
int attempt(const std::string& message);
void send(int number);
void crash(int* nowhere);
int wait_for(int descriptor);
int wait_holding(int descriptor);
void tick_when_told(int descriptor, int n);
void in_threads(int count);
int call(const py::function& function, int value);
int relay(const py::function& function, int value);

} // namespace crossing

PYBIND11_MODULE(crossing, module) {
  module.def("held", &crossing::held);
  module.def("released", &crossing::released);
  module.def("repeat", &crossing::repeat);
  module.def("call", &crossing::call);
  module.def("relay", &crossing::relay);
  module.def("fail", &crossing::fail);
  module.def("attempt", &crossing::attempt);
  module.def("send", &crossing::send);
  module.def("crash", [] { crossing::crash(nullptr); });
  module.def("wait_for", &crossing::wait_for);
  module.def("wait_holding", &crossing::wait_holding);
  module.def("tick_when_told", &crossing::tick_when_told);
  module.def("in_threads", &crossing::in_threads);
}
#endif
