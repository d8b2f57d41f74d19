// See inner_ops.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/nodes/inner_ops.h>

#include <csrc/engine/interpose.h>

#include <ATen/record_function.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/engine.h>

#include <atomic>
#include <utility>

namespace pyharness::engine {

namespace {

struct ThisThread {
  int nodes; // inside of one another
  bool sees_all; // see_inner_ops_here
  bool profiled; // looked at once for each node
};

thread_local ThisThread here{};

// Written again, with the same, by whoever begins to observe while others run.
std::atomic<decltype(&at::getStepCallbacksUnlessEmpty)> original_unless_empty =
    nullptr;
std::atomic<decltype(&at::getStepCallbacks)> original_callbacks = nullptr;

Interposition& callbacks_unless_empty() {
  static Interposition found(
      "_ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE");
  return found;
}

Interposition& callbacks() {
  static Interposition found("_ZN2at16getStepCallbacksENS_11RecordScopeE");
  return found;
}

bool is_hidden_in_node() {
  const auto& thread = here;
  return thread.nodes > 0 && !thread.sees_all && !thread.profiled &&
      !c10::GradMode::is_enabled();
}

bool is_hidden_announcement() {
  return torch::autograd::get_current_graph_task_id() >= 0 && !here.sees_all &&
      !c10::GradMode::is_enabled() && !at::hasThreadLocalCallbacks();
}

std::optional<at::StepCallbacks> seen_unless_empty(at::RecordScope scope) {
  return is_hidden_in_node()
      ? std::nullopt
      : original_unless_empty.load(std::memory_order_relaxed)(scope);
}

// Few call this; the engine does, to announce a node before it runs it, by a
// name that it makes for whoever listens.
at::StepCallbacks seen_callbacks(at::RecordScope scope) {
  return is_hidden_announcement()
      ? at::StepCallbacks()
      : original_callbacks.load(std::memory_order_relaxed)(scope);
}

} // namespace

void hide_inner_ops() {
  if (callbacks().possible() && callbacks_unless_empty().possible()) {
    callbacks_unless_empty().lead(original_unless_empty, &seen_unless_empty);
    callbacks().lead(original_callbacks, &seen_callbacks);
  }
}

void show_inner_ops() {
  callbacks_unless_empty().lead_to(nullptr);
  callbacks().lead_to(nullptr);
}

bool see_inner_ops_here(bool seen) {
  return std::exchange(here.sees_all, seen);
}

InNode::InNode() : was_profiled_(here.profiled) {
  ++here.nodes;
  here.profiled = at::hasThreadLocalCallbacks();
}

InNode::~InNode() {
  --here.nodes;
  here.profiled = was_profiled_;
}

} // namespace pyharness::engine
