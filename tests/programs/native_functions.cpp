// Functions of every kind that a user's library has, for the tests of symbols, line tables and unwinding.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace shop {

int counter = std::rand();  // a static initializer, which is not a function of the user's

struct Item {
  explicit Item(int price);
  virtual ~Item();
  virtual int cost() const;
  int operator()(int amount) const {
    return cost() * amount;
  }
  int price;
};

Item::Item(int price) : price(price) {}

Item::~Item() = default;

int Item::cost() const {
  return price;
}

template <typename T>
T doubled(T value) {
  T twice = value + value;
  return twice;
}

namespace {

int hidden(const Item& item) {
  auto discount = [&](int percent) {
    int left = 100 - percent;
    return item.cost() * left / 100;
  };
  return discount(10) + item(2);
}

} // namespace

static long sum(const std::vector<int>& values) {
  long total = 0;
  for (int value : values) {
    total += value;
  }
  return total;
}

extern "C" int plain_entry(int price) {
  Item item(price);
  std::vector<int> values{hidden(item), doubled(price)};
  return static_cast<int>(sum(values) + doubled(1.5) + counter % 2);
}

// A frame whose size is known only when it runs: its unwinding goes by the frame pointer.
extern "C" int with_alloca(int size) {
  volatile char* bytes = static_cast<volatile char*>(__builtin_alloca(static_cast<size_t>(size)));
  bytes[0] = static_cast<char>(size);
  return bytes[0];
}

} // namespace shop
