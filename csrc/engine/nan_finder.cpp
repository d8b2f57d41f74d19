// See nan_finder.h. An output is checked when its op ends; only where it is bad
// the inputs, which are kept until then, are looked at too.
#include <csrc/torch_headers.h>

#include <csrc/engine/nan_finder.h>

#include <csrc/engine/nan_levels.h>
#include <csrc/engine/nodes.h>
#include <csrc/engine/provenance.h>

#include <ATen/SequenceNumber.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/functions/basic_ops.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <typeinfo>

namespace pyharness::engine {

namespace {

using torch::autograd::AccumulateGrad;
using torch::autograd::GraphRoot;
using torch::autograd::variable_list;

std::atomic<bool> searching{false};
std::atomic<bool> open{false}; // from start_search to stop_search
std::atomic<std::uint64_t> search{0}; // its number
WantedValues wanted; // as they are while a search runs
TakeFinding take_finding = nullptr;

// What this thread runs; null where nothing is searched, or where what runs is
// our own.
ThreadLevels* own() {
  if (!searching.load(std::memory_order_acquire)) {
    return nullptr;
  }
  auto& levels = levels_of_thread();
  if (levels.busy) {
    return nullptr;
  }
  const auto current = search.load(std::memory_order_relaxed);
  if (levels.search != current) {
    levels.search = current;
    levels.count = 0;
    levels.noted_until = at::sequence_number::peek();
  }
  return &levels;
}

class Busy {
 public:
  explicit Busy(ThreadLevels& levels) : levels_(levels) {
    levels_.busy = true;
  }
  ~Busy() {
    levels_.busy = false;
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  ThreadLevels& levels_;
};

// --- values ------------------------------------------------------------------

template <typename Take>
void each_tensor(const c10::IValue& value, Take take) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) {
      take(value.toTensor());
    }
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) {
      take(tensor);
    }
  } else if (value.isList()) {
    for (const auto& element : value.toListRef()) {
      each_tensor(element, take);
    }
  }
}

ValueKinds kinds_of_argument(double value) {
  ValueKinds kinds = std::isnan(value) ? kNan : 0;
  kinds |= std::isinf(value) ? kInf : 0;
  kinds |= std::abs(value) > wanted.limit ? kLarge : 0;
  return kinds;
}

ValueKinds asked_by(const c10::IValue& value) {
  if (value.isDouble()) {
    return kinds_of_argument(value.toDouble());
  }
  if (value.isInt() && (wanted.kinds & kLarge) != 0) {
    return kinds_of_argument(static_cast<double>(value.toInt()));
  }
  return 0;
}

// --- ops ---------------------------------------------------------------------

// Nodes that were made since anything last began or ended on this thread. The
// recorder does the same, and knows more of them.
void note_new_nodes(ThreadLevels& levels, bool approximate) {
  const auto now = at::sequence_number::peek();
  if (now > levels.noted_until &&
      chain_of_node(at::RecordFunction::currentThreadId(), now - 1) == 0) {
    note_nodes(levels.noted_until, now, {current_chain(), 0, approximate});
  }
  levels.noted_until = now;
}

void hold_inputs(
    ThreadLevels& levels,
    Level& level,
    c10::ArrayRef<const c10::IValue> values) {
  const auto& arguments = level.plan->arguments;
  for (std::size_t i = 0; i < std::min(values.size(), arguments.size()); ++i) {
    level.asked |= asked_by(values[i]);
    const bool look = arguments[i].written && !level.plan->overwrites;
    const bool written = arguments[i].written || arguments[i].out;
    each_tensor(values[i], [&](const at::Tensor& tensor) {
      levels.inputs.push_back({tensor, static_cast<std::uint16_t>(i), written});
      level.before |= look ? kinds_of(tensor, wanted) : 0;
      if (tensor.unsafeGetTensorImpl()->is_wrapped_number() &&
          level.plan->moves) {
        level.asked = wanted.kinds; // a number of Python's, as a tensor
      }
    });
  }
}

std::unique_ptr<at::ObserverContext> op_begins(const at::RecordFunction& fn) {
  auto* levels = own();
  const auto* plan = levels != nullptr ? plan_of(fn) : nullptr;
  if (plan == nullptr) {
    return nullptr;
  }
  if (!levels->is_in_op()) {
    note_new_nodes(*levels, /*approximate=*/true);
  }
  auto& level = levels->begin(&fn, plan);
  if (!plan->makes_nothing) {
    hold_inputs(*levels, level, fn.inputs());
  }
  return nullptr;
}

