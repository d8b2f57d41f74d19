// A library to be compiled with -O2: the code of most lines lies among that of
// others, and no statement of them begins anywhere.
#include <cmath>
template <class T>
[[gnu::noinline]] void scaled(const T* from, T* to, int rows, int columns, const T& scale, const T& shift) {
  for (int row = 0; row < rows; ++row) {
    const T* line = from + row * columns;
    T angle = line[0] * T(3.14) / T(180);  // @turns
    T cosine = std::cos(angle);
    T sine = std::sin(angle);
    T width = line[1] * scale;  // @widens
    T height = line[2] * scale;
    width = width > T(1) ? width : T(1);
    height = height > T(1) ? height : T(1);
    T step = width / T(columns);
    T other = height / T(columns);
    for (int column = 0; column < columns; ++column) {
      const T x = step * T(column) + shift;  // @moves
      const T y = other * T(column) - shift;
      to[row * columns + column] = x * cosine - y * sine;  // @writes
    }
  }
}
extern "C" double look() {
  float f[6] = {30, 2, 3, 40, 5, 6}, g[6]; double d[6] = {30, 2, 3, 40, 5, 6}, e[6];
  scaled<float>(f, g, 2, 3, 2, 1); scaled<double>(d, e, 2, 3, 2, 1);
  return g[4] + e[4];
}
