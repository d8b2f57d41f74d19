// Variables as they are before they are made, or after they were destroyed:
// memory that means something else.
#include <any>
#include <cstring>
#include <map>
#include <unordered_map>

namespace {

using Map = std::map<int, int>;

// As libstdc++ lays a node of a map out.
struct Node {
  long color;
  Node *parent, *left, *right;
  std::pair<const int, int> entry;
};

struct Holder {
  int before = 6;
  Map& inner;
  int after = 7;
};

} // namespace

extern "C" int look() {
  Map made{{5, 5}};
  alignas(Map) char memory[sizeof(Map)]{};
  Node circle{0, nullptr, &circle, nullptr, {2, 2}};
  Node first{0, &circle, nullptr, &circle, {1, 1}};
  // The comparison, then the header: color, root, first, last, count.
  void* header[] = {&circle, &first, &circle, reinterpret_cast<void*>(3)};
  std::memcpy(memory + 16, header, sizeof header);
  auto& circular = reinterpret_cast<Map&>(memory);
  void* garbage[] = {memory, memory};
  auto& unmade = reinterpret_cast<std::any&>(garbage);
  // Buckets, their number, the first node, the count.
  void* words[] = {memory, memory, nullptr, memory, memory, memory, memory};
  auto& hashed = reinterpret_cast<std::unordered_map<int, int>&>(words);
  Holder holder{6, circular, 7};
  int number = 7;
  number += made.size() + (&unmade != nullptr) + (&hashed != nullptr); // @look
  return number;
}
