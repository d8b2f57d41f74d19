// See names.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/names.h>

#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <typeinfo>

namespace pyharness::engine {

namespace {

using Pair = std::pair<std::string, std::string>;

// Names are few and never go.
struct Table {
  std::mutex mutex; // of what follows
  std::deque<Pair> names;
  std::map<Pair, Name> numbers;
};

Table& table() {
  static Table all;
  return all;
}

const Pair* stored(const char* name, const char* overload, Name& number) {
  auto& all = table();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto [found, is_new] = all.numbers.try_emplace(
      Pair(name, overload), static_cast<Name>(all.names.size()));
  if (is_new) {
    all.names.push_back(found->first);
  }
  number = found->second;
  return &all.names[number];
}

// What a thread has seen, by address. A name that goes may be followed by
// another at its place, so the text is compared.
struct Seen {
  const void* at = nullptr;
  const Pair* pair = nullptr;
  Name number = 0;
};

constexpr std::size_t kRemembered = 1024;

using Remembered = std::array<Seen, kRemembered>;

thread_local std::unique_ptr<Remembered> remembered;
thread_local Remembered* remembered_here = nullptr;

Seen& seen_at(const void* address) {
  if (remembered_here == nullptr) {
    remembered = std::make_unique<Remembered>();
    remembered_here = remembered.get();
  }
  const auto bits = reinterpret_cast<std::uintptr_t>(address);
  return (*remembered_here)[(bits ^ (bits >> 10)) / 8 % kRemembered];
}

Name number_of(const char* name, const char* overload) {
  auto& seen = seen_at(name);
  if (seen.at == name && seen.pair->first == name &&
      seen.pair->second == overload) {
    return seen.number;
  }
  seen.pair = stored(name, overload, seen.number);
  seen.at = name;
  return seen.number;
}

} // namespace

bool is_defined_in_python(const torch::autograd::Node& node) {
  return std::strcmp(typeid(node).name(), "N5torch8autograd6PyNodeE") == 0;
}

Name name_of_op(const char* name, const char* overload) {
  return number_of(name, overload);
}

Name name_of_node(torch::autograd::Node& node) {
  const std::type_info& type = typeid(node);
  auto& seen = seen_at(&type);
  if (seen.at == &type) {
    return seen.number;
  }
  const auto name = node.name();
  if (is_defined_in_python(node)) {
    return number_of(name.c_str(), "");
  }
  seen.pair = stored(name.c_str(), "", seen.number);
  seen.at = &type;
  return seen.number;
}

std::vector<Pair> all_names() {
  auto& all = table();
  const std::lock_guard<std::mutex> lock(all.mutex);
  return {all.names.begin(), all.names.end()};
}

} // namespace pyharness::engine
