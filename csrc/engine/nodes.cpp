// See nodes.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/nodes.h>

#include <csrc/engine/bind.h>
#include <csrc/engine/inner_ops.h>
#include <csrc/engine/interpose.h>
#include <csrc/engine/python_hooks.h>
#include <csrc/engine/unchanged_state.h>

#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace pyharness::engine {

namespace {

using torch::autograd::Engine;
using torch::autograd::GraphTask;
using torch::autograd::InputBuffer;
using torch::autograd::Node;
using torch::autograd::ReadyQueue;
using torch::autograd::variable_list;

constexpr std::size_t kMostObservers = 4;

std::array<std::atomic<NodeObserver*>, kMostObservers> observers{};

// --- one run of a node -------------------------------------------------------

// The observers that see this run: one that comes meanwhile waits for the
// next node, one that goes is told the end.
class Watch {
 public:
  Watch(Node& node, const variable_list* inputs)
      : run_{
            node,
            torch::autograd::get_current_graph_task_id(),
            /*failed=*/false,
            inputs} {
    for (auto& slot : observers) {
      if (auto* observer = slot.load(std::memory_order_acquire)) {
        seen_by_[count_++] = observer;
        wants_values_ = wants_values_ || observer->needs_values();
      }
    }
  }

  bool wants_values() const {
    return wants_values_;
  }

  void before() const {
    for (std::size_t i = 0; i < count_; ++i) {
      seen_by_[i]->before(run_);
    }
  }

  void values(const variable_list& inputs, const variable_list& outputs) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (seen_by_[i]->needs_values()) {
        seen_by_[i]->values(run_, inputs, outputs);
      }
    }
  }

  void values_before_hooks(
      const variable_list& inputs,
      const variable_list& outputs) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (seen_by_[i]->needs_values()) {
        seen_by_[i]->values_before_hooks(run_, inputs, outputs);
      }
    }
  }

  void in_python_hooks(bool in) const {
    for (std::size_t i = 0; i < count_; ++i) {
      seen_by_[i]->in_python_hooks(run_, in);
    }
  }

  // Every observer is told, then the first error is thrown.
  void after(bool failed) {
    run_.failed = failed;
    std::exception_ptr error;
    for (std::size_t i = count_; i-- > 0;) {
      try {
        seen_by_[i]->after(run_);
      } catch (...) {
        error = error ? error : std::current_exception();
        run_.failed = true;
      }
    }
    if (error && !failed) {
      std::rethrow_exception(error);
    }
  }

 private:
  NodeRun run_;
  std::array<NodeObserver*, kMostObservers> seen_by_{};
  std::size_t count_ = 0;
  bool wants_values_ = false;
};

// --- a node's values ---------------------------------------------------------

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

template <typename Hooks>
void remove_hook(Hooks& hooks, const void* hook) {
  for (auto each = hooks.begin(); each != hooks.end(); ++each) {
    if (each->get() == hook) {
      hooks.erase(each);
      return;
    }
  }
}

// The nodes that have a hook of ours now: two threads may run one node at a
// time (each its own backward over a shared graph), and a node's hooks are no
// one's to change then. By a hash of their address, so that threads seldom
// wait.
struct Hooked {
  std::mutex mutex; // of what follows
  std::vector<const Node*> nodes;

  static Hooked& of(const Node& node) {
    static auto* all = new std::array<Hooked, 64>();
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

class HookedNode {
 public:
  HookedNode(Node& node, const Watch& watch)
      : node_(node), hooked_(Hooked::of(node)) {
    if (hooked_.add(node)) {
      look_at_python_hooks(watch);
      auto hook = std::make_unique<ValuesHook>(watch, /*first=*/false);
      hook_ = hook.get();
      node.add_post_hook(std::move(hook));
    }
  }

  ~HookedNode() {
    if (hook_ == nullptr) {
      return;
    }
    remove_hook(node_.pre_hooks(), begin_);
    remove_hook(node_.post_hooks(), first_);
    remove_hook(node_.post_hooks(), hook_);
    hooked_.remove(node_);
  }

  HookedNode(const HookedNode&) = delete;
  HookedNode& operator=(const HookedNode&) = delete;

 private:
  void look_at_python_hooks(const Watch& watch) {
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

  Node& node_;
  Hooked& hooked_;
  const BeginHook* begin_ = nullptr;
  const ValuesHook* first_ = nullptr;
  const ValuesHook* hook_ = nullptr;
};

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
