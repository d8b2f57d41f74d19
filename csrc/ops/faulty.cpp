// Ops that fail on purpose, for teaching and for tests of a debugger;
// pyharness/ops/faulty.py says what to expect of each. They are written as such
// mistakes are made, and kept simple: what is wrong is visible in a debugger at
// the line itself.
#include <Python.h>

#include <cstdlib>
#include <latch>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/sqrt.h>
#include <torch/library.h>

#include <csrc/ops/autograd.h>
#include <csrc/ops/check.h>

namespace pyharness::ops {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

void check_faulty(const char* op, const at::Tensor& input) {
  TORCH_CHECK_TYPE(
      input.scalar_type() == at::kFloat || input.scalar_type() == at::kDouble,
      op,
      ": input must be float32 or float64, got ",
      input.scalar_type(),
      " of shape ",
      input.sym_sizes());
}

void check_faulty_float(const char* op, const at::Tensor& input) {
  TORCH_CHECK_TYPE(
      input.scalar_type() == at::kFloat,
      op,
      ": input must be float32, got ",
      input.scalar_type(),
      " of shape ",
      input.sym_sizes());
  TORCH_CHECK_VALUE(
      input.is_contiguous() && input.numel() > 0,
      op,
      ": input must be contiguous and not empty, got shape ",
      input.sizes());
}

struct Table {
  float scale = 1;
};

// A lookup that finds nothing and says so in a way that nobody reads.
// (volatile: a compiler that saw the null would drop the access.)
const Table* find_table(int64_t /*size*/) {
  static const Table* volatile missing = nullptr;
  return missing;
}

void validate(const float* values, int64_t count) {
  throw std::runtime_error(
      "faulty_exception: " + std::to_string(count) +
      " values refused, the first is " + std::to_string(values[0]));
}

std::mutex table_mutex;

} // namespace

at::Tensor faulty_null_dereference_cpu(const at::Tensor& input) {
  check_faulty_float("faulty_null_dereference", input);
  at::Tensor output = at::empty_like(input);
  const float* from = input.const_data_ptr<float>();
  float* to = output.mutable_data_ptr<float>();
  const Table* table = find_table(input.numel());
  for (int64_t i = 0; i < input.numel(); ++i) {
    to[i] = from[i] * table->scale; // table is null
  }
  return output;
}

void faulty_out_of_bounds_write_cpu(at::Tensor& input, int64_t past) {
  check_faulty_float("faulty_out_of_bounds_write", input);
  float* values = input.mutable_data_ptr<float>();
  for (int64_t i = 0; i < input.numel(); ++i) {
    values[i] = 0;
  }
  values[input.numel() - 1 + past] = -1; // `past` elements behind the last one
}

at::Tensor faulty_exception_cpu(const at::Tensor& input) {
  check_faulty_float("faulty_exception", input);
  validate(input.const_data_ptr<float>(), input.numel());
  return at::empty_like(input);
}

at::Tensor faulty_abort_cpu(const at::Tensor& input) {
  check_faulty_float("faulty_abort", input);
  std::abort();
}

// This thread takes the table's lock, then wants the GIL; the reader has the
// GIL and wants the table's lock.
at::Tensor faulty_deadlock_cpu(const at::Tensor& input) {
  check_faulty("faulty_deadlock", input);
  std::lock_guard<std::mutex> table(table_mutex);
  std::latch reader_has_gil(1);
  std::thread reader([&reader_has_gil] {
    const PyGILState_STATE gil = PyGILState_Ensure();
    reader_has_gil.count_down();
    table_mutex.lock(); // never: the thread that has it waits for the GIL
    table_mutex.unlock();
    PyGILState_Release(gil);
  });
  reader_has_gil.wait();
  const PyGILState_STATE gil = PyGILState_Ensure(); // never: the reader has it
  PyGILState_Release(gil);
  reader.join();
  return at::empty_like(input);
}

// |x| as sqrt(x^2): its derivative is written as x / sqrt(x^2), which is 0 / 0
// where x is 0.
struct FaultyNanBackward : public torch::autograd::Function<FaultyNanBackward> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input) {
    at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({input});
    return at::sqrt(input * input);
  }

  static variable_list backward(
      AutogradContext* context,
      const variable_list& grads) {
    const at::Tensor input = context->get_saved_variables()[0];
    const at::Tensor length = at::sqrt(input * input);
    return {grads[0] * input / length};
  }
};

// x^3 with the derivative 2 x^2.
struct FaultyWrongGradient
    : public torch::autograd::Function<FaultyWrongGradient> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input) {
    at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({input});
    return input * input * input;
  }

  static variable_list backward(
      AutogradContext* context,
      const variable_list& grads) {
    const at::Tensor input = context->get_saved_variables()[0];
    return {grads[0] * 2 * input * input}; // should be 3
  }
};

at::Tensor faulty_nan_backward_autograd(const at::Tensor& input) {
  check_faulty("faulty_nan_backward", input);
  return FaultyNanBackward::apply(input);
}

at::Tensor faulty_wrong_gradient_autograd(const at::Tensor& input) {
  check_faulty("faulty_wrong_gradient", input);
  return FaultyWrongGradient::apply(input);
}

at::Tensor faulty_meta(const at::Tensor& input) {
  return at::empty_like(input);
}

void faulty_out_of_bounds_write_meta(at::Tensor& /*input*/, int64_t /*past*/) {}

TORCH_LIBRARY_IMPL(pyharness, CPU, library) {
  library.impl("faulty_null_dereference", &faulty_null_dereference_cpu);
  library.impl("faulty_out_of_bounds_write", &faulty_out_of_bounds_write_cpu);
  library.impl("faulty_exception", &faulty_exception_cpu);
  library.impl("faulty_abort", &faulty_abort_cpu);
  library.impl("faulty_deadlock", &faulty_deadlock_cpu);
}

TORCH_LIBRARY_IMPL(pyharness, Meta, library) {
  library.impl("faulty_null_dereference", &faulty_meta);
  library.impl("faulty_out_of_bounds_write", &faulty_out_of_bounds_write_meta);
  library.impl("faulty_exception", &faulty_meta);
  library.impl("faulty_abort", &faulty_meta);
  library.impl("faulty_deadlock", &faulty_meta);
}

TORCH_LIBRARY_IMPL(pyharness, CompositeImplicitAutograd, library) {
  library.impl("faulty_nan_backward", &faulty_nan_backward_autograd);
  library.impl("faulty_wrong_gradient", &faulty_wrong_gradient_autograd);
}

} // namespace pyharness::ops
