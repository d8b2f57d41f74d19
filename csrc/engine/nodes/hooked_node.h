// An autograd node that tells its values, while it runs.
#pragma once

#include <csrc/engine/nodes/watch.h>

namespace pyharness::engine {

class BeginHook;
class ValuesHook;
struct HookedNodes;

// Puts hooks of ours at `node` for one run, unless another thread runs it with
// such hooks now: then `watch` is told no values.
class HookedNode {
 public:
  HookedNode(torch::autograd::Node& node, const Watch& watch);
  ~HookedNode();
  HookedNode(const HookedNode&) = delete;
  HookedNode& operator=(const HookedNode&) = delete;

 private:
  void look_at_python_hooks(const Watch& watch);

  torch::autograd::Node& node_;
  HookedNodes& hooked_;
  const BeginHook* begin_ = nullptr;
  const ValuesHook* first_ = nullptr;
  const ValuesHook* hook_ = nullptr;
};

} // namespace pyharness::engine
