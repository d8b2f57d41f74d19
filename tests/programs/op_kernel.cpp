// An extension with one op, which debuggees call from eager Python; its kernel
// has a place for native breakpoints.
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <pyharness/breakpoint.h>

namespace walk {

at::Tensor weighted(const at::Tensor& input, double scale) {
  at::Tensor result = input.clone(); // @weighted
  float* values = result.mutable_data_ptr<float>();
  for (int64_t i = 0; i < result.numel(); ++i) {
    PYHARNESS_BREAKPOINT("walk.step", i, values[i], scale);
    values[i] *= static_cast<float>(scale); // @step
  }
  return result;
}

} // namespace walk

TORCH_LIBRARY(walk, m) {
  m.def("weighted(Tensor input, float scale) -> Tensor");
  m.impl("weighted", c10::DispatchKey::CPU, &walk::weighted);
}
