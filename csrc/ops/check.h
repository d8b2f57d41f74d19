// Checks of the ops' arguments: every message names the op, the argument and
// what it got.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

namespace pyharness::ops {

// Shapes are compared as symbolic sizes: the same checks run on real, meta and
// traced tensors.

inline void
check_floating(const char* op, const char* name, const at::Tensor& tensor) {
  const at::ScalarType dtype = tensor.scalar_type();
  TORCH_CHECK_TYPE(
      dtype == at::kFloat || dtype == at::kDouble || dtype == at::kBFloat16,
      op,
      ": ",
      name,
      " must be float32, float64 or bfloat16, got ",
      dtype,
      " of shape ",
      tensor.sym_sizes());
}

// Same dtype and device as the op's first argument.
inline void check_like(
    const char* op,
    const char* name,
    const at::Tensor& tensor,
    const char* first_name,
    const at::Tensor& first) {
  TORCH_CHECK_TYPE(
      tensor.scalar_type() == first.scalar_type(),
      op,
      ": ",
      name,
      " must have the dtype of ",
      first_name,
      ", ",
      first.scalar_type(),
      ", got ",
      tensor.scalar_type(),
      " of shape ",
      tensor.sym_sizes());
  TORCH_CHECK(
      tensor.device() == first.device(),
      op,
      ": ",
      name,
      " must be on the device of ",
      first_name,
      ", ",
      first.device(),
      ", got ",
      tensor.device());
}

inline void check_shape(
    const char* op,
    const char* name,
    const at::Tensor& tensor,
    c10::SymIntArrayRef expected,
    const char* meaning) {
  TORCH_CHECK_VALUE(
      tensor.sym_sizes() == expected,
      op,
      ": ",
      name,
      " must have shape ",
      expected,
      " (",
      meaning,
      "), got shape ",
      tensor.sym_sizes());
}

} // namespace pyharness::ops
