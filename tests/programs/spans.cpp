// Views of other people's elements.
#include <span>

struct Point {
  int x, y;
};

extern "C" int look() {
  int numbers[] = {1, 2, 3};
  Point points[] = {{1, 2}, {3, 4}};
  std::span<const int> all(numbers), none;
  std::span<int, 2> two(numbers, 2);
  std::span<Point> places(points);
  return all.size() + two.size() + places.size(); // @look
}
