// softmax_cross_entropy: the mean over the targets that count of -sum_c q_c log
// softmax(logits)_c, where q is the target's one-hot vector, smoothed: q_c = (1
// - s) [c = target] + s / C (Szegedy et al., 2015). Nothing of size C is kept.
#include <csrc/ops/ops.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/where.h>
#include <torch/library.h>

#include <csrc/ops/autograd.h>
#include <csrc/ops/check.h>
#include <csrc/ops/vectorize.h>

namespace pyharness::ops {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

void check_cross_entropy(
    const char* op,
    const at::Tensor& logits,
    const at::Tensor& target,
    double label_smoothing) {
  check_floating(op, "logits", logits);
  TORCH_CHECK_VALUE(
      logits.dim() >= 1,
      op,
      ": logits must have a dimension of classes, got shape []");
  TORCH_CHECK_TYPE(
      target.scalar_type() == at::kLong,
      op,
      ": target must be int64, got ",
      target.scalar_type(),
      " of shape ",
      target.sym_sizes());
  check_shape(
      op,
      "target",
      target,
      logits.sym_sizes().slice(0, logits.dim() - 1),
      "logits without its last dimension");
  TORCH_CHECK(
      target.device() == logits.device(),
      op,
      ": target must be on the device of logits, ",
      logits.device(),
      ", got ",
      target.device());
  TORCH_CHECK_VALUE(
      label_smoothing >= 0 && label_smoothing <= 1,
      op,
      ": label_smoothing must be in [0, 1], got ",
      label_smoothing);
}

void check_cross_entropy_backward(
    const at::Tensor& grad,
    const at::Tensor& logits,
    const at::Tensor& target,
    double label_smoothing) {
  check_cross_entropy(
      "softmax_cross_entropy_backward", logits, target, label_smoothing);
  check_like("softmax_cross_entropy_backward", "grad", grad, "logits", logits);
  check_shape(
      "softmax_cross_entropy_backward",
      "grad",
      grad,
      {},
      "the shape of the loss");
}

// How many targets count; an error for one that is no class.
int64_t count_targets(
    const char* op,
    const at::Tensor& target,
    int64_t classes,
    int64_t ignore_index) {
  const int64_t* values = target.const_data_ptr<int64_t>();
  int64_t count = 0;
  for (int64_t row = 0; row < target.numel(); ++row) {
    if (values[row] == ignore_index) {
      continue;
    }
    TORCH_CHECK_INDEX(
        values[row] >= 0 && values[row] < classes,
        op,
        ": target must be in [0, ",
        classes,
        ") or ignore_index (",
        ignore_index,
        "), got ",
        values[row],
        " at flat position ",
        row,
        " of shape ",
        target.sizes());
    ++count;
  }
  return count;
}

// The row in the type that is computed in: the row itself, or widened once into
// `scratch`, since three passes over bfloat16 cost more than one and a copy.
template <typename scalar_t>
PYHARNESS_INLINE const acc_t<scalar_t>*
widened_row(const scalar_t* row, acc_t<scalar_t>* scratch, int64_t classes) {
  if constexpr (std::is_same_v<scalar_t, acc_t<scalar_t>>) {
    return row;
  } else {
    PYHARNESS_SIMD
    for (int64_t c = 0; c < classes; ++c) {
      scratch[c] = widen(row[c]);
    }
    return scratch;
  }
}

template <typename real_t>
PYHARNESS_INLINE real_t row_maximum(const real_t* row, int64_t classes) {
  real_t maximum = -std::numeric_limits<real_t>::infinity();
  PYHARNESS_SIMD_MAX(maximum)
  for (int64_t c = 0; c < classes; ++c) {
    maximum = row[c] > maximum ? row[c] : maximum;
  }
  return maximum;
}

// The loss of one row. Everything is taken relative to the row's maximum, so
// that nothing overflows. `scratch` is one row long.
template <typename scalar_t>
PYHARNESS_CLONES double cross_entropy_row(
    const scalar_t* row,
    int64_t target,
    acc_t<scalar_t>* scratch,
    int64_t classes,
    double smoothing) {
  using real_t = acc_t<scalar_t>;
  const real_t* values = widened_row(row, scratch, classes);
  const real_t maximum = row_maximum(values, classes);
  real_t exponentials = 0;
  PYHARNESS_SIMD_SUM(exponentials)
  for (int64_t c = 0; c < classes; ++c) {
    exponentials += exp_nonpositive(values[c] - maximum);
  }
  double loss =
      std::log(exponentials) - (1 - smoothing) * (values[target] - maximum);
  if (smoothing > 0) {
    real_t sum = 0;
    PYHARNESS_SIMD_SUM(sum)
    for (int64_t c = 0; c < classes; ++c) {
      sum += values[c] - maximum;
    }
    loss -= smoothing * sum / static_cast<double>(classes);
  }
  return loss;
}

// dlogits = scale (softmax(logits) - q); `exponentials`, one row long, keeps
// them, so that each is computed once.
template <typename scalar_t>
PYHARNESS_CLONES void cross_entropy_backward_row(
    const scalar_t* row,
    int64_t target,
    scalar_t* grad_row,
    acc_t<scalar_t>* exponentials,
    int64_t classes,
    double smoothing,
    double scale) {
  using real_t = acc_t<scalar_t>;
  const real_t* values = widened_row(row, exponentials, classes);
  const real_t maximum = row_maximum(values, classes);
  real_t sum = 0;
  PYHARNESS_SIMD_SUM(sum)
  for (int64_t c = 0; c < classes; ++c) {
    exponentials[c] = exp_nonpositive(values[c] - maximum);
    sum += exponentials[c];
  }
  const real_t slope = scale / sum;
  const real_t smoothed = scale * smoothing / static_cast<double>(classes);
  PYHARNESS_SIMD
  for (int64_t c = 0; c < classes; ++c) {
    grad_row[c] = narrow<scalar_t>(slope * exponentials[c] - smoothed);
  }
  grad_row[target] = narrow<scalar_t>(
      slope * exponentials[target] - smoothed -
      static_cast<real_t>(scale * (1 - smoothing)));
}

} // namespace

