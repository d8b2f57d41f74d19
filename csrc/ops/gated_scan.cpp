// gated_scan: a linear recurrence over time, h_t = gate_t * h_(t-1) + input_t,
// from a state h_0; output is every h_t. gate, input and output are (batch,
// time, channel), state is (batch, channel).
#include <csrc/ops/ops.h>

#include <algorithm>

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <csrc/ops/autograd.h>
#include <csrc/ops/check.h>
#include <csrc/ops/vectorize.h>

namespace pyharness::ops {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

// Channels that one task carries through time: their running state stays in
// registers or the first-level cache.
constexpr int64_t kChannelBlock = 256;

void check_gated_scan(
    const char* op,
    const at::Tensor& gate,
    const char* name,
    const at::Tensor& sequence,
    const at::Tensor& state) {
  check_floating(op, "gate", gate);
  TORCH_CHECK_VALUE(
      gate.dim() == 3,
      op,
      ": gate must be (batch, time, channel), got shape ",
      gate.sym_sizes());
  check_like(op, name, sequence, "gate", gate);
  check_shape(op, name, sequence, gate.sym_sizes(), "the shape of gate");
  check_like(op, "state", state, "gate", gate);
  check_shape(
      op,
      "state",
      state,
      {gate.sym_size(0), gate.sym_size(2)},
      "batch and channel of gate");
}

void check_gated_scan_backward(
    const at::Tensor& grad,
    const at::Tensor& gate,
    const at::Tensor& output,
    const at::Tensor& state) {
  check_gated_scan("gated_scan_backward", gate, "output", output, state);
  check_like("gated_scan_backward", "grad", grad, "gate", gate);
  check_shape(
      "gated_scan_backward",
      "grad",
      grad,
      gate.sym_sizes(),
      "the shape of gate");
}

// One sequence's sizes; `stride` is the distance from one time step to the
// next.
struct Steps {
  int64_t count;
  int64_t stride;
};

template <typename scalar_t>
PYHARNESS_CLONES void gated_scan_channels(
    const scalar_t* gate,
    const scalar_t* input,
    const scalar_t* state,
    scalar_t* output,
    Steps steps,
    int64_t channels) {
  acc_t<scalar_t> h[kChannelBlock];
  for (int64_t c = 0; c < channels; ++c) {
    h[c] = widen(state[c]);
  }
  for (int64_t t = 0; t < steps.count; ++t) {
    const int64_t now = t * steps.stride;
    PYHARNESS_SIMD
    for (int64_t c = 0; c < channels; ++c) {
      h[c] = widen(gate[now + c]) * h[c] + widen(input[now + c]);
      output[now + c] = narrow<scalar_t>(h[c]);
    }
  }
}

// Back through time: dh_t = grad_t + gate_(t+1) dh_(t+1); dinput_t = dh_t,
// dgate_t = dh_t h_(t-1), dstate = gate_1 dh_1.
template <typename scalar_t>
PYHARNESS_CLONES void gated_scan_backward_channels(
    const scalar_t* grad,
    const scalar_t* gate,
    const scalar_t* output,
    const scalar_t* state,
    scalar_t* grad_gate,
    scalar_t* grad_input,
    scalar_t* grad_state,
    Steps steps,
    int64_t channels) {
  acc_t<scalar_t> carried[kChannelBlock] = {};
  for (int64_t t = steps.count - 1; t >= 0; --t) {
    const int64_t now = t * steps.stride;
    const scalar_t* previous = t > 0 ? output + now - steps.stride : state;
    PYHARNESS_SIMD
    for (int64_t c = 0; c < channels; ++c) {
      const acc_t<scalar_t> dh = widen(grad[now + c]) + carried[c];
      grad_input[now + c] = narrow<scalar_t>(dh);
      grad_gate[now + c] = narrow<scalar_t>(dh * widen(previous[c]));
      carried[c] = dh * widen(gate[now + c]);
    }
  }
  for (int64_t c = 0; c < channels; ++c) {
    grad_state[c] = narrow<scalar_t>(carried[c]);
  }
}

// Calls scan(offset into the sequences, offset into the states, channels) for
// every block of channels of every batch element, blocks in parallel.
template <typename Scan>
void for_each_block(const at::Tensor& gate, const Scan& scan) {
  const int64_t time = gate.size(1);
  const int64_t width = gate.size(2);
  const int64_t blocks = (width + kChannelBlock - 1) / kChannelBlock;
  const int64_t grain = rows_per_thread(time * std::min(width, kChannelBlock));
  at::parallel_for(
      0, gate.size(0) * blocks, grain, [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t batch = task / blocks;
          const int64_t first = task % blocks * kChannelBlock;
          scan(
              batch * time * width + first,
              batch * width + first,
              std::min(kChannelBlock, width - first));
        }
      });
}

} // namespace

