// rms_norm: output = input / sqrt(mean(input^2) + eps) * weight, over the last
// dimension (Zhang and Sennrich, 2019).
#include <csrc/ops/ops.h>

#include <algorithm>
#include <cmath>

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <csrc/ops/autograd.h>
#include <csrc/ops/check.h>
#include <csrc/ops/vectorize.h>

namespace pyharness::ops {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

void check_rms_norm(
    const char* op,
    const at::Tensor& input,
    const at::Tensor& weight) {
  check_floating(op, "input", input);
  check_like(op, "weight", weight, "input", input);
  TORCH_CHECK_VALUE(
      input.dim() >= 1,
      op,
      ": input must have a dimension to normalize, got shape []");
  check_shape(
      op,
      "weight",
      weight,
      {input.sym_size(-1)},
      "the last dimension of input");
}

void check_rms_norm_backward(
    const at::Tensor& grad,
    const at::Tensor& input,
    const at::Tensor& weight) {
  check_rms_norm("rms_norm_backward", input, weight);
  check_like("rms_norm_backward", "grad", grad, "input", input);
  check_shape(
      "rms_norm_backward",
      "grad",
      grad,
      input.sym_sizes(),
      "the shape of input");
}

template <typename scalar_t>
PYHARNESS_INLINE acc_t<scalar_t>
inverse_rms(const scalar_t* row, int64_t width, double eps) {
  acc_t<scalar_t> squares = 0;
  PYHARNESS_SIMD_SUM(squares)
  for (int64_t i = 0; i < width; ++i) {
    const acc_t<scalar_t> value = widen(row[i]);
    squares += value * value;
  }
  return 1 /
      std::sqrt(
             squares / static_cast<acc_t<scalar_t>>(width) +
             static_cast<acc_t<scalar_t>>(eps));
}

template <typename scalar_t>
PYHARNESS_CLONES void rms_norm_rows(
    const scalar_t* input,
    const scalar_t* weight,
    scalar_t* output,
    int64_t rows,
    int64_t width,
    double eps) {
  for (int64_t row = 0; row < rows; ++row) {
    const scalar_t* x = input + row * width;
    scalar_t* y = output + row * width;
    const acc_t<scalar_t> scale = inverse_rms(x, width, eps);
    PYHARNESS_SIMD
    for (int64_t i = 0; i < width; ++i) {
      y[i] = narrow<scalar_t>(widen(x[i]) * scale * widen(weight[i]));
    }
  }
}

// With r = inverse_rms(x): dx = r (g w - x r^2 mean(g w x)), dw = sum over the
// rows of g x r.
template <typename scalar_t>
PYHARNESS_CLONES void rms_norm_backward_rows(
    const scalar_t* grad,
    const scalar_t* input,
    const scalar_t* weight,
    scalar_t* grad_input,
    acc_t<scalar_t>* grad_weight,
    int64_t rows,
    int64_t width,
    double eps) {
  using real_t = acc_t<scalar_t>;
  for (int64_t row = 0; row < rows; ++row) {
    const scalar_t* g = grad + row * width;
    const scalar_t* x = input + row * width;
    scalar_t* dx = grad_input + row * width;
    const real_t scale = inverse_rms(x, width, eps);
    real_t projection = 0;
    PYHARNESS_SIMD_SUM(projection)
    for (int64_t i = 0; i < width; ++i) {
      projection += widen(g[i]) * widen(weight[i]) * widen(x[i]);
    }
    projection *= scale * scale / static_cast<real_t>(width);
    PYHARNESS_SIMD
    for (int64_t i = 0; i < width; ++i) {
      const real_t normed = widen(x[i]) * scale;
      dx[i] = narrow<scalar_t>(
          scale * widen(g[i]) * widen(weight[i]) - normed * projection);
      grad_weight[i] += widen(g[i]) * normed;
    }
  }
}

int64_t row_count(const at::Tensor& input) {
  return input.numel() == 0 ? 0 : input.numel() / input.size(-1);
}

} // namespace

