// The same functions, bound with nanobind.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>

namespace nb = nanobind;

namespace {

int scaled(int number, int by) {
  int product = number * by; // @scaled
  return product + 1; // @returns
}

int twice(const std::function<int(int)>& function, int number) {
  int once = function(number); // @twice
  return function(once); // @again
}

int counted(nb::object thing, nb::dict words, const nb::list& numbers) {
  nb::str text("hello");
  return static_cast<int>(nb::len(numbers)); // @counted
}

float summed(nb::ndarray<float, nb::ndim<2>, nb::device::cpu> table, nb::ndarray<> any) {
  nb::ndarray<> none;
  return table.view()(1, 2) + any.ndim(); // @summed
}

} // namespace

NB_MODULE(nanobind_kind, module) {
  module.def("scaled", &scaled);
  module.def("twice", &twice);
  module.def("counted", &counted);
  module.def("summed", &summed);
}
