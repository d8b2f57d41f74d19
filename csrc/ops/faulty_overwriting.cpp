// An op that overwrites what it is given, as faulty.cpp's fail on purpose;
// pyharness/ops/faulty.py says what to expect of it.
#include <algorithm>
#include <cmath>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <torch/library.h>

namespace pyharness::ops {

// The largest magnitude. The magnitudes go where the values were: nobody says
// so to autograd, which may have saved them.
at::Tensor faulty_overwritten_input_cpu(const at::Tensor& input) {
  TORCH_CHECK_TYPE(
      input.scalar_type() == at::kFloat && input.is_contiguous(),
      "faulty_overwritten_input: input must be contiguous and float32");
  float* values = static_cast<float*>(input.data_ptr());
  float largest = 0;
  for (int64_t i = 0; i < input.numel(); ++i) {
    values[i] = std::abs(values[i]); // should be a copy
    largest = std::max(largest, values[i]);
  }
  return at::full({}, largest);
}

namespace {

at::Tensor faulty_overwritten_input_meta(const at::Tensor& input) {
  return at::empty({}, input.options());
}

} // namespace

TORCH_LIBRARY_IMPL(pyharness, CPU, library) {
  library.impl("faulty_overwritten_input", &faulty_overwritten_input_cpu);
}

TORCH_LIBRARY_IMPL(pyharness, Meta, library) {
  library.impl("faulty_overwritten_input", &faulty_overwritten_input_meta);
}

} // namespace pyharness::ops
