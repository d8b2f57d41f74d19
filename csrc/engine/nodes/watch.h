// One run of an autograd node, and the observers that see it.
#pragma once

#include <csrc/engine/nodes/nodes.h>

#include <array>
#include <atomic>
#include <cstddef>

namespace pyharness::engine {

constexpr std::size_t kMostObservers = 4;

// Those that observe now; null where nobody does. See add_observer.
extern std::array<std::atomic<NodeObserver*>, kMostObservers> observers;

// The observers that see this run: one that comes meanwhile waits for the
// next node, one that goes is told the end.
class Watch {
 public:
  // `inputs`: as NodeRun has them.
  Watch(
      torch::autograd::Node& node,
      const torch::autograd::variable_list* inputs);

  bool wants_values() const {
    return wants_values_;
  }

  void before() const;

  void values(
      const torch::autograd::variable_list& inputs,
      const torch::autograd::variable_list& outputs) const;

  void values_before_hooks(
      const torch::autograd::variable_list& inputs,
      const torch::autograd::variable_list& outputs) const;

  void in_python_hooks(bool in) const;

  // Every observer is told, then the first error is thrown.
  void after(bool failed);

 private:
  NodeRun run_;
  std::array<NodeObserver*, kMostObservers> seen_by_{};
  std::size_t count_ = 0;
  bool wants_values_ = false;
};

} // namespace pyharness::engine
