// swiglu: output = silu(gate) * up, element by element, silu(z) = z *
// sigmoid(z) (Shazeer, 2020).
#include <csrc/ops/ops.h>

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <csrc/ops/autograd.h>
#include <csrc/ops/check.h>
#include <csrc/ops/vectorize.h>

namespace pyharness::ops {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

void check_swiglu(
    const char* op,
    const at::Tensor& gate,
    const at::Tensor& up) {
  check_floating(op, "gate", gate);
  check_like(op, "up", up, "gate", gate);
  check_shape(op, "up", up, gate.sym_sizes(), "the shape of gate");
}

void check_swiglu_backward(
    const at::Tensor& grad,
    const at::Tensor& gate,
    const at::Tensor& up) {
  check_swiglu("swiglu_backward", gate, up);
  check_like("swiglu_backward", "grad", grad, "gate", gate);
  check_shape(
      "swiglu_backward", "grad", grad, gate.sym_sizes(), "the shape of gate");
}

template <typename scalar_t>
PYHARNESS_CLONES void swiglu_elements(
    const scalar_t* gate,
    const scalar_t* up,
    scalar_t* output,
    int64_t count) {
  using real_t = acc_t<scalar_t>;
  PYHARNESS_SIMD
  for (int64_t i = 0; i < count; ++i) {
    const real_t z = widen(gate[i]);
    output[i] = narrow<scalar_t>(z * sigmoid(z) * widen(up[i]));
  }
}

// With s = sigmoid(z): dz = g up s (1 + z (1 - s)), dup = g z s.
template <typename scalar_t>
PYHARNESS_CLONES void swiglu_backward_elements(
    const scalar_t* grad,
    const scalar_t* gate,
    const scalar_t* up,
    scalar_t* grad_gate,
    scalar_t* grad_up,
    int64_t count) {
  using real_t = acc_t<scalar_t>;
  PYHARNESS_SIMD
  for (int64_t i = 0; i < count; ++i) {
    const real_t g = widen(grad[i]);
    const real_t z = widen(gate[i]);
    const real_t s = sigmoid(z);
    grad_gate[i] = narrow<scalar_t>(g * widen(up[i]) * s * (1 + z * (1 - s)));
    grad_up[i] = narrow<scalar_t>(g * z * s);
  }
}

} // namespace

at::Tensor swiglu_cpu(const at::Tensor& gate, const at::Tensor& up) {
  check_swiglu("swiglu", gate, up);
  const at::Tensor z = gate.contiguous();
  const at::Tensor u = up.contiguous();
  at::Tensor output = at::empty(z.sizes(), z.options());
  AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, z.scalar_type(), "swiglu", [&] {
    at::parallel_for(0, z.numel(), kGrainSize, [&](int64_t begin, int64_t end) {
      swiglu_elements<scalar_t>(
          z.const_data_ptr<scalar_t>() + begin,
          u.const_data_ptr<scalar_t>() + begin,
          output.mutable_data_ptr<scalar_t>() + begin,
          end - begin);
    });
  });
  return output;
}

std::tuple<at::Tensor, at::Tensor> swiglu_backward_cpu(
    const at::Tensor& grad,
    const at::Tensor& gate,
    const at::Tensor& up) {
  check_swiglu_backward(grad, gate, up);
  const at::Tensor g = grad.contiguous();
  const at::Tensor z = gate.contiguous();
  const at::Tensor u = up.contiguous();
  at::Tensor grad_gate = at::empty(z.sizes(), z.options());
  at::Tensor grad_up = at::empty(z.sizes(), z.options());
  AT_DISPATCH_FLOATING_TYPES_AND(
      at::kBFloat16, z.scalar_type(), "swiglu_backward", [&] {
        at::parallel_for(
            0, z.numel(), kGrainSize, [&](int64_t begin, int64_t end) {
              swiglu_backward_elements<scalar_t>(
                  g.const_data_ptr<scalar_t>() + begin,
                  z.const_data_ptr<scalar_t>() + begin,
                  u.const_data_ptr<scalar_t>() + begin,
                  grad_gate.mutable_data_ptr<scalar_t>() + begin,
                  grad_up.mutable_data_ptr<scalar_t>() + begin,
                  end - begin);
            });
      });
  return {grad_gate, grad_up};
}

at::Tensor swiglu_meta(const at::Tensor& gate, const at::Tensor& up) {
  check_swiglu("swiglu", gate, up);
  return at::empty_symint(gate.sym_sizes(), gate.options());
}

