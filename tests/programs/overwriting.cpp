// Writes through pointers that it is given, as an extension does with `data_ptr`.
#include <cstddef>
#include <thread>

extern "C" void twice(float* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    values[i] *= 2; // @twice
  }
}

extern "C" void read_all(const float* values, std::size_t count, float* sum) {
  for (std::size_t i = 0; i < count; ++i) {
    *sum += values[i];
  }
}

extern "C" void twice_aside(float* values, std::size_t count) {
  std::thread other(twice, values, count);
  other.join();
}
