// When an op has to record a node for autograd, and when it goes straight to
// its kernel.
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

namespace pyharness::ops {

// A tensor with a forward-mode tangent takes the recorded way too: it ends in
// autograd's own error, not in a lost tangent.
template <typename... Tensors>
bool needs_graph(const Tensors&... tensors) {
  const auto tracked = [](const at::Tensor& tensor) {
    return (c10::GradMode::is_enabled() && tensor.requires_grad()) ||
        tensor._fw_grad(0).defined();
  };
  return (tracked(tensors) || ...);
}

} // namespace pyharness::ops
