// Errors that a debugger cannot see and a sanitizer can, each in a function of
// its own: built three times, with -fsanitize=address, undefined and thread.
#include <cstdint>
#include <cstdlib>
#include <thread>

extern "C" {

float read_behind(const float* values, int64_t count) {
  float sum = 0;
  for (int64_t i = 0; i <= count; ++i) {
    sum += values[i]; // one too far
  }
  return sum;
}

void write_before(double* values) {
  values[-2] = 1;
}

static const float* kept = nullptr;

void keep(const float* values) {
  kept = values;
}

float use_kept() {
  return kept[3]; // the tensor has gone
}

void free_twice(float* values) {
  free(values); // and its tensor will, too
}

int past_an_array(int index) {
  int counts[4] = {1, 2, 3, 4};
  volatile int* all = counts;
  return all[index];
}

int past_the_largest(int value) {
  return value + 1;
}

int misaligned(const char* bytes) {
  return *reinterpret_cast<const int*>(bytes + 1);
}

void race(float* values) {
  std::thread first([=] {
    for (int i = 0; i < 1000; ++i) {
      values[2] += 1; // nobody waits for anybody
    }
  });
  std::thread second([=] {
    for (int i = 0; i < 1000; ++i) {
      values[2] += 1;
    }
  });
  first.join();
  second.join();
}
}