at::Tensor
rms_norm_cpu(const at::Tensor& input, const at::Tensor& weight, double eps) {
  check_rms_norm("rms_norm", input, weight);
  const at::Tensor x = input.contiguous();
  const at::Tensor w = weight.contiguous();
  at::Tensor output = at::empty(x.sizes(), x.options());
  const int64_t width = x.size(-1);
  AT_DISPATCH_FLOATING_TYPES_AND(
      at::kBFloat16, x.scalar_type(), "rms_norm", [&] {
        const auto* from = x.const_data_ptr<scalar_t>();
        auto* to = output.mutable_data_ptr<scalar_t>();
        at::parallel_for(
            0,
            row_count(x),
            rows_per_thread(width),
            [&](int64_t begin, int64_t end) {
              rms_norm_rows<scalar_t>(
                  from + begin * width,
                  w.const_data_ptr<scalar_t>(),
                  to + begin * width,
                  end - begin,
                  width,
                  eps);
            });
      });
  return output;
}

std::tuple<at::Tensor, at::Tensor> rms_norm_backward_cpu(
    const at::Tensor& grad,
    const at::Tensor& input,
    const at::Tensor& weight,
    double eps) {
  check_rms_norm_backward(grad, input, weight);
  const at::Tensor g = grad.contiguous();
  const at::Tensor x = input.contiguous();
  const at::Tensor w = weight.contiguous();
  const int64_t rows = row_count(x);
  const int64_t width = x.size(-1);
  // Each chunk of rows sums the weight's gradient by itself; the sums are added
  // in a fixed order.
  const int64_t chunks = std::clamp<int64_t>(
      rows / rows_per_thread(width), 1, at::get_num_threads());
  at::Tensor grad_input = at::empty(x.sizes(), x.options());
  at::Tensor partial = at::zeros(
      {chunks, width}, x.options().dtype(at::toOpMathType(x.scalar_type())));
  AT_DISPATCH_FLOATING_TYPES_AND(
      at::kBFloat16, x.scalar_type(), "rms_norm_backward", [&] {
        at::parallel_for(0, chunks, 1, [&](int64_t begin, int64_t end) {
          for (int64_t chunk = begin; chunk < end; ++chunk) {
            const int64_t first = rows * chunk / chunks;
            const int64_t last = rows * (chunk + 1) / chunks;
            rms_norm_backward_rows<scalar_t>(
                g.const_data_ptr<scalar_t>() + first * width,
                x.const_data_ptr<scalar_t>() + first * width,
                w.const_data_ptr<scalar_t>(),
                grad_input.mutable_data_ptr<scalar_t>() + first * width,
                partial.mutable_data_ptr<acc_t<scalar_t>>() + chunk * width,
                last - first,
                width,
                eps);
          }
        });
      });
  return {grad_input, partial.sum(0).to(w.scalar_type())};
}

at::Tensor rms_norm_meta(
    const at::Tensor& input,
    const at::Tensor& weight,
    double /*eps*/) {
  check_rms_norm("rms_norm", input, weight);
  return at::empty_symint(input.sym_sizes(), input.options());
}

std::tuple<at::Tensor, at::Tensor> rms_norm_backward_meta(
    const at::Tensor& grad,
    const at::Tensor& input,
    const at::Tensor& weight,
    double /*eps*/) {
  check_rms_norm_backward(grad, input, weight);
  return {
      at::empty_symint(input.sym_sizes(), input.options()),
      at::empty_symint(weight.sym_sizes(), weight.options())};
}

at::Tensor
rms_norm(const at::Tensor& input, const at::Tensor& weight, double eps) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("pyharness::rms_norm", "")
                             .typed<decltype(rms_norm)>();
  return op.call(input, weight, eps);
}

std::tuple<at::Tensor, at::Tensor> rms_norm_backward(
    const at::Tensor& grad,
    const at::Tensor& input,
    const at::Tensor& weight,
    double eps) {
  static const auto op =
      c10::Dispatcher::singleton()
          .findSchemaOrThrow("pyharness::rms_norm_backward", "")
          .typed<decltype(rms_norm_backward)>();
  return op.call(grad, input, weight, eps);
}

