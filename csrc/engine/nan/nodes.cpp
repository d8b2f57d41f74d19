// See nan_nodes.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/nan/nodes.h>

#include <csrc/engine/nan/search.h>
#include <csrc/engine/nodes/inner_ops.h>
#include <csrc/engine/provenance/names.h>

#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/functions/basic_ops.h>

#include <algorithm>
#include <typeinfo>

namespace pyharness::engine {

namespace {

using torch::autograd::AccumulateGrad;
using torch::autograd::GraphRoot;
using torch::autograd::variable_list;

ValueKinds kinds_of_all(const variable_list& tensors) {
  ValueKinds kinds = 0;
  for (const auto& tensor : tensors) {
    kinds |= kinds_of(unwrapped(tensor), wanted());
  }
  return kinds;
}

ValueKinds kinds_given_by_all(const variable_list& tensors) {
  ValueKinds kinds = 0;
  for (const auto& tensor : tensors) {
    kinds |= kinds_given_by(unwrapped(tensor), wanted());
  }
  return kinds;
}

bool any_is_wrapper(const variable_list* tensors) {
  return tensors != nullptr &&
      std::any_of(tensors->begin(), tensors->end(), [](const auto& each) {
           return is_wrapper(each);
         });
}

void add_facts_of_all(
    std::vector<CheckedTensor>& facts,
    const variable_list& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].defined()) {
      facts.push_back(
          facts_of(std::to_string(i), i, unwrapped(tensors[i]), wanted()));
    }
  }
}

const AccumulateGrad* as_leaf(const torch::autograd::Node& node) {
  return typeid(node) == typeid(AccumulateGrad)
      ? static_cast<const AccumulateGrad*>(&node)
      : nullptr;
}

void examine_node(
    ThreadLevels& levels,
    const NodeRun& run,
    const variable_list& inputs,
    const variable_list& outputs,
    ValueKinds out,
    ValueKinds before) {
  // The root passes on what backward() was given.
  const bool root = typeid(run.node) == typeid(GraphRoot);
  const auto in = root ? out : before | kinds_given_by_all(inputs);
  const auto verdict = judge(out, in, /*moves=*/false);
  if (verdict.kinds == 0) {
    return;
  }
  Finding finding = finding_here();
  describe_node(finding, run.node);
  if (!verdict.made) {
    finding.why = root ? "given to backward()"
        : before != 0
        ? "in .grad before"
        : "summed by the engine, changed by a hook or given to backward()";
  }
  finding.made = verdict.made;
  finding.kinds = verdict.kinds;
  finding.number = levels.count;
  add_facts_of_all(finding.inputs, inputs);
  add_facts_of_all(finding.outputs, outputs);
  levels.findings.push_back(std::move(finding));
}

// The level of a node that ends is not yet popped.
void check_node(
    ThreadLevels& levels,
    const NodeRun& run,
    const variable_list& inputs,
    const variable_list& outputs) {
  const auto kinds = kinds_of_all(outputs);
  const auto* level = levels.innermost(&run.node);
  if (kinds == 0 || level == nullptr) {
    return;
  }
  const Busy busy(levels);
  if (levels.findings.size() == level->first_finding) {
    examine_node(levels, run, inputs, outputs, kinds, level->before);
  }
  take_first(levels, *level);
}

class Nodes final : public NodeObserver {
 public:
  void before(const NodeRun& run) override {
    auto* levels = own_levels();
    if (levels == nullptr) {
      return;
    }
    auto& level = levels->begin(&run.node, nullptr);
    // What it makes of wrappers (a DTensor, say) is in them: its ops see it.
    level.runs_python = is_defined_in_python(run.node) ||
        any_is_wrapper(run.inputs);
    level.inner_ops_seen = see_inner_ops_here(level.runs_python);
    if (const auto* leaf = as_leaf(run.node)) {
      const auto& gradient = leaf->variable.grad();
      level.had_gradient = gradient.defined();
      level.before = gradient.defined() ? kinds_of(gradient, wanted()) : 0;
    }
  }

  bool needs_values() const override {
    return own_levels() != nullptr;
  }

  void values(
      const NodeRun& run,
      const variable_list& inputs,
      const variable_list& outputs) override {
    auto* levels = own_levels();
    if (levels == nullptr) {
      return;
    }
    // A leaf passes nothing on: what reaches it is what it has.
    check_node(
        *levels, run, inputs, as_leaf(run.node) != nullptr ? inputs : outputs);
  }

  void values_before_hooks(
      const NodeRun& run,
      const variable_list& inputs,
      const variable_list& outputs) override {
    if (auto* levels = own_levels()) {
      check_node(*levels, run, inputs, outputs);
    }
  }

  void in_python_hooks(const NodeRun& run, bool in) override {
    auto* levels = own_levels();
    auto* level = levels != nullptr ? levels->innermost(&run.node) : nullptr;
    if (level != nullptr) {
      level->runs_python = in || is_defined_in_python(run.node);
      see_inner_ops_here(level->runs_python);
    }
  }

  void after(const NodeRun& run) override {
    auto& levels = levels_of_thread();
    const auto* level = levels.busy ? nullptr : levels.innermost(&run.node);
    if (level == nullptr) {
      return;
    }
    see_inner_ops_here(level->inner_ops_seen);
    const auto* leaf = as_leaf(run.node);
    try {
      if (leaf != nullptr && (level->had_gradient || level->runs_python) &&
          !run.failed && own_levels() != nullptr) {
        check_gradient(levels, run, leaf->variable.grad());
      }
    } catch (...) {
      levels.end();
      throw;
    }
    levels.end();
  }

 private:
  // The incoming gradient was clean, or `values` would have found it: it is the
  // sum that is not, or a hook has changed it.
  static void check_gradient(
      ThreadLevels& levels,
      const NodeRun& run,
      const at::Tensor& gradient) {
    const auto* level = levels.innermost(&run.node);
    const auto given = level->had_gradient ? variable_list{}
                                           : variable_list{gradient};
    check_node(levels, run, given, {gradient});
  }
};

} // namespace

NodeObserver& node_checks() {
  static Nodes nodes;
  return nodes;
}

} // namespace pyharness::engine
