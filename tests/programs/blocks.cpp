extern "C" int* made(int count) {
  return new int[count]();
}

extern "C" int added(const int* numbers, int count) {
  int sum = 0;
  for (int i = 0; i <= count; ++i) {
    sum += numbers[i];
  }
  return sum;
}
