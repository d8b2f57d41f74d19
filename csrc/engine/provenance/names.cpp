// See names.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/provenance/names.h>

#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string_view>
#include <typeinfo>

namespace pyharness::engine {

namespace {

using Pair = std::pair<std::string, std::string>;

// Names are few and never go.
struct NameTable {
  std::mutex mutex; // of what follows
  std::deque<Pair> names;
  std::map<Pair, Name> numbers;
};

NameTable& table() {
  static NameTable all;
  return all;
}

const Pair* stored(const char* name, std::string_view overload, Name& number) {
  auto& all = table();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto [found, is_new] = all.numbers.try_emplace(
      Pair(name, std::string(overload)), static_cast<Name>(all.names.size()));
  if (is_new) {
    all.names.push_back(found->first);
  }
  number = found->second;
  return &all.names[number];
}

} // namespace

SeenNames::Seen& SeenNames::at(const void* address) {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15U;
  const auto first = reinterpret_cast<std::uintptr_t>(address) * kGolden >> 32;
  for (std::size_t i = 0; i < kTries; ++i) {
    auto& seen = seen_[(first + i) % kSeen];
    if (seen.at == address || seen.at == nullptr) {
      return seen;
    }
  }
  return seen_[first % kSeen]; // the one that was there is asked for anew
}

Name SeenNames::of_op(const char* name, std::string_view overload) {
  auto& seen = at(name);
  // A name that goes may be followed by another at its place: the text tells.
  if (seen.at == name && std::strcmp(seen.text->first.c_str(), name) == 0 &&
      seen.text->second == overload) {
    return seen.number;
  }
  seen.text = stored(name, overload, seen.number);
  seen.at = name;
  return seen.number;
}

Name SeenNames::of_node(torch::autograd::Node& node) {
  const std::type_info& type = typeid(node);
  auto& seen = at(&type);
  if (seen.at == &type) {
    return seen.number;
  }
  const auto name = node.name();
  if (is_defined_in_python(node)) {
    return of_op(name.c_str(), "");
  }
  seen.text = stored(name.c_str(), "", seen.number);
  seen.at = &type;
  return seen.number;
}

bool is_defined_in_python(const torch::autograd::Node& node) {
  return std::strcmp(typeid(node).name(), "N5torch8autograd6PyNodeE") == 0;
}

std::vector<Pair> all_names() {
  auto& all = table();
  const std::lock_guard<std::mutex> lock(all.mutex);
  return {all.names.begin(), all.names.end()};
}

} // namespace pyharness::engine
