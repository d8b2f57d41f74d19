// A library whose lines are to be compiled with -O2: those that run seldom lie
// before their function.
#include <stdexcept>
#include <string>

namespace {

[[gnu::noinline]] double checked(const double* numbers, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    if (numbers[i] < 0) { // @asks
      std::string text = "negative: " + std::to_string(i);
      throw std::runtime_error(text); // @throws
    }
    sum += numbers[i];
  }
  return sum;
}

} // namespace

extern "C" double look() {
  double good[] = {1, 2, 3}, bad[] = {1, -2, 3};
  double sum = checked(good, 3);
  for (int i = 0; i < 3; ++i) {
    try {
      sum += checked(bad, 3);
    } catch (const std::exception& error) { // @catches
      sum += std::string(error.what()).size(); // @counts
    }
  }
  return sum; // @returns
}
