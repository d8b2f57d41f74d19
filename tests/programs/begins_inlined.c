// Clang has `total` begin in what is inlined there: its first instructions save registers, and belong to `begin`, too.
// begins_inlined.s is what Clang 19 makes of this; its first line says how.
double lgamma(double value);

static inline const double* begin(const double* const* range) {
  return range[0];
}

double total(const double* const* range) {  // @total
  double sum = 0;
  for (const double* each = begin(range); each != range[1]; ++each) {
    sum += lgamma(*each);
  }
  return sum;
}
