// The ops as C++ functions: each goes through the dispatcher, so that autograd,
// tracing and profiling see the call.
#pragma once

#include <tuple>

#include <ATen/core/Tensor.h>

namespace pyharness::ops {

at::Tensor
rms_norm(const at::Tensor& input, const at::Tensor& weight, double eps);
std::tuple<at::Tensor, at::Tensor> rms_norm_backward(
    const at::Tensor& grad,
    const at::Tensor& input,
    const at::Tensor& weight,
    double eps);

at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up);
std::tuple<at::Tensor, at::Tensor> swiglu_backward(
    const at::Tensor& grad,
    const at::Tensor& gate,
    const at::Tensor& up);

at::Tensor softmax_cross_entropy(
    const at::Tensor& logits,
    const at::Tensor& target,
    int64_t ignore_index,
    double label_smoothing);
at::Tensor softmax_cross_entropy_backward(
    const at::Tensor& grad,
    const at::Tensor& logits,
    const at::Tensor& target,
    int64_t ignore_index,
    double label_smoothing);

at::Tensor gated_scan(
    const at::Tensor& gate,
    const at::Tensor& input,
    const at::Tensor& state);
std::tuple<at::Tensor, at::Tensor, at::Tensor> gated_scan_backward(
    const at::Tensor& grad,
    const at::Tensor& gate,
    const at::Tensor& output,
    const at::Tensor& state);

} // namespace pyharness::ops
