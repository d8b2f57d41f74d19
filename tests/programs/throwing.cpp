// C++ exceptions that pass functions by, on their way to a handler.
#include <pybind11/pybind11.h>

#include <stdexcept>

namespace throwing {

int thrower(int value) {
  if (value < 0)
    throw std::out_of_range("negative"); // @throws
  return value;
}

int passing(int value) {
  int result = thrower(value); // @passes
  return result + 1;
}

int catching(int value) {
  try {
    return passing(value);
  } catch (const std::runtime_error&) {
    return -2;
  } catch (const std::exception&) { // @caught
    return -1;
  }
}

int inside(int value) {
  int result = catching(value); // @inside
  return result * 2; // @behind
}

} // namespace throwing

PYBIND11_MODULE(throwing, m) {
  m.def("passing", &throwing::passing);
  m.def("catching", &throwing::catching);
  m.def("inside", &throwing::inside);
}
