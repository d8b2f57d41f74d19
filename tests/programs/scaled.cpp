extern "C" int scaled(int count, double by) {
  double product = count * by;
  return static_cast<int>(product);
}
