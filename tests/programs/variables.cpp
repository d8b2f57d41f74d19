// Variables of plain C++ for tests/ingdb/test_variables_cxx.py: no torch.
#include <array>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace shop {

int counter = 41;

struct Base {
  virtual ~Base() = default;
  int identity = 7;
};

struct Derived : Base {
  double price = 2.5;
  struct {
    int inner = 3;
  };
};

struct Node {
  int value;
  Node* next;
};

int look(int argument, const std::string& text, Base* base) {
  static int calls = 0;
  std::vector<int> numbers(100000);
  for (int i = 0; i < 100000; ++i) {
    numbers[i] = i;
  }
  std::map<std::string, int> prices{{"apple", 1}, {"pear", 2}};
  std::unordered_map<int, std::string> names{{5, "five"}};
  std::list<int> list{1, 2, 3};
  std::deque<int> deque{4, 5};
  std::tuple<int, std::string> pair{1, "one"};
  std::array<short, 3> fixed{7, 8, 9};
  int plain[4][2] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  auto shared = std::make_shared<Derived>();
  std::unique_ptr<Node> nothing;
  Node ring{1, nullptr};
  ring.next = &ring;
  int* pointer = &plain[0][0];
  int** twice = &pointer;
  const char* words = "hello";
  void* anything = &ring;
  Derived derived;
  const double& rate = derived.price;
  std::string&& moved = std::string("moved");
  Node& first = ring;
  Node* wild = reinterpret_cast<Node*>(0x10);
  alignas(16) char garbage[512];
  std::memset(garbage, 0x41, sizeof garbage);
  auto& broken_vector = *reinterpret_cast<std::vector<int>*>(garbage);
  auto& broken_map = *reinterpret_cast<std::map<int, int>*>(garbage);
  auto& broken_string = *reinterpret_cast<std::string*>(garbage);
  auto& broken_list = *reinterpret_cast<std::list<int>*>(garbage);
  for (int i = 0; i < 2; ++i) {
    int shadowed = i + argument;
    calls += shadowed;
    calls += static_cast<int>(text.size()); // @look
  }
  return calls + *pointer + **twice + list.front() + broken_vector.empty();
}

} // namespace shop

int main() {
  shop::Derived derived;
  return shop::look(10, "some text", &derived) == shop::counter;
}
