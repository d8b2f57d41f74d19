// A library of two units, compiled with -DSLOW -O0 and with -DFAST -O2: as
// where somebody debugs one file of many. At a stop at a function of the first
// its arguments are on the stack, however it makes its frame.
#ifdef SLOW

double fast(double number);

struct alignas(32) Wide {
  float lanes[8];
};
struct alignas(512) Wider {
  float lanes[128];
};

double plain(const double& scale, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i)
    sum += fast(scale);
  return sum;
}

// With alloca beside it, GCC aligns the stack before it pushes the frame.
template <class Lanes>
double aligned(const double& scale, int count) {
  Lanes lanes{{1, 2}};
  auto* numbers = static_cast<char*>(__builtin_alloca(count));
  for (int i = 0; i < count; ++i)
    numbers[i] = static_cast<char>(lanes.lanes[1] * scale);
  return numbers[0];
}

extern "C" double look() {
  double scale = 2.5;
  return plain(scale, 3) + aligned<Wide>(scale, 3) + aligned<Wider>(scale, 3);
}

#else

double fast(double number) {
  return number * 2 + 1;
}

#endif
