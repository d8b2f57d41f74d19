// A kernel that calls a small function for each element: without a place for
// native breakpoints, and with one.
#include <pyharness/breakpoint.h>

namespace {

[[gnu::noipa]] double bare(long i, double x) {
  return x + static_cast<double>(i);
}

[[gnu::noipa]] double tick(long i, double x) { // gdb breaks here
  PYHARNESS_BREAKPOINT("benchmark.tick", i, x);
  return x + static_cast<double>(i);
}

} // namespace

extern "C" double walk_bare(long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i) {
    sum = bare(i, sum);
  }
  return sum;
}

extern "C" double walk(long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i) {
    sum = tick(i, sum);
  }
  return sum;
}
