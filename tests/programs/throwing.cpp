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
    return passing(value); // @catches
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

int first(int value) {
  value += 1;
  return value; // @second
} // @first_ends

int twice(int value) {
  int result = first(value);
  result += catching(-result); // @twice
  result += catching(-result); // @thrice
  return result; // @last
}

int own(int value) {
  try {
    value = first(value); // @before
    return passing(-value); // @throws_here
  } catch (const std::exception&) { // @caught_here
    return 0;
  }
}

} // namespace throwing

PYBIND11_MODULE(throwing, m) {
  m.def("passing", &throwing::passing);
  m.def("catching", &throwing::catching);
  m.def("inside", &throwing::inside);
  m.def("twice", &throwing::twice);
  m.def("own", &throwing::own);
}
