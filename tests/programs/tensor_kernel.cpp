// Code that waits to be looked at: a kernel with a variable of every type that
// our printers know (tests/ingdb/test_tensor_in_gdb.py), and a backward in a
// backward (tests/ingdb/test_autograd_in_gdb.py).
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorIterator.h>
#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/TensorAccessor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Half.h>
#include <c10/util/MaybeOwned.h>
#include <c10/util/OptionalArrayRef.h>
#include <c10/util/flat_hash_map.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/utils/object_ptr.h>
#include <torch/custom_class.h>
#include <torch/library.h>

#include <unistd.h>
#include <string>
#include <tuple>
#include <vector>

namespace tensor_kernel {

struct Counter : torch::CustomClassHolder {
  int64_t count = 3;
};

// Also where TORCH_CHECK throws: Python 3.14 crashes where an object goes
// without the GIL.
struct DroppedWithGil {
  THPObjectPtr& object;
  ~DroppedWithGil() {
    const PyGILState_STATE state = PyGILState_Ensure();
    object = nullptr;
    PyGILState_Release(state);
  }
};

at::Tensor wait(
    const at::Tensor& argument,
    at::TensorList many,
    const std::optional<at::Tensor>& maybe,
    at::IntArrayRef sizes,
    c10::SymIntArrayRef symbolic,
    const at::Scalar& scalar,
    int64_t ready,
    int64_t go) {
  at::Tensor copy = argument;
  at::Tensor undefined;
  at::TensorBase base = argument;
  at::Tensor* pointer = &copy;
  at::Tensor* null_pointer = nullptr;
  c10::TensorImpl* impl = copy.unsafeGetTensorImpl();
  c10::intrusive_ptr<c10::TensorImpl> counted = copy.getIntrusivePtr();
  auto borrowed = c10::MaybeOwned<at::Tensor>::borrowed(argument);
  auto owned = c10::MaybeOwned<at::Tensor>::owned(at::Tensor(argument));
  std::vector<at::Tensor> vector = many.vec();
  c10::List<at::Tensor> list(vector);
  std::optional<at::Tensor> nothing;
  std::optional<int64_t> number = 7;
  std::optional<c10::ScalarType> no_dtype;
  c10::OptionalArrayRef<int64_t> some_sizes = sizes;
  c10::OptionalArrayRef<int64_t> no_sizes;
  c10::SymInt sym_int(5);
  c10::Scalar real(2.5), integer(3), boolean(true),
      complex(c10::complex<double>(1, -2));
  c10::ScalarType dtype = c10::ScalarType::BFloat16;
  caffe2::TypeMeta meta = argument.dtype();
  c10::Device device = argument.device();
  c10::Device accelerator(c10::DeviceType::CUDA, 1);
  c10::IValue boxed_tensor(argument), boxed_number(1.5),
      boxed_text(std::string("hello")), boxed_nothing;
  c10::IValue boxed_list(std::vector<int64_t>{1, 2, 3});
  c10::IValue boxed_tuple(std::make_tuple(int64_t(1), true));
  c10::DimVector small(sizes);
  std::vector<int64_t> hundred(100, 1);
  c10::IntArrayRef long_sizes(hundred);
  c10::IntArrayRef corrupt_sizes(
      reinterpret_cast<const int64_t*>(8), size_t(1) << 40);
  at::Tensor other = argument.detach().clone();
  c10::Half half = 1.5f;
  c10::BFloat16 brain_float = 2.5f;
  c10::Float8_e4m3fn eighth = 0.5f;
  c10::Dict<std::string, int64_t> table;
  table.insert("one", 1);
  table.insert("two", 2);
  ska::flat_hash_map<std::string, c10::IValue> hashed, no_hashed;
  hashed["rate"] = 0.5;
  c10::IValue boxed_dict(table), boxed_device(accelerator);
  c10::IValue boxed_complex(c10::complex<double>(1, -2));
  auto accessor = other.accessor<float, 2>();
  auto packed = other.packed_accessor64<float, 2>();
  auto options = at::TensorOptions(at::kFloat).requires_grad(true);
  auto generator = at::detail::getDefaultCPUGenerator();
  auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("aten::mul", "Tensor");
  c10::DispatchKeySet keys(
      {c10::DispatchKey::CPU, c10::DispatchKey::AutogradCPU});
  torch::autograd::SavedVariable saved(other, false);
  torch::autograd::AutogradContext context;
  auto* no_context = static_cast<decltype(context)*>(nullptr);
  auto* context_pointer = &context;
  context.save_for_backward({other, other.sum()});
  context.saved_data["rate"] = 0.5;
  const auto* pointer_to_sizes = &sizes;
  const auto* pointer_to_hashed = &hashed;
  const std::string text = "hello";
  const std::string *pointer_to_text = &text,
                    *wild_text = reinterpret_cast<const std::string*>(8);
  c10::Storage storage = other.storage();
  c10::MemoryFormat format = c10::MemoryFormat::ChannelsLast;
  at::Tensor result = other.clone();
  auto loop = at::TensorIteratorConfig()
                  .add_owned_output(result)
                  .add_owned_const_input(other)
                  .add_owned_const_input(other)
                  .build();
  auto reduction = at::TensorIterator::reduce_op(result, other);
  c10::IValue boxed_object(c10::make_intrusive<Counter>());
  c10::IValue boxed_generator(generator), boxed_storage(storage);
  torch::jit::Module module("__torch__.Box");
  module.register_attribute("scale", c10::FloatType::get(), 2.5);
  module.register_attribute("name", c10::StringType::get(), "box");
  c10::IValue boxed_module = module._ivalue();
  const PyGILState_STATE state = PyGILState_Ensure();
  THPObjectPtr python_text(PyUnicode_FromString("hello"));
  PyGILState_Release(state);
  THPObjectPtr no_object;
  const float* raw = copy.const_data_ptr<float>();
  const float* second_row = raw + 3;
  const float*& by_reference = raw;
  float* wild_numbers = reinterpret_cast<float*>(8);
  void* untyped = copy.data_ptr();
  alignas(16) int64_t garbage[64];
  for (int64_t& word : garbage) {
    word = 0x4141414141414141;
  }
  auto* corrupt = reinterpret_cast<c10::TensorImpl*>(garbage);
  auto& wild_hashed = reinterpret_cast<decltype(hashed)&>(garbage);
  auto* unmapped = reinterpret_cast<c10::TensorImpl*>(8);
  const DroppedWithGil dropped{python_text};
  char byte = 'r';
  TORCH_CHECK(::write(static_cast<int>(ready), &byte, 1) == 1);
  TORCH_CHECK(::read(static_cast<int>(go), &byte, 1) >= 0); // @wait
  return argument.alias();
}

using torch::autograd::Node;
using torch::autograd::variable_list;

struct Waiting : Node {
  int64_t ready = 0, go = 0;

