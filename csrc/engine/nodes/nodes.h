// Sees every autograd node that the engine runs, on the thread that runs it.
//
// RecordFunction could tell it too, but builds each node's name as a string
// (0.3 us a node, more where it has to be demangled) and is never told the
// outputs. Here the engine's call of Engine::evaluate_function is led through
// a function of ours, which costs nothing that can be measured (see
// interpose.h). Where the call cannot be led through, RecordFunction serves.
#pragma once

#include <torch/csrc/autograd/engine.h>

namespace pyharness::engine {

struct NodeRun {
  torch::autograd::Node& node;
  int graph_task; // torch::autograd::get_current_graph_task_id()
  bool failed; // in `after`: it threw
  // What goes into the node, before its hooks; null by RecordFunction.
  const torch::autograd::variable_list* inputs = nullptr;
};

// Observers are never destroyed: a thread may be about to call one that was
// just removed. So they are objects with static lifetime, and ask themselves
// whether they are still wanted.
class NodeObserver {
 public:
  // May not throw.
  virtual void before(const NodeRun& run) = 0;

  // Called for each `before`, in the reverse order of the observers. What it
  // throws ends the backward pass as an error of the node would; not to be
  // done where the node itself failed.
  virtual void after(const NodeRun& run) = 0;

  // Whether `values` is to be called. Asked before each node.
  virtual bool needs_values() const {
    return false;
  }

  // What went into the node and what came out of it, between `before` and
  // `after`; undefined tensors stand for gradients that nobody needs. May
  // throw. Not called where the engine is observed by RecordFunction, nor for
  // a node that fails.
  virtual void values(
      const NodeRun& run,
      const torch::autograd::variable_list& inputs,
      const torch::autograd::variable_list& outputs) {}

  // Whether what runs now is a hook that Python has put at this node, told
  // whenever that changes between `before` and `after`. Only for a node that
  // has such hooks, where `values` is called. May not throw.
  virtual void in_python_hooks(const NodeRun& run, bool in) {}

  // What came out of the node's own arithmetic, before hooks of Python behind
  // it change that for `values`. May throw.
  virtual void values_before_hooks(
      const NodeRun& run,
      const torch::autograd::variable_list& inputs,
      const torch::autograd::variable_list& outputs) {}

 protected:
  ~NodeObserver() = default;
};

// How the engine is observed.
enum class Means { kInterposed, kRecordFunction };

// From here on `observer` sees every node; at most 4 at a time. `allowed`
// can forbid interposing, for tests. Throws std::runtime_error where too many
// observe. While anything observes, RecordFunction callbacks of this process
// are not called for ops that run inside of a node without grad mode, unless a
// profiler runs: these are the backward's own arithmetic, and letting them be
// seen would double the cost of a recording. `see_inner_ops` lifts that for
// as long as this observer is there.
Means add_observer(
    NodeObserver& observer,
    bool see_inner_ops = false,
    Means allowed = Means::kInterposed);

void remove_observer(NodeObserver& observer);

// As `see_inner_ops` of add_observer, later.
void see_inner_ops(NodeObserver& observer, bool seen);

} // namespace pyharness::engine