template <typename Take>
void each_result(
    const ThreadLevels& levels,
    const Level& level,
    const at::RecordFunction& fn,
    Take take) {
  for (const auto& output : fn.outputs()) {
    each_tensor(output, take);
    if (level.plan->first_output_only) {
      break;
    }
  }
  if (level.plan->results_are_arguments) {
    for (auto i = level.first_input; i < levels.inputs.size(); ++i) {
      if (levels.inputs[i].written) {
        take(levels.inputs[i].tensor);
      }
    }
  }
}

ValueKinds kinds_of_inputs(const ThreadLevels& levels, const Level& level) {
  ValueKinds kinds = level.before;
  for (auto i = level.first_input; i < levels.inputs.size(); ++i) {
    if (!levels.inputs[i].written) {
      kinds |= kinds_of(levels.inputs[i].tensor, wanted);
    }
  }
  return kinds;
}

// Which kinds speak against it, of those that it has: those that it made, else
// a NaN that it was given. An infinity may be meant, as in a mask; one that an
// op was given is of its maker's asking.
struct Verdict {
  bool made;
  ValueKinds kinds;
};

Verdict judge(ValueKinds out, ValueKinds in, bool moves) {
  const ValueKinds made = out & static_cast<ValueKinds>(~in);
  if (made != 0) {
    return {true, made};
  }
  return {false, static_cast<ValueKinds>(moves ? 0 : out & in & kNan)};
}

void add_facts_of_op(
    Finding& finding,
    const ThreadLevels& levels,
    const Level& level,
    const at::RecordFunction& fn) {
  for (auto i = level.first_input; i < levels.inputs.size(); ++i) {
    const auto& held = levels.inputs[i];
    finding.inputs.push_back(facts_of(
        level.plan->arguments[held.argument].name, held.tensor, wanted));
    if (held.written) {
      finding.inputs.back().name += " (after)";
    }
  }
  each_result(levels, level, fn, [&](const at::Tensor& tensor) {
    finding.outputs.push_back(
        facts_of(std::to_string(finding.outputs.size()), tensor, wanted));
  });
}

Finding finding_of_op(
    const ThreadLevels& levels,
    const Level& level,
    const at::RecordFunction& fn,
    Verdict verdict) {
  Finding finding = finding_here();
  finding.made = verdict.made;
  finding.kinds = verdict.kinds;
  finding.name = level.plan->name;
  finding.overload = level.plan->overload;
  finding.within = levels.ops_around();
  finding.number = levels.count;
  add_facts_of_op(finding, levels, level, fn);
  return finding;
}

void forget(ThreadLevels& levels, std::size_t from) {
  const auto first = static_cast<std::ptrdiff_t>(from);
  levels.findings.erase(levels.findings.begin() + first, levels.findings.end());
}

void take_first(ThreadLevels& levels, const Level& level) {
  if (levels.findings.size() <= level.first_finding) {
    return;
  }
  Finding first = std::move(levels.findings[level.first_finding]);
  forget(levels, level.first_finding);
  // Nobody else is to be told meanwhile.
  bool yes = true;
  if (!searching.compare_exchange_strong(yes, false)) {
    return;
  }
  if (!take_finding(first, /*may_throw=*/level.plan == nullptr)) {
    resume_search();
  }
}

// Whether an op inside made it. Not where it was given to this one already: how
// it is passed on is its own business (logsumexp takes the log of 0 then).
bool was_made_inside(
    const ThreadLevels& levels,
    const Level& level,
    ValueKinds in) {
  for (auto i = level.first_finding; i < levels.findings.size(); ++i) {
    const auto& inside = levels.findings[i];
    if (!inside.made || (inside.kinds & static_cast<ValueKinds>(~in)) != 0) {
      return true;
    }
  }
  return false;
}

void examine_op(
    ThreadLevels& levels,
    const Level& level,
    const at::RecordFunction& fn,
    ValueKinds out) {
  const auto in = kinds_of_inputs(levels, level);
  if (was_made_inside(levels, level, in)) {
    return;
  }
  forget(levels, level.first_finding);
  const auto verdict = judge(out, in, level.plan->moves);
  if (verdict.kinds != 0) {
    levels.findings.push_back(finding_of_op(levels, level, fn, verdict));
  }
}

void check_op(
    ThreadLevels& levels,
    const Level& level,
    const at::RecordFunction& fn) {
  if (level.plan->makes_nothing &&
      levels.findings.size() <= level.first_finding) {
    return;
  }
  ValueKinds kinds = 0;
  bool unknown = false; // the ops inside saw more
  each_result(levels, level, fn, [&](const at::Tensor& tensor) {
    kinds |= kinds_of(tensor, wanted);
    unknown = unknown || is_wrapper(tensor);
  });
  kinds &= static_cast<ValueKinds>(~level.asked);
  if (kinds == 0 && !unknown) {
    forget(levels, level.first_finding); // mended inside
    return;
  }
  const Busy busy(levels);
  if (kinds != 0 && !level.plan->makes_nothing) { // a view is of the inside's
    examine_op(levels, level, fn, kinds);
  }
  if (levels.is_outermost()) {
    take_first(levels, level);
  }
}