at::Tensor softmax_cross_entropy_cpu(
    const at::Tensor& logits,
    const at::Tensor& target,
    int64_t ignore_index,
    double label_smoothing) {
  check_cross_entropy("softmax_cross_entropy", logits, target, label_smoothing);
  const at::Tensor x = logits.contiguous();
  const at::Tensor y = target.contiguous();
  const int64_t classes = x.size(-1);
  const int64_t count =
      count_targets("softmax_cross_entropy", y, classes, ignore_index);
  // Added in the rows' order: the same sum for any number of threads.
  std::vector<double> losses(y.numel(), 0.0);
  AT_DISPATCH_FLOATING_TYPES_AND(
      at::kBFloat16, x.scalar_type(), "softmax_cross_entropy", [&] {
        const auto* rows = x.const_data_ptr<scalar_t>();
        const int64_t* targets = y.const_data_ptr<int64_t>();
        at::parallel_for(
            0,
            y.numel(),
            rows_per_thread(classes),
            [&](int64_t begin, int64_t end) {
              std::vector<acc_t<scalar_t>> scratch(classes);
              for (int64_t row = begin; row < end; ++row) {
                if (targets[row] != ignore_index) {
                  losses[row] = cross_entropy_row(
                      rows + row * classes,
                      targets[row],
                      scratch.data(),
                      classes,
                      label_smoothing);
                }
              }
            });
      });
  double total = 0;
  for (const double loss : losses) {
    total += loss;
  }
  return at::scalar_tensor(total / static_cast<double>(count), x.options());
}

