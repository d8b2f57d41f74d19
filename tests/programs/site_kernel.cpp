// Places for native breakpoints in each kind of function, without torch.
#include <pyharness/breakpoint.h>

template <typename T>
T doubled(T value) {
  PYHARNESS_BREAKPOINT("site.template", value);
  return 2 * value;
}

inline long inlined(long i) {
  PYHARNESS_BREAKPOINT("site.inline", i, i % 4, doubled(i));
  return i;
}

extern "C" double sum_of(const double* x, long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i) {
    PYHARNESS_BREAKPOINT("site.loop", i, x[i]);
    sum += x[i];
  }
  return sum;
}

extern "C" double others(double x) {
  PYHARNESS_BREAKPOINT("site.bare");
  auto lambda = [](auto value) {
    PYHARNESS_BREAKPOINT("site.lambda", value);
    return doubled(value);
  };
  return lambda(x) + static_cast<double>(inlined(7));
}