void op_ends(const at::RecordFunction& fn, at::ObserverContext* /*unused*/) {
  auto& levels = levels_of_thread();
  if (levels.busy || levels.levels.empty()) {
    return;
  }
  const auto* level = levels.innermost(&fn);
  if (level == nullptr) {
    return;
  }
  const bool still = searching.load(std::memory_order_acquire);
  if (still) {
    check_op(levels, *level, fn);
  }
  levels.end();
  if (still && !levels.is_in_op()) {
    note_new_nodes(levels, /*approximate=*/false);
  }
}

// --- nodes -------------------------------------------------------------------

ValueKinds kinds_of_all(const variable_list& tensors) {
  ValueKinds kinds = 0;
  for (const auto& tensor : tensors) {
    kinds |= kinds_of(tensor, wanted);
  }
  return kinds;
}

void add_facts_of_all(
    std::vector<CheckedTensor>& facts,
    const variable_list& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].defined()) {
      facts.push_back(facts_of(std::to_string(i), tensors[i], wanted));
    }
  }
}

const AccumulateGrad* as_leaf(const torch::autograd::Node& node) {
  return typeid(node) == typeid(AccumulateGrad)
      ? static_cast<const AccumulateGrad*>(&node)
      : nullptr;
}

// A Function of Python's. By name: the class is not exported.
bool runs_python(const torch::autograd::Node& node) {
  return std::strcmp(typeid(node).name(), "N5torch8autograd6PyNodeE") == 0;
}

void examine_node(
    ThreadLevels& levels,
    const NodeRun& run,
    const variable_list& inputs,
    const variable_list& outputs,
    ValueKinds out) {
  // The root passes on what backward() was given.
  const bool root = typeid(run.node) == typeid(GraphRoot);
  const auto in = root ? out : kinds_of_all(inputs);
  const auto verdict = judge(out, in, /*moves=*/false);
  if (verdict.kinds == 0) {
    return;
  }
  Finding finding = finding_here();
  describe_node(finding, run.node);
  if (!verdict.made) {
    finding.why = root
        ? "given to backward()"
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
    examine_node(levels, run, inputs, outputs, kinds);
  }
  take_first(levels, *level);
}

class Nodes final : public NodeObserver {
 public:
  void before(const NodeRun& run) override {
    auto* levels = own();
    if (levels == nullptr) {
      return;
    }
    auto& level = levels->begin(&run.node, nullptr);
    level.runs_python = runs_python(run.node);
    level.inner_ops_seen = see_inner_ops_here(level.runs_python);
    if (const auto* leaf = as_leaf(run.node)) {
      level.had_gradient = leaf->variable.grad().defined();
    }
  }

  bool needs_values() const override {
    return own() != nullptr;
  }

  void values(
      const NodeRun& run,
      const variable_list& inputs,
      const variable_list& outputs) override {
    auto* levels = own();
    if (levels == nullptr) {
      return;
    }
    // A leaf passes nothing on: what reaches it is what it has.
    check_node(
        *levels, run, inputs, as_leaf(run.node) != nullptr ? inputs : outputs);
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
      if (leaf != nullptr && level->had_gradient && !run.failed &&
          own() != nullptr) {
        check_sum(levels, run, leaf->variable.grad());
      }
    } catch (...) {
      levels.end();
      throw;
    }
    levels.end();
  }

 private:
  // The incoming gradient was clean, or `values` would have found it.
  static void check_sum(
      ThreadLevels& levels,
      const NodeRun& run,
      const at::Tensor& gradient) {
    check_node(levels, run, {}, {gradient});
  }
};

Nodes nodes;
at::CallbackHandle handle = at::INVALID_CALLBACK_HANDLE;

} // namespace

void start_search(const WantedValues& which, TakeFinding told) {
  wanted = which;
  take_finding = told;
  acquire_chains();
  search.fetch_add(1);
  open.store(true);
  searching.store(true, std::memory_order_release);
  add_observer(nodes);
  at::RecordFunctionCallback callback(&op_begins, &op_ends);
  handle = at::addGlobalCallback(
      callback.needsInputs(true).needsOutputs(true).scopes(
          {at::RecordScope::FUNCTION}));
}

void stop_search() {
  open.store(false);
  searching.store(false, std::memory_order_release);
  at::removeCallback(handle);
  remove_observer(nodes);
  release_chains();
}

void resume_search() {
  searching.store(open.load(), std::memory_order_release);
}

std::uint64_t checked_by_thread() {
  return levels_of_thread().count;
}

} // namespace pyharness::engine
