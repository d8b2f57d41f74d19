// Functions that a person calls in expressions and conditions, and that do not
// come back.
#include <pybind11/pybind11.h>

#include <chrono>
#include <stdexcept>

namespace py = pybind11;

namespace dangerous {

int crash(long address) {
  *reinterpret_cast<int*>(address) = 1; // @crashes
  return 0;
}

int throws() {
  throw std::runtime_error("nobody catches this");
}

int spins_without_gil(double seconds) {
  py::gil_scoped_release release;
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  volatile long rounds = 0;
  while (std::chrono::steady_clock::now() < end)
    rounds = rounds + 1;
  return 0;
}

int add(int first, int second) {
  int sum = first + second; // @first
  return sum; // @second
}

} // namespace dangerous

PYBIND11_MODULE(dangerous, m) {
  m.def("crash", &dangerous::crash);
  m.def("throws", &dangerous::throws);
  m.def("spins_without_gil", &dangerous::spins_without_gil);
  m.def("add", &dangerous::add);
}
