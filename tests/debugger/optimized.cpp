// An extension that is built with -O2: its functions begin with, and are full of, what is inlined into them.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <numeric>
#include <vector>

namespace optimized {

// Its first instruction is of std::vector.
__attribute__((noinline)) int count(const std::vector<double>& values) {
  return static_cast<int>(values.size()) * 7 + 1; // @count
}

__attribute__((noinline)) double total(const std::vector<double>& values) {
  double sum = std::accumulate(values.begin(), values.end(), 0.0); // @sum
  return sum + count(values); // @total_return
}

} // namespace optimized

PYBIND11_MODULE(optimized, module) {
  module.def("total", &optimized::total);
}
