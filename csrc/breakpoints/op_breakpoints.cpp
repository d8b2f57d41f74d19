// See op_breakpoints.h.
#include <csrc/torch_headers.h>

#include <csrc/breakpoints/op_breakpoints.h>

#include <csrc/breakpoints/node_chains.h>
#include <csrc/engine/op_values.h>
#include <csrc/engine/provenance/overload.h>

#include <torch/csrc/autograd/engine.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace pyharness::breakpoints {

namespace {

using Inputs = c10::SmallVector<c10::IValue, 6>;

// From the start to the end of an op that a condition on its results means:
// RecordFunction keeps what went in only for the start.
struct Waiting : at::ObserverContext {
  Waiting(const Active& set, Mask mask, c10::ArrayRef<const c10::IValue> inputs)
      : set(set), mask(mask), inputs(inputs.begin(), inputs.end()) {}
  // One is made and let go for each op that is meant: the last one's memory
  // serves the next.
  static void* operator new(std::size_t size) {
    void* spare = std::exchange(this_thread().spare, nullptr);
    return spare != nullptr ? spare : std::malloc(size);
  }
  static void operator delete(void* memory) {
    std::free(std::exchange(this_thread().spare, memory));
  }

  const Active& set;
  Mask mask;
  Inputs inputs;
};

Mask meant(
    const at::RecordFunction& op,
    const Active& set,
    ThisThread& thread) {
  const char* const name = op.name();
  return thread.ops.meant(name, set.version, set.ops, [&] {
    return NameCache::Name{
        name, std::string(engine::overload_of(op)), /*may_go=*/true};
  });
}

void meet(
    Breakpoint& breakpoint,
    const at::RecordFunction& op,
    bool before,
    const Values& values) {
  engine::Chain chain = 0;
  if (!breakpoint.within.empty()) {
    const auto node = torch::autograd::get_current_node();
    if (!node || !means_node(breakpoint.within, node->name())) {
      return;
    }
    chain =
        chain_of(node->thread_id(), node->sequence_nr(), active().chains_since);
  } else if (breakpoint.in_module != nullptr) {
    chain = engine::current_chain();
  }
  if (breakpoint.matches(values, chain)) {
    const auto overload = engine::overload_of(op);
    breakpoint.act_on({Kind::kOp, op.name(), overload, before, values});
  }
}

// Of the breakpoints in `mask` those that are tested before the op; whether
// others wait for its end.
bool meet_before(const at::RecordFunction& op, const Active& set, Mask mask) {
  bool others = false;
  for (std::size_t i = 0; i < set.ops.size(); ++i) {
    if ((mask >> i & 1) == 0) {
      continue;
    }
    if (set.ops[i]->after) {
      others = true;
    } else {
      meet(
          *set.ops[i],
          op,
          /*before=*/true,
          {engine::inputs_of(op), {}, nullptr});
    }
  }
  return others;
}

std::unique_ptr<at::ObserverContext> op_begins(const at::RecordFunction& op) {
  const Active& set = active();
  if (set.has_chains) {
    begin_node_chains(set.chains_since);
  }
  ThisThread& thread = this_thread();
  if (set.ops.empty() || thread.busy) {
    return nullptr;
  }
  const Mask mask = meant(op, set, thread);
  if (mask == 0 || !meet_before(op, set, mask)) {
    return nullptr;
  }
  return std::make_unique<Waiting>(set, mask, engine::inputs_of(op));
}

void op_ends(const at::RecordFunction& op, at::ObserverContext* context) {
  const Active& set = active();
  if (set.has_chains) {
    note_node_chains(set.chains_since);
  }
  if (context == nullptr || Busy::here()) {
    return;
  }
  const auto& waiting = *static_cast<const Waiting*>(context);
  for (std::size_t i = 0; i < waiting.set.ops.size(); ++i) {
    Breakpoint& each = *waiting.set.ops[i];
    if (each.after && (waiting.mask >> i & 1) != 0) {
      meet(
          each,
          op,
          /*before=*/false,
          {waiting.inputs, engine::outputs_of(op), nullptr});
    }
  }
}

std::optional<at::CallbackHandle> registered;

} // namespace

void watch_ops(const Active& set) {
  const bool wanted = !set.ops.empty() || set.has_chains;
  if (registered) {
    at::removeCallback(*registered);
    registered.reset();
  }
  if (wanted) {
    const bool ends = set.has_after || set.has_chains;
    registered = at::addGlobalCallback(
        at::RecordFunctionCallback(&op_begins, ends ? &op_ends : nullptr)
            .needsInputs(!set.ops.empty())
            .needsOutputs(set.has_after)
            .scopes({at::RecordScope::FUNCTION}));
  }
}

} // namespace pyharness::breakpoints
