// The hooks that Python has put at an autograd node, at the tensor that the
// node gives its gradient to, or at a leaf.
#pragma once

#include <csrc/torch_headers.h>

#include <torch/csrc/autograd/function.h>

namespace pyharness::engine {

// Some run before the node's own arithmetic: those of tensors, and prehooks.
bool has_python_hooks_before(torch::autograd::Node& node);

// Some run behind it, before its gradients go on.
bool has_python_hooks_behind(torch::autograd::Node& node);

// Some run in its arithmetic: a leaf's, when its gradient is there.
bool has_python_hooks_within(torch::autograd::Node& node);

} // namespace pyharness::engine
