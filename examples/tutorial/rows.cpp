// torch.ops.rows.unit_rows: each row divided by its length.
#include <Python.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <cmath>

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Rows of zeros stay as they are.
Tensor unit_rows_cpu(const Tensor& input) {
  Tensor rows = input.contiguous();
  Tensor result = at::empty_like(rows);
  const int64_t n = rows.size(0), d = rows.size(1);
  for (int64_t i = 0; i < n; ++i) {
    const float* in = rows.const_data_ptr<float>() + i * d;
    float* out = result.mutable_data_ptr<float>() + i * d;
    float squares = 0;
    for (int64_t j = 0; j < d; ++j) {
      squares += in[j] * in[j];
    }
    const float length = std::sqrt(squares);
    for (int64_t j = 0; j < d; ++j) {
      out[j] = length == 0 ? 0 : in[j] / length;
    }
  }
  return result;
}

class UnitRows : public torch::autograd::Function<UnitRows> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& input) {
    at::AutoDispatchBelowAutograd below;
    static auto op = c10::Dispatcher::singleton()
                         .findSchemaOrThrow("rows::unit_rows", "")
                         .typed<Tensor(const Tensor&)>();
    Tensor result = op.call(input);
    context->save_for_backward({input, result});
    return result;
  }

  static variable_list backward(
      AutogradContext* context,
      const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    const Tensor &input = saved[0], &unit = saved[1], &grad = grads[0];
    Tensor length = input.norm(2, 1, true);
    Tensor along = (grad * unit).sum(1, true);
    return {(grad - unit * along) / length};
  }
};

Tensor unit_rows_autograd(const Tensor& input) {
  return UnitRows::apply(input);
}

TORCH_LIBRARY(rows, library) {
  library.def("unit_rows(Tensor input) -> Tensor");
}
TORCH_LIBRARY_IMPL(rows, CPU, library) {
  library.impl("unit_rows", &unit_rows_cpu);
}
TORCH_LIBRARY_IMPL(rows, Autograd, library) {
  library.impl("unit_rows", &unit_rows_autograd);
}

PyMODINIT_FUNC PyInit_rows() { // for `import rows`
  static PyModuleDef module{PyModuleDef_HEAD_INIT, "rows"};
  return PyModule_Create(&module);
}