  variable_list apply(variable_list&& gradients) override {
    char byte = 'r';
    TORCH_CHECK(::write(static_cast<int>(ready), &byte, 1) == 1);
    TORCH_CHECK(::read(static_cast<int>(go), &byte, 1) >= 0); // @wait
    return {gradients[0]};
  }
};

template <typename Made>
at::Tensor identity(const at::Tensor& x, int64_t ready, int64_t go) {
  at::Tensor result = x.detach().clone();
  auto node = c10::make_intrusive<Made>();
  node->ready = ready;
  node->go = go;
  node->set_next_edges(torch::autograd::collect_next_edges(x));
  torch::autograd::create_gradient_edge(result, std::move(node));
  return result;
}

// A backward that runs another one, in which a Waiting waits.
struct Nesting : Waiting {
  variable_list apply(variable_list&& gradients) override {
    at::AutoGradMode enabled(true);
    identity<Waiting>(gradients[0].detach().requires_grad_(), ready, go)
        .backward(gradients[0]); // @nested
    return {gradients[0]};
  }
};

} // namespace tensor_kernel

TORCH_LIBRARY(tensor_kernel, library) {
  library.class_<tensor_kernel::Counter>("Counter");
  library.def(
      "wait(Tensor argument, Tensor[] many, Tensor? maybe, int[] sizes, SymInt[] symbolic, Scalar scalar, int ready, int go) -> Tensor");
  library.impl(
      "wait", c10::DispatchKey::CompositeImplicitAutograd, tensor_kernel::wait);
  library.def("nesting(Tensor x, int ready, int go) -> Tensor");
  library.impl(
      "nesting",
      c10::DispatchKey::CompositeImplicitAutograd,
      tensor_kernel::identity<tensor_kernel::Nesting>);
}