at::Tensor gated_scan_cpu(
    const at::Tensor& gate,
    const at::Tensor& input,
    const at::Tensor& state) {
  check_gated_scan("gated_scan", gate, "input", input, state);
  const at::Tensor a = gate.contiguous();
  const at::Tensor b = input.contiguous();
  const at::Tensor start = state.contiguous();
  at::Tensor output = at::empty(a.sizes(), a.options());
  const Steps steps{a.size(1), a.size(2)};
  AT_DISPATCH_FLOATING_TYPES_AND(
      at::kBFloat16, a.scalar_type(), "gated_scan", [&] {
        for_each_block(
            a, [&](int64_t offset, int64_t state_offset, int64_t channels) {
              gated_scan_channels<scalar_t>(
                  a.const_data_ptr<scalar_t>() + offset,
                  b.const_data_ptr<scalar_t>() + offset,
                  start.const_data_ptr<scalar_t>() + state_offset,
                  output.mutable_data_ptr<scalar_t>() + offset,
                  steps,
                  channels);
            });
      });
  return output;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> gated_scan_backward_cpu(
    const at::Tensor& grad,
    const at::Tensor& gate,
    const at::Tensor& output,
    const at::Tensor& state) {
  check_gated_scan_backward(grad, gate, output, state);
  const at::Tensor g = grad.contiguous();
  const at::Tensor a = gate.contiguous();
  const at::Tensor h = output.contiguous();
  const at::Tensor start = state.contiguous();
  at::Tensor grad_gate = at::empty(a.sizes(), a.options());
  at::Tensor grad_input = at::empty(a.sizes(), a.options());
  at::Tensor grad_state = at::empty(start.sizes(), start.options());
  const Steps steps{a.size(1), a.size(2)};
  AT_DISPATCH_FLOATING_TYPES_AND(
      at::kBFloat16, a.scalar_type(), "gated_scan_backward", [&] {
        for_each_block(
            a, [&](int64_t offset, int64_t state_offset, int64_t channels) {
              gated_scan_backward_channels<scalar_t>(
                  g.const_data_ptr<scalar_t>() + offset,
                  a.const_data_ptr<scalar_t>() + offset,
                  h.const_data_ptr<scalar_t>() + offset,
                  start.const_data_ptr<scalar_t>() + state_offset,
                  grad_gate.mutable_data_ptr<scalar_t>() + offset,
                  grad_input.mutable_data_ptr<scalar_t>() + offset,
                  grad_state.mutable_data_ptr<scalar_t>() + state_offset,
                  steps,
                  channels);
            });
      });
  return {grad_gate, grad_input, grad_state};
}

at::Tensor gated_scan_meta(
    const at::Tensor& gate,
    const at::Tensor& input,
    const at::Tensor& state) {
  check_gated_scan("gated_scan", gate, "input", input, state);
  return at::empty_symint(gate.sym_sizes(), gate.options());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> gated_scan_backward_meta(
    const at::Tensor& grad,
    const at::Tensor& gate,
    const at::Tensor& output,
    const at::Tensor& state) {
  check_gated_scan_backward(grad, gate, output, state);
  return {
      at::empty_symint(gate.sym_sizes(), gate.options()),
      at::empty_symint(gate.sym_sizes(), gate.options()),
      at::empty_symint(state.sym_sizes(), state.options())};
}

at::Tensor gated_scan(
    const at::Tensor& gate,
    const at::Tensor& input,
    const at::Tensor& state) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("pyharness::gated_scan", "")
                             .typed<decltype(gated_scan)>();
  return op.call(gate, input, state);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> gated_scan_backward(
    const at::Tensor& grad,
    const at::Tensor& gate,
    const at::Tensor& output,
    const at::Tensor& state) {
  static const auto op =
      c10::Dispatcher::singleton()
          .findSchemaOrThrow("pyharness::gated_scan_backward", "")
          .typed<decltype(gated_scan_backward)>();
  return op.call(grad, gate, output, state);
}

// The scan backwards in time is linear, and its transpose is the scan forwards:
// so the gradient of gated_scan_backward is one more gated_scan, whose output
// is the cotangent of dh. The op is made of itself, hence differentiable to any
// order. The cotangents are v_gate, v_input and v_state of the three gradients.
struct GatedScanBackward : public torch::autograd::Function<GatedScanBackward> {
  static variable_list forward(
      AutogradContext* context,
      const at::Tensor& grad,
      const at::Tensor& gate,
      const at::Tensor& output,
      const at::Tensor& state) {
    at::AutoDispatchBelowADInplaceOrView below;
    auto [grad_gate, grad_input, grad_state] =
        gated_scan_backward(grad, gate, output, state);
    context->save_for_backward({gate, output, state, grad_input});
    return {grad_gate, grad_input, grad_state};
  }

  static variable_list backward(
      AutogradContext* context,
      const variable_list& cotangents) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& gate = saved[0];
    const at::Tensor& output = saved[1];
    const at::Tensor& state = saved[2];
    const at::Tensor& dh = saved[3];
    const at::Tensor& v_gate = cotangents[0];
    const at::Tensor& v_input = cotangents[1];
    const at::Tensor& v_state = cotangents[2];
    const c10::SymInt time = gate.sym_size(1);
    if (time == 0) { // grad_state is 0, whatever the arguments
      return {dh, gate * 0, output * 0, state * 0};
    }
    const at::Tensor before = at::cat(
        {state.unsqueeze(1), output.slice_symint(1, 0, time - 1)},
        1); // h_(t-1)
    const at::Tensor grad_grad =
        gated_scan(gate, v_gate * before + v_input, v_state);
    const at::Tensor cotangent_before = at::cat(
        {v_state.unsqueeze(1), grad_grad.slice_symint(1, 0, time - 1)}, 1);
    const at::Tensor grad_before = v_gate * dh;
    const at::Tensor grad_state = grad_before.select(1, 0);
    const at::Tensor grad_output = at::cat(
        {grad_before.slice_symint(1, 1, time), (state * 0).unsqueeze(1)}, 1);
    return {grad_grad, cotangent_before * dh, grad_output, grad_state};
  }
};

struct GatedScan : public torch::autograd::Function<GatedScan> {
  static at::Tensor forward(
      AutogradContext* context,
      const at::Tensor& gate,
      const at::Tensor& input,
      const at::Tensor& state) {
    at::AutoDispatchBelowADInplaceOrView below;
    at::Tensor output = gated_scan(gate, input, state);
    context->save_for_backward({gate, output, state});
    return output;
  }

  static variable_list backward(
      AutogradContext* context,
      const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    auto [grad_gate, grad_input, grad_state] =
        gated_scan_backward(grads[0], saved[0], saved[1], saved[2]);
    return {grad_gate, grad_input, grad_state};
  }
};

at::Tensor gated_scan_autograd(
    const at::Tensor& gate,
    const at::Tensor& input,
    const at::Tensor& state) {
  if (needs_graph(gate, input, state)) {
    return GatedScan::apply(gate, input, state);
  }
  at::AutoDispatchBelowADInplaceOrView below;
  return gated_scan(gate, input, state);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> gated_scan_backward_autograd(
    const at::Tensor& grad,
    const at::Tensor& gate,
    const at::Tensor& output,
    const at::Tensor& state) {
  if (needs_graph(grad, gate, output, state)) {
    const variable_list grads =
        GatedScanBackward::apply(grad, gate, output, state);
    return {grads[0], grads[1], grads[2]};
  }
  at::AutoDispatchBelowADInplaceOrView below;
  return gated_scan_backward(grad, gate, output, state);
}

TORCH_LIBRARY_IMPL(pyharness, CPU, library) {
  library.impl("gated_scan", &gated_scan_cpu);
  library.impl("gated_scan_backward", &gated_scan_backward_cpu);
}

TORCH_LIBRARY_IMPL(pyharness, Meta, library) {
  library.impl("gated_scan", &gated_scan_meta);
  library.impl("gated_scan_backward", &gated_scan_backward_meta);
}

TORCH_LIBRARY_IMPL(pyharness, Autograd, library) {
  library.impl("gated_scan", &gated_scan_autograd);
  library.impl("gated_scan_backward", &gated_scan_backward_autograd);
}

} // namespace pyharness::ops
