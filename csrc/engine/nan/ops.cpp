// See nan_ops.h. An output is checked when its op ends; only where it is bad
// the inputs, which are kept until then, are looked at too.
#include <csrc/torch_headers.h>

#include <csrc/engine/nan/ops.h>

#include <csrc/engine/nan/collectives.h>
#include <csrc/engine/nan/search.h>
#include <csrc/engine/op_values.h>
#include <csrc/engine/provenance/provenance.h>

#include <ATen/SequenceNumber.h>

#include <algorithm>
#include <cmath>

namespace pyharness::engine {

namespace {

ValueKinds kinds_of_argument(double value) {
  ValueKinds kinds = std::isnan(value) ? kNan : 0;
  kinds |= std::isinf(value) ? kInf : 0;
  kinds |= std::abs(value) > wanted().limit ? kLarge : 0;
  return kinds;
}

ValueKinds kinds_of_numbers(const c10::IValue& value) {
  if (value.isDouble()) {
    return kinds_of_argument(value.toDouble());
  }
  if (value.isInt() && (wanted().kinds & kLarge) != 0) {
    return kinds_of_argument(static_cast<double>(value.toInt()));
  }
  ValueKinds kinds = 0;
  if (value.isList() && !value.isIntList() && !value.isTensorList()) {
    for (const auto& element : value.toListRef()) {
      kinds |= kinds_of_numbers(element);
    }
  }
  return kinds;
}

const c10::StorageImpl* storage_of(const at::Tensor& tensor) {
  const auto* tensor_impl = tensor.unsafeGetTensorImpl();
  return tensor_impl->has_storage()
      ? tensor_impl->unsafe_storage().unsafeGetStorageImpl()
      : nullptr;
}

// Inputs whose memory the op writes to: what they have is gone at its end.
void look_at_shared(ThreadLevels& levels, Level& level) {
  thread_local std::vector<const c10::StorageImpl*> written;
  written.clear();
  for (auto i = level.first_input; i < levels.inputs.size(); ++i) {
    if (levels.inputs[i].written) {
      written.push_back(storage_of(levels.inputs[i].tensor));
    }
  }
  std::sort(written.begin(), written.end());
  for (auto i = level.first_input; i < levels.inputs.size(); ++i) {
    auto& input = levels.inputs[i];
    const auto* storage = input.written ? nullptr : storage_of(input.tensor);
    if (storage != nullptr &&
        std::binary_search(written.begin(), written.end(), storage)) {
      input.shared = true;
      level.before |= kinds_given_by(input.tensor, wanted());
    }
  }
}

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
    const auto numbers = kinds_of_numbers(values[i]);
    (arguments[i].placed ? level.asked : level.before) |= numbers;
    if (!arguments[i].placed && (numbers & kNan) != 0) {
      level.number = i;
    }
    const bool look = level.plan->reduces ||
        (arguments[i].written && !level.plan->overwrites);
    const bool written = arguments[i].written || arguments[i].out;
    each_tensor(values[i], [&](const at::Tensor& given) {
      const at::Tensor& tensor = unwrapped(given);
      levels.inputs.push_back({tensor, static_cast<std::uint16_t>(i), written});
      level.before |= look ? kinds_given_by(tensor, wanted()) : 0;
      if (tensor.unsafeGetTensorImpl()->is_wrapped_number() &&
          level.plan->moves) {
        level.asked = wanted().kinds; // a number of Python's, as a tensor
      }
    });
  }
  if (level.plan->writes) {
    look_at_shared(levels, level);
  }
}

std::unique_ptr<at::ObserverContext> op_begins(const at::RecordFunction& fn) {
  auto* levels = own_levels();
  const auto* plan = levels != nullptr ? plan_of(fn) : nullptr;
  if (plan == nullptr) {
    return nullptr;
  }
  if (!levels->is_in_op()) {
    check_those_done();
    note_new_nodes(*levels, /*approximate=*/true);
  }
  auto& level = levels->begin(&fn, plan);
  if (!plan->makes_nothing) {
    hold_inputs(*levels, level, inputs_of(fn));
  }
  return nullptr;
}

template <typename Take>
void each_result(
    const ThreadLevels& levels,
    const Level& level,
    const at::RecordFunction& fn,
    Take take) {
  for (const auto& output : outputs_of(fn)) {
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
    if (!levels.inputs[i].written && !levels.inputs[i].shared) {
      kinds |= kinds_given_by(levels.inputs[i].tensor, wanted());
    }
  }
  return kinds;
}

void add_facts_of_op(
    Finding& finding,
    const ThreadLevels& levels,
    const Level& level,
    const at::RecordFunction& fn) {
  for (auto i = level.first_input; i < levels.inputs.size(); ++i) {
    const auto& held = levels.inputs[i];
    finding.inputs.push_back(facts_of(
        level.plan->arguments[held.argument].name,
        held.argument,
        held.tensor,
        wanted()));
    if (held.written || held.shared) {
      finding.inputs.back().name += " (after)";
    }
  }
  each_result(levels, level, fn, [&](const at::Tensor& tensor) {
    const auto position = finding.outputs.size();
    finding.outputs.push_back(
        facts_of(std::to_string(position), position, tensor, wanted()));
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
  if (!verdict.made && level.number != kNoNumber) {
    finding.why = "its argument " + level.plan->arguments[level.number].name;
  }
  finding.within = levels.ops_around();
  finding.number = levels.count;
  add_facts_of_op(finding, levels, level, fn);
  return finding;
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
    kinds |= kinds_of(tensor, wanted());
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

// A NaN that this rank has in its part of a sum is told at once.
bool is_told_later(
    const ThreadLevels& levels,
    const Level& level,
    const at::RecordFunction& fn) {
  return !(level.plan->reduces && (level.before & kNan) != 0) &&
      check_when_done(levels, level, fn);
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
  if (still &&
      !(level->plan->collective && is_told_later(levels, *level, fn))) {
    check_op(levels, *level, fn);
  }
  levels.end();
  if (still && !levels.is_in_op()) {
    note_new_nodes(levels, /*approximate=*/false);
  }
}

} // namespace

at::RecordFunctionCallback op_checks() {
  return at::RecordFunctionCallback(&op_begins, &op_ends)
      .needsInputs(true)
      .needsOutputs(true)
      .scopes({at::RecordScope::FUNCTION});
}

} // namespace pyharness::engine
