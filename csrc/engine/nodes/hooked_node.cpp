// See hooked_node.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/nodes/hooked_node.h>

#include <csrc/engine/nodes/python_hooks.h>

#include <torch/csrc/autograd/function_hook.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace pyharness::engine {

using torch::autograd::Node;
using torch::autograd::variable_list;

// The last before the node's own arithmetic.
class BeginHook : public torch::autograd::FunctionPreHook {
 public:
  explicit BeginHook(const Watch& watch) : watch_(watch) {}

  variable_list operator()(const variable_list& inputs) override {
    watch_.in_python_hooks(false);
    return inputs;
  }

 private:
  const Watch& watch_;
};

// The last of all, or the first behind the node's own arithmetic.
class ValuesHook : public torch::autograd::FunctionPostHook {
 public:
  ValuesHook(const Watch& watch, bool first) : watch_(watch), first_(first) {}

  variable_list operator()(
      const variable_list& outputs,
      const variable_list& inputs) override {
    if (first_) {
      watch_.values_before_hooks(inputs, outputs);
      watch_.in_python_hooks(true);
    } else {
      watch_.values(inputs, outputs);
    }
    return outputs;
  }

 private:
  const Watch& watch_;
  bool first_;
};

// The nodes that have a hook of ours now: two threads may run one node at a
// time (each its own backward over a shared graph), and a node's hooks are no
// one's to change then. By a hash of their address, so that threads seldom
// wait.
struct HookedNodes {
  std::mutex mutex; // of what follows
  std::vector<const Node*> nodes;

  static HookedNodes& of(const Node& node) {
    static auto* all = new std::array<HookedNodes, 64>();
    return (*all)[(reinterpret_cast<std::uintptr_t>(&node) >> 6) % 64];
  }

  bool add(const Node& node) {
    const std::lock_guard<std::mutex> lock(mutex);
    const bool is_new =
        std::find(nodes.begin(), nodes.end(), &node) == nodes.end();
    if (is_new) {
      nodes.push_back(&node);
    }
    return is_new;
  }

  void remove(const Node& node) {
    const std::lock_guard<std::mutex> lock(mutex);
    nodes.erase(std::find(nodes.begin(), nodes.end(), &node));
  }
};

namespace {

template <typename Hooks>
void remove_hook(Hooks& hooks, const void* hook) {
  for (auto each = hooks.begin(); each != hooks.end(); ++each) {
    if (each->get() == hook) {
      hooks.erase(each);
      return;
    }
  }
}

} // namespace

HookedNode::HookedNode(Node& node, const Watch& watch)
    : node_(node), hooked_(HookedNodes::of(node)) {
  if (hooked_.add(node)) {
    look_at_python_hooks(watch);
    auto hook = std::make_unique<ValuesHook>(watch, /*first=*/false);
    hook_ = hook.get();
    node.add_post_hook(std::move(hook));
  }
}

HookedNode::~HookedNode() {
  if (hook_ == nullptr) {
    return;
  }
  remove_hook(node_.pre_hooks(), begin_);
  remove_hook(node_.post_hooks(), first_);
  remove_hook(node_.post_hooks(), hook_);
  hooked_.remove(node_);
}

void HookedNode::look_at_python_hooks(const Watch& watch) {
  if (has_python_hooks_before(node_)) {
    auto hook = std::make_unique<BeginHook>(watch);
    begin_ = hook.get();
    node_.add_pre_hook(std::move(hook));
    watch.in_python_hooks(true);
  }
  if (has_python_hooks_behind(node_)) {
    auto hook = std::make_unique<ValuesHook>(watch, /*first=*/true);
    first_ = hook.get();
    node_.post_hooks().insert(node_.post_hooks().begin(), std::move(hook));
  }
}

} // namespace pyharness::engine
