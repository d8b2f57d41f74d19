// What a condition may ask of a tensor's elements.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace pyharness::breakpoints {

enum class Fact { kNan, kInf, kFinite, kMin, kMax, kAbsMax, kMean, kSum };

// A number, or 0 and 1 for what is true or not. Nothing where the elements
// cannot be read (a tensor without memory of its own, such as a fake one) or
// where there are none. Parts of complex numbers count each. Of a tensor of
// torch.func's it is what its wrappers hold: all that vmap maps over.
std::optional<double> fact_of(const at::Tensor& tensor, Fact fact);

// The one element of a tensor that has one.
std::optional<double> only_element(const at::Tensor& tensor);

} // namespace pyharness::breakpoints
