// An extension to debug, with pybind11 and without torch: it holds the GIL, releases it, calls back, waits, crashes.
#include <pybind11/pybind11.h>

#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace py = pybind11;

namespace crossing {

int scaled(int value, int factor) {
  int result = value * factor; // @scaled
  return result; // @scaled_return
}

int held(int value) {
  int doubled = scaled(value, 2); // @held
  return doubled + 1; // @held_return
}

int released(int value) {
  py::gil_scoped_release release;
  int tripled = scaled(value, 3); // @released
  return tripled + 1; // @released_return
}

void tick(int n) {
  (void)n; // @tick
}

void repeat(int count) {
  py::gil_scoped_release release;
  for (int i = 0; i < count; ++i) {
    tick(i); // @repeat
  }
}

int call(const py::function& function, int value) {
  int first = value + 1; // @call
  int back = function(first).cast<int>(); // @call_back
  return back + 1; // @call_return
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
  py::gil_scoped_release release;
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
  py::gil_scoped_release release;
  char byte = 0;
  if (read(descriptor, &byte, 1) >= 0) {
    tick(n);
  }
}

void in_threads(int count) {
  py::gil_scoped_release release;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back(tick, i);
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

} // namespace crossing

PYBIND11_MODULE(crossing, module) {
  module.def("held", &crossing::held);
  module.def("released", &crossing::released);
  module.def("repeat", &crossing::repeat);
  module.def("call", &crossing::call);
  module.def("fail", &crossing::fail);
  module.def("attempt", &crossing::attempt);
  module.def("send", &crossing::send);
  module.def("crash", [] { crossing::crash(nullptr); });
  module.def("wait_for", &crossing::wait_for);
  module.def("wait_holding", &crossing::wait_holding);
  module.def("tick_when_told", &crossing::tick_when_told);
  module.def("in_threads", &crossing::in_threads);
}
