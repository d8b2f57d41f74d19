// What goes into an op that torch tells of, and what comes out of it.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include <algorithm>

namespace pyharness::engine {

using OpValues = c10::ArrayRef<const c10::IValue>;

// torch tells the whole stack of a call that is boxed, as those under
// torch.func and by a fallback are: an op's own values are the last of it.
inline OpValues last_of(OpValues values, std::size_t count) {
  return values.slice(values.size() - std::min(count, values.size()));
}

inline OpValues inputs_of(const at::RecordFunction& op) {
  return last_of(op.inputs(), op.num_inputs());
}

inline OpValues outputs_of(const at::RecordFunction& op) {
  const auto& values = op.outputs();
  return last_of(OpValues(values.data(), values.size()), op.num_outputs());
}

// Calls `take` with each tensor that a value is, or has in its lists.
template <typename Take>
void each_tensor(const c10::IValue& value, Take take) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) {
      take(value.toTensor());
    }
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) {
      take(tensor);
    }
  } else if (value.isList()) {
    for (const auto& element : value.toListRef()) {
      each_tensor(element, take);
    }
  }
}

// Nested tensors have sizes of their own for each part.
inline bool has_sizes(const at::Tensor& tensor) {
  return !tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides() &&
      !tensor.is_nested();
}

} // namespace pyharness::engine
