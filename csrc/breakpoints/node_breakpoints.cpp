// See node_breakpoints.h.
#include <csrc/torch_headers.h>

#include <csrc/breakpoints/node_breakpoints.h>

#include <csrc/breakpoints/node_chains.h>
#include <csrc/engine/nodes/nodes.h>
#include <csrc/engine/provenance/names.h>

#include <algorithm>
#include <cstring>
#include <typeinfo>

namespace pyharness::breakpoints {

namespace {

using engine::NodeRun;
using torch::autograd::Node;
using torch::autograd::variable_list;

// What stands for a node's name: its class. Null for those that Python defines,
// which are all of one: torch keeps its type information to itself.
const void* key_of(Node& node) {
  return engine::is_defined_in_python(node) ? nullptr : &typeid(node);
}

std::vector<c10::IValue> boxed(const variable_list* tensors) {
  std::vector<c10::IValue> made;
  if (tensors != nullptr) {
    made.assign(tensors->begin(), tensors->end());
  }
  return made;
}

void meet(
    Breakpoint& breakpoint,
    Node& node,
    bool before,
    const Values& values) {
  const auto chain = breakpoint.in_module != nullptr
      ? chain_of(node.thread_id(), node.sequence_nr(), active().chains_since)
      : 0;
  breakpoint.meet(
      {Kind::kNode, node.name().c_str(), "", before, values}, chain);
}

class Observer final : public engine::NodeObserver {
 public:
  void before(const NodeRun& run) override {
    meet_all(run, run.inputs, nullptr);
  }

  void after(const NodeRun& run) override {}

  bool needs_values() const override {
    const auto& nodes = active().nodes;
    return std::any_of(nodes.begin(), nodes.end(), [](const auto* each) {
      return each->after;
    });
  }

  void values(
      const NodeRun& run,
      const variable_list& inputs,
      const variable_list& outputs) override {
    meet_all(run, &inputs, &outputs);
  }

 private:
  static void meet_all(
      const NodeRun& run,
      const variable_list* inputs,
      const variable_list* outputs) {
    const Active& set = active();
    const bool after = outputs != nullptr;
    if (set.nodes.empty() || Busy::here()) {
      return;
    }
    const Mask mask = meant(run.node, set);
    if (mask == 0) {
      return;
    }
    const auto in = boxed(inputs);
    const auto out = boxed(outputs);
    for (std::size_t i = 0; i < set.nodes.size(); ++i) {
      if ((mask >> i & 1) != 0 && set.nodes[i]->after == after) {
        meet(*set.nodes[i], run.node, !after, {in, out, nullptr});
      }
    }
  }

  static Mask meant(Node& node, const Active& set) {
    std::string name;
    NameCache& cache = this_thread().nodes;
    return cache.meant(key_of(node), set.version, set.nodes, [&] {
      name = node.name();
      return NameCache::Name{name.c_str(), "", /*may_go=*/false};
    });
  }
};

Observer observer;
bool observing = false;
bool sees_ops = false;

} // namespace

void watch_nodes(const Active& set) {
  const bool wanted = !set.nodes.empty() || !set.ops.empty();
  const bool ops = !set.ops.empty(); // those that run inside of nodes, too
  if (observing && (!wanted || ops != sees_ops)) {
    engine::remove_observer(observer);
    observing = false;
  }
  if (wanted && !observing) {
    engine::add_observer(observer, ops);
    observing = true;
    sees_ops = ops;
  }
}

} // namespace pyharness::breakpoints
