// Optimized, the view and the lambda are kept in pieces, with references to what has no address.
#include <vector>

struct View {
  const std::vector<int> &numbers;
  int scale;
  double sum;
};

__attribute__((noinline)) int used(int number) { return number + 1; }

extern "C" int look() {
  volatile int given = 3; // of which the compiler must not know
  int count = given;
  std::vector<int> numbers{1, 2, count};
  int scale = count * 2;
  View view{numbers, scale, 0.5 * count};
  auto lambda = [&numbers, &scale, count](int index) { return numbers[index] * scale + count; };
  int result = 0;
  for (int index = 0; index < 3; ++index)
    result += lambda(index) + view.numbers[index] * view.scale;
  result = used(result); // @look
  return result + (int)view.sum;
}
