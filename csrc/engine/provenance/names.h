// Numbers the names of ops and nodes: a thread that has seen one finds its
// number again without a lock.
#pragma once

#include <torch/csrc/autograd/function.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pyharness::engine {

using Name = std::uint32_t;

// What one thread has seen, by address.
class SeenNames {
 public:
  // Of an op, as RecordFunction::name() and overload_of() give it: the
  // pointers may be of short life.
  Name of_op(const char* name, std::string_view overload);

  // Of a node, as Node::name() gives it: asked once for each class of node, and
  // each time for those that Python defines.
  Name of_node(torch::autograd::Node& node);

 private:
  using Text = std::pair<std::string, std::string>; // name, overload

  struct Seen {
    const void* at = nullptr;
    const Text* text = nullptr;
    Name number = 0;
  };

  // Where the address is, or shall be. A node's name that is asked for anew in
  // each step costs more than all the rest of its event.
  Seen& at(const void* address);

  static constexpr std::size_t kSeen = 2048;
  static constexpr std::size_t kTries = 8;
  std::array<Seen, kSeen> seen_{};
};

// Whether its class is one of Python's (torch::autograd::PyNode, whose
// type_info libtorch_python does not export).
bool is_defined_in_python(const torch::autograd::Node& node);

// All so far, by number: (name, overload).
std::vector<std::pair<std::string, std::string>> all_names();

} // namespace pyharness::engine
