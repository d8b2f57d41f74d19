// The module `parallel`: code that threads of OpenMP's share, while the one that called it keeps the GIL.
#include <pybind11/pybind11.h>

#include <unistd.h>

#include <cstdint>

namespace parallel {

long part(long number) {
  return number * 2; // @part
}

long total(long count) {
  long sum = 0;
#pragma omp parallel for num_threads(4) schedule(static, 1) reduction(+ : sum)
  for (long number = 0; number < count; ++number) { // @loop
    const long doubled = part(number); // @called
    sum += doubled; // @sums
  }
  return sum; // @whole
}

volatile long released = 0;

long awaited(long number) {
  while (number == 0 && released == 0) {
    usleep(1000);
  }
  return part(number);
}

// The thread that called is deep in a part of its own until another one sets `released`.
long meet(long count) {
  long sum = 0;
#pragma omp parallel for num_threads(2) schedule(static, 1) reduction(+ : sum)
  for (long number = 0; number < count; ++number) {
    sum += awaited(number);
  }
  return sum;
}

void scaled(float* values, long number) {
  values[number] *= 2; // @scaled
}

// `data`: the address of that many numbers.
void scale(std::uintptr_t data, long count) {
  auto* values = reinterpret_cast<float*>(data);
#pragma omp parallel for num_threads(4) schedule(static, 1)
  for (long number = 0; number < count; ++number) {
    scaled(values, number);
  }
}

// Until the input of `descriptor` ends.
void hold(int descriptor) {
#pragma omp parallel num_threads(3)
  {
    char byte = 0;
    while (read(descriptor, &byte, 1) > 0) { // @held
    }
  }
}

void nap(long seconds) {
#pragma omp parallel for num_threads(3) schedule(static, 1)
  for (long number = 0; number < 3; ++number) {
    if (number == 2) { // not the thread that called
      sleep(static_cast<unsigned>(seconds)); // @naps
    }
  }
}

void fault(long count) {
#pragma omp parallel for num_threads(3) schedule(static, 1)
  for (long number = 0; number < count; ++number) {
    if (number == count - 1) { // not the thread that called
      volatile long* nothing = nullptr;
      *nothing = number; // @fault
    }
  }
}

} // namespace parallel

PYBIND11_MODULE(parallel, m) {
  m.def("total", &parallel::total);
  m.def("meet", &parallel::meet);
  m.def("scale", &parallel::scale);
  m.def("nap", &parallel::nap);
  m.def("hold", &parallel::hold);
  m.def("fault", &parallel::fault);
}
