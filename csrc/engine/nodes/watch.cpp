// See watch.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/nodes/watch.h>

#include <exception>

namespace pyharness::engine {

using torch::autograd::Node;
using torch::autograd::variable_list;

std::array<std::atomic<NodeObserver*>, kMostObservers> observers{};

Watch::Watch(Node& node, const variable_list* inputs)
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

void Watch::before() const {
  for (std::size_t i = 0; i < count_; ++i) {
    seen_by_[i]->before(run_);
  }
}

void Watch::values(const variable_list& inputs, const variable_list& outputs)
    const {
  for (std::size_t i = 0; i < count_; ++i) {
    if (seen_by_[i]->needs_values()) {
      seen_by_[i]->values(run_, inputs, outputs);
    }
  }
}

void Watch::values_before_hooks(
    const variable_list& inputs,
    const variable_list& outputs) const {
  for (std::size_t i = 0; i < count_; ++i) {
    if (seen_by_[i]->needs_values()) {
      seen_by_[i]->values_before_hooks(run_, inputs, outputs);
    }
  }
}

void Watch::in_python_hooks(bool in) const {
  for (std::size_t i = 0; i < count_; ++i) {
    seen_by_[i]->in_python_hooks(run_, in);
  }
}

void Watch::after(bool failed) {
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

} // namespace pyharness::engine
