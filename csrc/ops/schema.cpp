// Every schema of the `pyharness` namespace; kernels and autograd are
// registered beside their code.
#include <ATen/core/enum_tag.h>
#include <torch/library.h>

namespace pyharness::ops {
namespace {

void define_ops(torch::Library& library) {
  const std::vector<at::Tag> tags = {at::Tag::pt2_compliant_tag};
  library.def(
      "rms_norm(Tensor input, Tensor weight, float eps=1e-06) -> Tensor", tags);
  library.def(
      "rms_norm_backward(Tensor grad, Tensor input, Tensor weight, float eps) -> (Tensor, Tensor)",
      tags);
  library.def("swiglu(Tensor gate, Tensor up) -> Tensor", tags);
  library.def(
      "swiglu_backward(Tensor grad, Tensor gate, Tensor up) -> (Tensor, Tensor)",
      tags);
  library.def(
      "softmax_cross_entropy(Tensor logits, Tensor target, int ignore_index=-100, float label_smoothing=0.0) -> Tensor",
      tags);
  library.def(
      "softmax_cross_entropy_backward(Tensor grad, Tensor logits, Tensor target, int ignore_index, "
      "float label_smoothing) -> Tensor",
      tags);
  library.def(
      "gated_scan(Tensor gate, Tensor input, Tensor state) -> Tensor", tags);
  library.def(
      "gated_scan_backward(Tensor grad, Tensor gate, Tensor output, Tensor state) -> (Tensor, Tensor, Tensor)",
      tags);
}

// Ops that fail on purpose; pyharness/ops/faulty.py says what each does.
void define_faulty_ops(torch::Library& library) {
  library.def("faulty_null_dereference(Tensor input) -> Tensor");
  library.def("faulty_out_of_bounds_write(Tensor(a!) input, int past=1) -> ()");
  library.def("faulty_exception(Tensor input) -> Tensor");
  library.def("faulty_abort(Tensor input) -> Tensor");
  library.def("faulty_nan_backward(Tensor input) -> Tensor");
  library.def("faulty_wrong_gradient(Tensor input) -> Tensor");
  library.def("faulty_deadlock(Tensor input) -> Tensor");
  library.def("faulty_overwritten_input(Tensor input) -> Tensor");
}

} // namespace

TORCH_LIBRARY(pyharness, library) {
  define_ops(library);
  define_faulty_ops(library);
}

} // namespace pyharness::ops
