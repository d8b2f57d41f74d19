// Objects that are called: with code of its own, inlined, a lambda, members and elements.
struct Adds {
  int operator()(int number) const { return number + 1; }
};
struct Inlined {
  inline __attribute__((always_inline)) int operator()(int number) { return number + 1; }
};
struct Holder {
  Adds adds;
  Adds *pointer;
  int method(int number) { return number; }
};
static int plain(int number) { return number; }

extern "C" int look() {
  Adds adds, several[2];
  Inlined inlined;
  Holder holder;
  holder.pointer = &adds;
  auto lambda = [](int number) { return number; };
  int all = adds(1) + inlined(1) + lambda(1) + several[0](1) + holder.method(1) + plain(1);
  return all; // @look
}
