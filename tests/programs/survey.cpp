// An extension as its authors would write it, who know nothing of us: a C++ autograd Function behind an op, and straight
// from Python without one. Where two points meet, its backward divides zero by zero.
#include <ATen/TensorOperators.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/library.h>

namespace survey {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Distance : torch::autograd::Function<Distance> {
  static Tensor forward(AutogradContext* context, const Tensor& from, const Tensor& to) {
    const at::AutoDispatchBelowADInplaceOrView below;
    const Tensor way = from - to; // @way
    const Tensor length = way.square().sum(-1).sqrt();
    context->save_for_backward({way, length});
    return length;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables(); // @backward
    const Tensor unit = saved[0] / saved[1].unsqueeze(-1);
    const Tensor slope = grads[0].unsqueeze(-1) * unit;
    return {slope, -slope};
  }
};

// Makes a node and runs no op of its own.
struct Same : torch::autograd::Function<Same> {
  static Tensor forward(AutogradContext* context, const Tensor& x) {
    context->mark_dirty({x});
    return x;
  }

  static variable_list backward(AutogradContext*, const variable_list& grads) {
    return grads;
  }
};

Tensor distance(const Tensor& from, const Tensor& to) {
  return Distance::apply(from, to);
}

Tensor same(const Tensor& x) {
  return Same::apply(x);
}

} // namespace survey

TORCH_LIBRARY(survey, library) {
  library.def("distance(Tensor points, Tensor place) -> Tensor");
  library.impl("distance", c10::DispatchKey::CompositeImplicitAutograd, &survey::distance);
}

PYBIND11_MODULE(survey, module) {
  module.def("distance", &survey::distance);
  module.def("same", &survey::same);
}
