// See nodes.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/nodes/nodes.h>

#include <csrc/engine/bind.h>
#include <csrc/engine/interpose.h>
#include <csrc/engine/nodes/hooked_node.h>
#include <csrc/engine/nodes/inner_ops.h>
#include <csrc/engine/nodes/python_hooks.h>
#include <csrc/engine/nodes/watch.h>
#include <csrc/engine/unchanged_state.h>

#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

namespace pyharness::engine {

namespace {

using torch::autograd::Engine;
using torch::autograd::GraphTask;
using torch::autograd::InputBuffer;
using torch::autograd::Node;
using torch::autograd::ReadyQueue;

// --- interposed --------------------------------------------------------------

Interposition& evaluation() {
  static Interposition found(
      "_ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_"
      "9GraphTaskEEPNS0_4NodeERNS0_11InputBufferERKS2_INS0_10ReadyQueueEE");
  return found;
}

using Evaluate = void (*)(
    Engine*,
    std::shared_ptr<GraphTask>&,
    Node*,
    InputBuffer&,
    const std::shared_ptr<ReadyQueue>&);

// Written again, with the same, by whoever begins to observe while others run.
std::atomic<Evaluate> original_evaluate = nullptr;

void run_watched(
    Watch& watch,
    Engine* engine,
    std::shared_ptr<GraphTask>& task,
    Node* node,
    InputBuffer& inputs,
    const std::shared_ptr<ReadyQueue>& queue) {
  std::optional<HookedNode> hooked_node;
  if (watch.wants_values()) {
    if (dynamic_cast<torch::autograd::AccumulateGrad*>(node) != nullptr) {
      // It has no outputs, and would copy the gradient if it had a hook.
      watch.values(inputs.buffer, {});
      // Adding to its gradient is one op: that may be seen, too.
      if (has_python_hooks_before(*node) || has_python_hooks_within(*node) ||
          has_python_hooks_behind(*node)) {
        watch.in_python_hooks(true);
      }
    } else {
      hooked_node.emplace(*node, watch);
    }
  }
  original_evaluate.load(std::memory_order_relaxed)(
      engine, task, node, inputs, queue);
}

void evaluate(
    Engine* engine,
    std::shared_ptr<GraphTask>& task,
    Node* node,
    InputBuffer& inputs,
    const std::shared_ptr<ReadyQueue>& queue) {
  const InNode here;
  Watch watch(*node, &inputs.buffer);
  watch.before();
  try {
    run_watched(watch, engine, task, node, inputs, queue);
  } catch (...) {
    watch.after(/*failed=*/true);
    throw;
  }
  watch.after(/*failed=*/false);
}

void interpose() {
  evaluation().lead(original_evaluate, Evaluate{&evaluate});
  keep_unchanged_state();
}

// --- by RecordFunction -------------------------------------------------------

at::CallbackHandle record_handle = at::INVALID_CALLBACK_HANDLE;

// A std::shared_ptr up to torch 2.12.
using HeldNode = decltype(torch::autograd::get_current_node());

struct WatchContext : at::ObserverContext {
  explicit WatchContext(HeldNode node)
      : held(std::move(node)), watch(*held, nullptr) {}
  HeldNode held;
  Watch watch;
};

void observe_by_record_function() {
  at::RecordFunctionCallback callback(
      [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> {
        auto node = torch::autograd::get_current_node();
        if (!node) {
          return nullptr;
        }
        auto context = std::make_unique<WatchContext>(std::move(node));
        context->watch.before();
        return context;
      },
      [](const at::RecordFunction&, at::ObserverContext* context) {
        if (context != nullptr) {
          static_cast<WatchContext*>(context)->watch.after(/*failed=*/false);
        }
      });
  record_handle = at::addGlobalCallback(
      callback.scopes({at::RecordScope::BACKWARD_FUNCTION}));
}

// --- who observes ------------------------------------------------------------

std::mutex mutex; // of what follows
std::array<bool, kMostObservers> sees_inner_ops{};
std::size_t how_many = 0;
Means means = Means::kInterposed;
bool others_observe = false; // RecordFunction callbacks that are not ours

void begin(Means allowed) {
  others_observe = at::hasGlobalCallbacks();
  if (allowed == Means::kInterposed && evaluation().possible()) {
    means = Means::kInterposed;
    interpose();
  } else {
    means = Means::kRecordFunction;
    observe_by_record_function();
  }
}

void end() {
  if (means == Means::kInterposed) {
    evaluation().lead_to(nullptr);
    set_every_state();
  } else {
    at::removeCallback(record_handle);
  }
}

void hide_or_show() {
  bool show = others_observe || how_many == 0 || means != Means::kInterposed;
  for (const bool sees : sees_inner_ops) {
    show = show || sees;
  }
  if (show) {
    show_inner_ops();
  } else {
    hide_inner_ops();
  }
}

} // namespace

Means add_observer(NodeObserver& observer, bool see_inner_ops, Means allowed) {
  const std::lock_guard<std::mutex> lock(mutex);
  for (std::size_t i = 0; i < kMostObservers; ++i) {
    if (observers[i].load() == nullptr) {
      if (how_many++ == 0) {
        begin(allowed);
      }
      sees_inner_ops[i] = see_inner_ops;
      observers[i].store(&observer, std::memory_order_release);
      hide_or_show();
      return means;
    }
  }
  throw std::runtime_error("more than 4 observers of the autograd engine");
}

void see_inner_ops(NodeObserver& observer, bool seen) {
  const std::lock_guard<std::mutex> lock(mutex);
  for (std::size_t i = 0; i < kMostObservers; ++i) {
    if (observers[i].load() == &observer) {
      sees_inner_ops[i] = seen;
      hide_or_show();
    }
  }
}

void remove_observer(NodeObserver& observer) {
  const std::lock_guard<std::mutex> lock(mutex);
  for (std::size_t i = 0; i < kMostObservers; ++i) {
    if (observers[i].load() == &observer) {
      observers[i].store(nullptr, std::memory_order_release);
      sees_inner_ops[i] = false;
      if (--how_many == 0) {
        end();
      }
      hide_or_show();
      return;
    }
  }
}

void bind_nodes(pybind11::module_& m) {
  m.def(
      "can_interpose",
      [] { return evaluation().possible(); },
      "Whether the engine's nodes can be seen without RecordFunction.");
}

} // namespace pyharness::engine