// The gradient of rms_norm_backward, of ATen ops, so that autograd can go on
// from here to any order. The cotangents are v of grad_input and u of
// grad_weight.
struct RmsNormBackward : public torch::autograd::Function<RmsNormBackward> {
  static variable_list forward(
      AutogradContext* context,
      const at::Tensor& grad,
      const at::Tensor& input,
      const at::Tensor& weight,
      double eps) {
    at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({grad, input, weight});
    context->saved_data["eps"] = eps;
    auto [grad_input, grad_weight] =
        rms_norm_backward(grad, input, weight, eps);
    return {grad_input, grad_weight};
  }

  static variable_list backward(
      AutogradContext* context,
      const variable_list& cotangents) {
    const variable_list saved = context->get_saved_variables();
    const at::ScalarType dtype = saved[1].scalar_type();
    const at::ScalarType wide = at::toOpMathType(dtype);
    const at::Tensor g = saved[0].to(wide), x = saved[1].to(wide),
                     w = saved[2].to(wide);
    const at::Tensor v = cotangents[0].to(wide), u = cotangents[1].to(wide);
    const at::Tensor r = (x * x)
                             .mean(-1, true)
                             .add(context->saved_data["eps"].toDouble())
                             .rsqrt();
    const at::Tensor r3 = r * r * r;
    const at::Tensor gw = g * w;
    const at::Tensor s = (gw * x).mean(-1, true);
    const at::Tensor c = (v * x).mean(-1, true);
    const at::Tensor d = (gw * v + g * u * x).mean(-1, true);
    const at::Tensor along = r * v -
        r3 * c * x; // the derivative of rms_norm without weight, along v
    const at::Tensor grad_grad = w * along + u * x * r;
    const at::Tensor grad_input =
        g * u * r - r3 * (d * x + c * gw + s * v) + 3 * r * r * r3 * s * c * x;
    const at::Tensor grad_weight =
        (g * along).sum_to_size_symint(w.sym_sizes());
    return {
        grad_grad.to(dtype),
        grad_input.to(dtype),
        grad_weight.to(dtype),
        at::Tensor()};
  }
};

struct RmsNorm : public torch::autograd::Function<RmsNorm> {
  static at::Tensor forward(
      AutogradContext* context,
      const at::Tensor& input,
      const at::Tensor& weight,
      double eps) {
    at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({input, weight});
    context->saved_data["eps"] = eps;
    return rms_norm(input, weight, eps);
  }

  static variable_list backward(
      AutogradContext* context,
      const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    auto [grad_input, grad_weight] = rms_norm_backward(
        grads[0], saved[0], saved[1], context->saved_data["eps"].toDouble());
    return {grad_input, grad_weight, at::Tensor()};
  }
};

at::Tensor rms_norm_autograd(
    const at::Tensor& input,
    const at::Tensor& weight,
    double eps) {
  if (needs_graph(input, weight)) {
    return RmsNorm::apply(input, weight, eps);
  }
  at::AutoDispatchBelowADInplaceOrView below;
  return rms_norm(input, weight, eps);
}

std::tuple<at::Tensor, at::Tensor> rms_norm_backward_autograd(
    const at::Tensor& grad,
    const at::Tensor& input,
    const at::Tensor& weight,
    double eps) {
  if (needs_graph(grad, input, weight)) {
    const variable_list grads =
        RmsNormBackward::apply(grad, input, weight, eps);
    return {grads[0], grads[1]};
  }
  at::AutoDispatchBelowADInplaceOrView below;
  return rms_norm_backward(grad, input, weight, eps);
}

TORCH_LIBRARY_IMPL(pyharness, CPU, library) {
  library.impl("rms_norm", &rms_norm_cpu);
  library.impl("rms_norm_backward", &rms_norm_backward_cpu);
}

TORCH_LIBRARY_IMPL(pyharness, Meta, library) {
  library.impl("rms_norm", &rms_norm_meta);
  library.impl("rms_norm_backward", &rms_norm_backward_meta);
}

TORCH_LIBRARY_IMPL(pyharness, Autograd, library) {
  library.impl("rms_norm", &rms_norm_autograd);
  library.impl("rms_norm_backward", &rms_norm_backward_autograd);
}

} // namespace pyharness::ops
