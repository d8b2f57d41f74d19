// An extension over torch's stable ABI: it knows nothing of c10 or ATen, and neither does its debug information.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

using torch::stable::Tensor;

namespace steady {

__attribute__((noinline)) Tensor copied(const Tensor& like) {
  return torch::stable::clone(like);
}

Tensor doubled(
    const Tensor& input,
    std::optional<Tensor> bias,
    std::vector<Tensor> many,
    torch::stable::Device device,
    std::optional<torch::stable::Device> other) {
  Tensor output = copied(input);
  const Tensor* pointer = &output;
  Tensor undefined;
  std::optional<Tensor> none;
  auto type = output.scalar_type();
  auto sizes = output.sizes();
  float* data = static_cast<float*>(output.data_ptr());
  for (int64_t index = 0; index < output.numel(); ++index) {
    data[index] *= 2;  // @doubled
  }
  return *pointer;  // @done
}

// A kernel that is boxed by hand.
void same(StableIValue* stack, uint64_t arguments, uint64_t results) {
  Tensor input = torch::stable::detail::to<Tensor>(stack[0]);
  stack[0] = torch::stable::detail::from(input);  // @same
}

Tensor spoiled(const Tensor& input) {
  Tensor output = copied(input);
  static_cast<float*>(output.data_ptr())[1] = NAN;
  return output;
}

}  // namespace steady

STABLE_TORCH_LIBRARY(steady, library) {
  library.def("doubled(Tensor input, Tensor? bias, Tensor[] many, Device device, Device? other=None) -> Tensor");
  library.def("same(Tensor input) -> Tensor");
  library.def("spoiled(Tensor input) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(steady, CPU, library) {
  library.impl("doubled", TORCH_BOX(&steady::doubled));
  library.impl("same", &steady::same);
  library.impl("spoiled", TORCH_BOX(&steady::spoiled));
}