std::tuple<at::Tensor, at::Tensor> swiglu_backward_meta(
    const at::Tensor& grad,
    const at::Tensor& gate,
    const at::Tensor& up) {
  check_swiglu_backward(grad, gate, up);
  return {
      at::empty_symint(gate.sym_sizes(), gate.options()),
      at::empty_symint(up.sym_sizes(), up.options())};
}

at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("pyharness::swiglu", "")
                             .typed<decltype(swiglu)>();
  return op.call(gate, up);
}

std::tuple<at::Tensor, at::Tensor> swiglu_backward(
    const at::Tensor& grad,
    const at::Tensor& gate,
    const at::Tensor& up) {
  static const auto op =
      c10::Dispatcher::singleton()
          .findSchemaOrThrow("pyharness::swiglu_backward", "")
          .typed<decltype(swiglu_backward)>();
  return op.call(grad, gate, up);
}

// The gradient of swiglu_backward, of ATen ops, so that autograd can go on from
// here to any order. The cotangents are v of grad_gate and u of grad_up.
struct SwiGluBackward : public torch::autograd::Function<SwiGluBackward> {
  static variable_list forward(
      AutogradContext* context,
      const at::Tensor& grad,
      const at::Tensor& gate,
      const at::Tensor& up) {
    at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({grad, gate, up});
    auto [grad_gate, grad_up] = swiglu_backward(grad, gate, up);
    return {grad_gate, grad_up};
  }

  static variable_list backward(
      AutogradContext* context,
      const variable_list& cotangents) {
    const variable_list saved = context->get_saved_variables();
    const at::ScalarType dtype = saved[1].scalar_type();
    const at::ScalarType wide = at::toOpMathType(dtype);
    const at::Tensor g = saved[0].to(wide), z = saved[1].to(wide),
                     up = saved[2].to(wide);
    const at::Tensor v = cotangents[0].to(wide), u = cotangents[1].to(wide);
    const at::Tensor s = z.sigmoid();
    const at::Tensor slope = s * (1 + z * (1 - s)); // silu'(z)
    const at::Tensor curvature =
        s * (1 - s) * (2 + z * (1 - 2 * s)); // silu''(z)
    const at::Tensor grad_grad = v * up * slope + u * z * s;
    const at::Tensor grad_gate = g * (v * up * curvature + u * slope);
    const at::Tensor grad_up = g * v * slope;
    return {grad_grad.to(dtype), grad_gate.to(dtype), grad_up.to(dtype)};
  }
};

struct SwiGlu : public torch::autograd::Function<SwiGlu> {
  static at::Tensor forward(
      AutogradContext* context,
      const at::Tensor& gate,
      const at::Tensor& up) {
    at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({gate, up});
    return swiglu(gate, up);
  }

  static variable_list backward(
      AutogradContext* context,
      const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    auto [grad_gate, grad_up] = swiglu_backward(grads[0], saved[0], saved[1]);
    return {grad_gate, grad_up};
  }
};

at::Tensor swiglu_autograd(const at::Tensor& gate, const at::Tensor& up) {
  if (needs_graph(gate, up)) {
    return SwiGlu::apply(gate, up);
  }
  at::AutoDispatchBelowADInplaceOrView below;
  return swiglu(gate, up);
}

std::tuple<at::Tensor, at::Tensor> swiglu_backward_autograd(
    const at::Tensor& grad,
    const at::Tensor& gate,
    const at::Tensor& up) {
  if (needs_graph(grad, gate, up)) {
    const variable_list grads = SwiGluBackward::apply(grad, gate, up);
    return {grads[0], grads[1]};
  }
  at::AutoDispatchBelowADInplaceOrView below;
  return swiglu_backward(grad, gate, up);
}

TORCH_LIBRARY_IMPL(pyharness, CPU, library) {
  library.impl("swiglu", &swiglu_cpu);
  library.impl("swiglu_backward", &swiglu_backward_cpu);
}

TORCH_LIBRARY_IMPL(pyharness, Meta, library) {
  library.impl("swiglu", &swiglu_meta);
  library.impl("swiglu_backward", &swiglu_backward_meta);
}

TORCH_LIBRARY_IMPL(pyharness, Autograd, library) {
  library.impl("swiglu", &swiglu_autograd);
  library.impl("swiglu_backward", &swiglu_backward_autograd);
}

} // namespace pyharness::ops