at::Tensor softmax_cross_entropy_backward_cpu(
    const at::Tensor& grad,
    const at::Tensor& logits,
    const at::Tensor& target,
    int64_t ignore_index,
    double label_smoothing) {
  check_cross_entropy_backward(grad, logits, target, label_smoothing);
  const at::Tensor x = logits.contiguous();
  const at::Tensor y = target.contiguous();
  const int64_t classes = x.size(-1);
  const int64_t count =
      count_targets("softmax_cross_entropy_backward", y, classes, ignore_index);
  const double scale = grad.item().toDouble() / static_cast<double>(count);
  at::Tensor grad_logits = at::empty(x.sizes(), x.options());
  AT_DISPATCH_FLOATING_TYPES_AND(
      at::kBFloat16, x.scalar_type(), "softmax_cross_entropy_backward", [&] {
        const auto* rows = x.const_data_ptr<scalar_t>();
        const int64_t* targets = y.const_data_ptr<int64_t>();
        auto* grads = grad_logits.mutable_data_ptr<scalar_t>();
        at::parallel_for(
            0,
            y.numel(),
            rows_per_thread(classes),
            [&](int64_t begin, int64_t end) {
              std::vector<acc_t<scalar_t>> exponentials(classes);
              for (int64_t row = begin; row < end; ++row) {
                scalar_t* grad_row = grads + row * classes;
                if (targets[row] == ignore_index) {
                  std::fill_n(grad_row, classes, scalar_t(0));
                } else {
                  cross_entropy_backward_row(
                      rows + row * classes,
                      targets[row],
                      grad_row,
                      exponentials.data(),
                      classes,
                      label_smoothing,
                      scale);
                }
              }
            });
      });
  return grad_logits;
}

at::Tensor softmax_cross_entropy_meta(
    const at::Tensor& logits,
    const at::Tensor& target,
    int64_t /*ignore_index*/,
    double label_smoothing) {
  check_cross_entropy("softmax_cross_entropy", logits, target, label_smoothing);
  return at::empty({}, logits.options());
}

at::Tensor softmax_cross_entropy_backward_meta(
    const at::Tensor& grad,
    const at::Tensor& logits,
    const at::Tensor& target,
    int64_t /*ignore_index*/,
    double label_smoothing) {
  check_cross_entropy_backward(grad, logits, target, label_smoothing);
  return at::empty_symint(logits.sym_sizes(), logits.options());
}

at::Tensor softmax_cross_entropy(
    const at::Tensor& logits,
    const at::Tensor& target,
    int64_t ignore_index,
    double label_smoothing) {
  static const auto op =
      c10::Dispatcher::singleton()
          .findSchemaOrThrow("pyharness::softmax_cross_entropy", "")
          .typed<decltype(softmax_cross_entropy)>();
  return op.call(logits, target, ignore_index, label_smoothing);
}

at::Tensor softmax_cross_entropy_backward(
    const at::Tensor& grad,
    const at::Tensor& logits,
    const at::Tensor& target,
    int64_t ignore_index,
    double label_smoothing) {
  static const auto op =
      c10::Dispatcher::singleton()
          .findSchemaOrThrow("pyharness::softmax_cross_entropy_backward", "")
          .typed<decltype(softmax_cross_entropy_backward)>();
  return op.call(grad, logits, target, ignore_index, label_smoothing);
}

