// Prints where torch's headers put what pyharness/reading/tensors/layout.py reads,
// one "name value" a line. Compile with -fno-access-control (most members are
// private); needs torch's headers, links nothing of torch.
#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseTensorImpl.h>
#include <ATen/quantized/QTensorImpl.h>
#include <ATen/quantized/Quantizer.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/python_anomaly_mode.h>
#include <torch/csrc/autograd/python_cpp_function.h>
#include <torch/csrc/autograd/python_function.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/version.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <new>

// Offsets of members of polymorphic types: gcc supports it, and warns.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace {

void print(const char* name, unsigned long long value) {
  std::printf("%s %llu\n", name, value);
}

// The bit, counted from the start of the object, that `set` turns on.
template <typename T, typename Set>
unsigned bit_of(Set set) {
  alignas(T) static unsigned char memory[sizeof(T)];
  std::memset(memory, 0, sizeof memory);
  set(reinterpret_cast<T*>(memory));
  for (unsigned bit = 0; bit < 8 * sizeof(T); ++bit) {
    if ((memory[bit / 8] >> (bit % 8)) & 1) {
      return bit;
    }
  }
  return 0;
}

void key(const char* name, c10::DispatchKey key) {
  print(
      name,
      __builtin_ctzll(
          c10::DispatchKeySet(key).raw_repr() &
          ~((1ULL << c10::num_backends) - 1)));
}

struct Custom : torch::autograd::Function<Custom> {};

} // namespace

int main() {
  using c10::DispatchKey;
  using c10::TensorImpl;
  using torch::autograd::AutogradMeta;
  using torch::autograd::Node;

  std::printf("torch %d.%d\n", TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR);
  print("impl_size", sizeof(TensorImpl));
  print("storage", offsetof(TensorImpl, storage_));
  print("autograd_meta", offsetof(TensorImpl, autograd_meta_));
  print("version_counter", offsetof(TensorImpl, version_counter_));
  print(
      "rank",
      offsetof(TensorImpl, sizes_and_strides_) +
          offsetof(c10::impl::SizesAndStrides, size_));
  print(
      "dims",
      offsetof(TensorImpl, sizes_and_strides_) +
          offsetof(c10::impl::SizesAndStrides, inlineStorage_));
  print("inline_rank", C10_SIZES_AND_STRIDES_MAX_INLINE_SIZE);
  print("storage_offset", offsetof(TensorImpl, storage_offset_));
  print("numel", offsetof(TensorImpl, numel_));
  print("dtype", offsetof(TensorImpl, data_type_));
  print("device", offsetof(TensorImpl, device_opt_));
  print("symbolic_bit", bit_of<TensorImpl>([](TensorImpl* impl) {
          impl->has_symbolic_sizes_strides_ = true;
        }));
  print("key_set", offsetof(TensorImpl, key_set_));
  key("sparse_bit", DispatchKey::Sparse);
  key("sparse_csr_bit", DispatchKey::SparseCsr);
  key("quantized_bit", DispatchKey::Quantized);
  key("nested_bit", DispatchKey::NestedTensor);
  key("conjugate_bit", DispatchKey::Conjugate);
  key("negative_bit", DispatchKey::Negative);
  key("zero_bit", DispatchKey::ZeroTensor);
  key("python_bit", DispatchKey::Python);
  print("storage_data", offsetof(c10::StorageImpl, data_ptr_));
  print("storage_bytes", offsetof(c10::StorageImpl, size_bytes_));
  print(
      "version_value",
      offsetof(c10::VariableVersion::VersionCounter, version_));
  print("grad", offsetof(AutogradMeta, grad_));
  print("grad_fn", offsetof(AutogradMeta, grad_fn_));
  print("requires_grad", offsetof(AutogradMeta, requires_grad_));
  print("node_sequence", offsetof(Node, sequence_nr_));
#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 13
  print("node_object", offsetof(torch::autograd::PyNode, obj));
#else
  print("node_object", offsetof(Node, pyobj_slot_));
#endif
  print("sparse_indices", offsetof(at::SparseTensorImpl, indices_));
  print("sparse_values", offsetof(at::SparseTensorImpl, values_));
  print("csr_rows", offsetof(at::SparseCsrTensorImpl, crow_indices_));
  print("csr_columns", offsetof(at::SparseCsrTensorImpl, col_indices_));
  print("csr_values", offsetof(at::SparseCsrTensorImpl, values_));
  print("quantizer", offsetof(at::QTensorImpl, quantizer_));
  print("scale", offsetof(at::PerTensorAffineQuantizer, scale_));
  print("zero_point", offsetof(at::PerTensorAffineQuantizer, zero_point_));
  // Up to 2.12 a MaybeOwned<Tensor>, whose pointer is its second word.
  print(
      "python_tensor",
      offsetof(THPVariable, cdata) + sizeof(THPVariable::cdata) - 8 -
          sizeof(PyObject));
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 13
  using torch::autograd::Edge;
  using torch::autograd::InputMetadata;
  using torch::autograd::SavedVariable;
  print("node_edges", offsetof(Node, next_edges_));
  print("edge_size", sizeof(Edge));
  print("edge_input", offsetof(Edge, input_nr));
  print("node_anomaly", offsetof(Node, anomaly_metadata_));
  print(
      "anomaly_dict", offsetof(torch::autograd::PyAnomalyMetadata, dict_));
  print("node_inputs", offsetof(Node, input_metadata_));
  print("input_size", sizeof(InputMetadata));
  print(
      "input_dtype",
      offsetof(InputMetadata, options_) +
          offsetof(at::TensorOptions, dtype_));
  print("input_shape", offsetof(InputMetadata, shape_));
  print("node_size", sizeof(Node));
  print("saved_size", sizeof(SavedVariable));
  print("saved_version", offsetof(SavedVariable, saved_version_));
  print(
      "context_saved",
      offsetof(torch::autograd::CppNode<Custom>, ctx_) +
          offsetof(torch::autograd::AutogradContext, saved_variables_));
  print("python_saved", offsetof(THPFunction, saved_variables));
  print("python_node", offsetof(THPFunction, cdata));
  print("python_cpp_node", offsetof(torch::autograd::THPCppFunction, cdata));
#endif
  print("undefined_dtype", static_cast<unsigned>(c10::ScalarType::Undefined));
}
