// An op of somebody's own: it knows nothing of pyharness, and is built by torch's own means for the torch that is there.
#include <ATen/core/Tensor.h>
#include <ATen/ops/mul.h>
#include <torch/library.h>

static at::Tensor scale_cpu(const at::Tensor& self, double factor) {
  at::Tensor result = at::mul(self, factor);
  return result;
}

TORCH_LIBRARY(anywhere, library) {
  library.def("scale(Tensor self, float factor) -> Tensor");
}

TORCH_LIBRARY_IMPL(anywhere, CPU, library) {
  library.impl("scale", scale_cpu);
}