// The gradient of softmax_cross_entropy_backward, of ATen ops, so that autograd
// can go on from here to any order. With p the softmax and v the cotangent of a
// row: <v, g (p - q)> has the derivatives <v, p - q> in g and g p (v - <v, p>)
// in the logits.
struct SoftmaxCrossEntropyBackward
    : public torch::autograd::Function<SoftmaxCrossEntropyBackward> {
  static at::Tensor forward(
      AutogradContext* context,
      const at::Tensor& grad,
      const at::Tensor& logits,
      const at::Tensor& target,
      int64_t ignore_index,
      double label_smoothing) {
    at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({grad, logits, target});
    context->saved_data["ignore_index"] = ignore_index;
    context->saved_data["label_smoothing"] = label_smoothing;
    return softmax_cross_entropy_backward(
        grad, logits, target, ignore_index, label_smoothing);
  }

  static variable_list backward(
      AutogradContext* context,
      const variable_list& cotangents) {
    const variable_list saved = context->get_saved_variables();
    const double smoothing = context->saved_data["label_smoothing"].toDouble();
    const at::ScalarType dtype = saved[1].scalar_type();
    const at::ScalarType wide = at::toOpMathType(dtype);
    const at::Tensor g = saved[0].to(wide), p = saved[1].to(wide).softmax(-1),
                     target = saved[2].unsqueeze(-1);
    const at::Tensor v = cotangents[0].to(wide);
    const at::Tensor counts =
        target != context->saved_data["ignore_index"].toInt();
    const at::Tensor weight = counts.to(wide) / counts.sum().clamp_min(1);
    const at::Tensor vp = (v * p).sum(-1, true);
    const at::Tensor vq =
        (1 - smoothing) * v.gather(-1, at::where(counts, target, 0)) +
        smoothing * v.mean(-1, true);
    const at::Tensor grad_grad = (weight * (vp - vq)).sum();
    const at::Tensor grad_logits = g * weight * p * (v - vp);
    return {
        grad_grad.to(dtype),
        grad_logits.to(dtype),
        at::Tensor(),
        at::Tensor(),
        at::Tensor()};
  }
};

struct SoftmaxCrossEntropy
    : public torch::autograd::Function<SoftmaxCrossEntropy> {
  static at::Tensor forward(
      AutogradContext* context,
      const at::Tensor& logits,
      const at::Tensor& target,
      int64_t ignore_index,
      double label_smoothing) {
    at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({logits, target});
    context->saved_data["ignore_index"] = ignore_index;
    context->saved_data["label_smoothing"] = label_smoothing;
    return softmax_cross_entropy(logits, target, ignore_index, label_smoothing);
  }

  static variable_list backward(
      AutogradContext* context,
      const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor grad_logits = softmax_cross_entropy_backward(
        grads[0],
        saved[0],
        saved[1],
        context->saved_data["ignore_index"].toInt(),
        context->saved_data["label_smoothing"].toDouble());
    return {grad_logits, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

at::Tensor softmax_cross_entropy_autograd(
    const at::Tensor& logits,
    const at::Tensor& target,
    int64_t ignore_index,
    double label_smoothing) {
  if (needs_graph(logits)) {
    return SoftmaxCrossEntropy::apply(
        logits, target, ignore_index, label_smoothing);
  }
  at::AutoDispatchBelowADInplaceOrView below;
  return softmax_cross_entropy(logits, target, ignore_index, label_smoothing);
}

at::Tensor softmax_cross_entropy_backward_autograd(
    const at::Tensor& grad,
    const at::Tensor& logits,
    const at::Tensor& target,
    int64_t ignore_index,
    double label_smoothing) {
  if (needs_graph(grad, logits)) {
    return SoftmaxCrossEntropyBackward::apply(
        grad, logits, target, ignore_index, label_smoothing);
  }
  at::AutoDispatchBelowADInplaceOrView below;
  return softmax_cross_entropy_backward(
      grad, logits, target, ignore_index, label_smoothing);
}

TORCH_LIBRARY_IMPL(pyharness, CPU, library) {
  library.impl("softmax_cross_entropy", &softmax_cross_entropy_cpu);
  library.impl(
      "softmax_cross_entropy_backward", &softmax_cross_entropy_backward_cpu);
}

TORCH_LIBRARY_IMPL(pyharness, Meta, library) {
  library.impl("softmax_cross_entropy", &softmax_cross_entropy_meta);
  library.impl(
      "softmax_cross_entropy_backward", &softmax_cross_entropy_backward_meta);
}

TORCH_LIBRARY_IMPL(pyharness, Autograd, library) {
  library.impl("softmax_cross_entropy", &softmax_cross_entropy_autograd);
  library.impl(
      "softmax_cross_entropy_backward",
      &softmax_cross_entropy_backward_autograd);
}

} // namespace pyharness::ops
