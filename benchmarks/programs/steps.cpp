// An extension that is not pyharness's own: one op whose kernel the DAP benchmark steps into and through.
#include <torch/library.h>
#include <ATen/ATen.h>

namespace steps {

double multiply(double value, double factor) {
  double product = value * factor; // @product
  return product;
}

at::Tensor scale_cpu(const at::Tensor& input, double factor) {
  at::Tensor output = at::empty_like(input);
  const float* from = input.const_data_ptr<float>();
  float* to = output.mutable_data_ptr<float>();
  for (int64_t i = 0; i < input.numel(); ++i) {
    double product = multiply(from[i], factor); // @call
    to[i] = static_cast<float>(product);
  }
  return output;
}

} // namespace steps

TORCH_LIBRARY(steps, library) {
  library.def("scale(Tensor input, float factor) -> Tensor");
}

TORCH_LIBRARY_IMPL(steps, CPU, library) {
  library.impl("scale", &steps::scale_cpu);
}
