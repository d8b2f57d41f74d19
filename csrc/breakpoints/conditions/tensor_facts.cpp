// See tensor_facts.h.
#include <csrc/torch_headers.h>

#include <csrc/breakpoints/conditions/tensor_facts.h>

#include <csrc/engine/values/values.h>

#include <ATen/Functions.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <cmath>
#include <limits>

namespace pyharness::breakpoints {

namespace {

// The torch functions that are called here are none of the program's: neither
// autograd, nor autocast, nor a mode of Python's, nor a profiler sees them.
class Unseen {
 public:
  Unseen() : keys_(hidden_keys()) {}

 private:
  static c10::DispatchKeySet hidden_keys() {
    return c10::autograd_dispatch_keyset_with_ADInplaceOrView |
        c10::autocast_dispatch_keyset | c10::python_ks |
        c10::DispatchKeySet(
               {c10::DispatchKey::PythonDispatcher,
                c10::DispatchKey::PreDispatch,
                c10::DispatchKey::Functionalize,
                c10::DispatchKey::FuncTorchDynamicLayerFrontMode,
                c10::DispatchKey::FuncTorchDynamicLayerBackMode});
  }

  c10::impl::ExcludeDispatchKeyGuard keys_;
  at::DisableRecordFunctionGuard records_;
};

// Wrappers of other tensors claim a type and a device that is not theirs.
bool has_memory(const at::Tensor& tensor) {
  const auto wrappers = c10::python_ks |
      c10::DispatchKeySet(
                            {c10::DispatchKey::Functionalize,
                             c10::DispatchKey::FuncTorchGradWrapper,
                             c10::DispatchKey::FuncTorchBatched,
                             c10::DispatchKey::Batched,
                             c10::DispatchKey::NestedTensor});
  return tensor.defined() && tensor.layout() == at::kStrided &&
      tensor.has_storage() && !tensor.is_meta() && !tensor.is_quantized() &&
      !tensor.key_set().has_any(wrappers);
}

// The elements themselves, where they lie as they are asked for: most tensors,
// so that nothing of torch's is called.
template <typename T>
const T* plain_elements(const at::Tensor& tensor) {
  const bool plain = tensor.scalar_type() == c10::CppTypeToScalarType<T>() &&
      tensor.is_cpu() && tensor.is_contiguous() && !tensor.is_neg();
  return plain ? tensor.const_data_ptr<T>() : nullptr;
}

// The numbers, side by side in this process's memory, as float or double.
at::Tensor numbers_of(const at::Tensor& tensor) {
  auto plain = tensor.is_complex()
      ? at::view_as_real(tensor.is_conj() ? tensor.conj_physical() : tensor)
      : tensor.is_neg() ? tensor.resolve_neg()
                        : tensor;
  const auto type = plain.scalar_type();
  const bool fits_float = type == at::kFloat || type == at::kHalf ||
      type == at::kBFloat16;
  return plain.to(at::kCPU, fits_float ? at::kFloat : at::kDouble).contiguous();
}

template <typename T, typename Stops>
bool any_of(const T* data, std::int64_t count, Stops stops) {
  constexpr std::int64_t kBlock = 1024; // so that the inner loop is vectorized
  for (std::int64_t start = 0; start < count; start += kBlock) {
    const auto end = std::min(start + kBlock, count);
    int found = 0;
    for (auto i = start; i < end; ++i) {
      found |= static_cast<int>(stops(data[i]));
    }
    if (found != 0) {
      return true;
    }
  }
  return false;
}

template <typename T>
double largest(const T* data, std::int64_t count, double sign, bool absolute) {
  double most = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = absolute ? std::abs(static_cast<double>(data[i]))
                                  : sign * static_cast<double>(data[i]);
    if (std::isnan(value)) {
      return value;
    }
    most = value > most ? value : most;
  }
  return sign * most;
}

template <typename T>
double sum_of(const T* data, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    sum += static_cast<double>(data[i]);
  }
  return sum;
}

template <typename T>
double fact_among(const T* data, std::int64_t count, Fact fact) {
  constexpr T kMost = std::numeric_limits<T>::max();
  switch (fact) {
    case Fact::kNan:
      return any_of(data, count, [](T value) { return value != value; });
    case Fact::kInf:
      return any_of(
          data, count, [](T value) { return value > kMost || value < -kMost; });
    case Fact::kFinite:
      return !any_of(data, count, [](T value) {
        return !(value <= kMost && value >= -kMost);
      });
    case Fact::kMin:
      return largest(data, count, -1.0, /*absolute=*/false);
    case Fact::kMax:
      return largest(data, count, 1.0, /*absolute=*/false);
    case Fact::kAbsMax:
      return largest(data, count, 1.0, /*absolute=*/true);
    case Fact::kMean:
      return sum_of(data, count) / static_cast<double>(count);
    case Fact::kSum:
      return sum_of(data, count);
  }
  return 0;
}

bool holds_of_nothing(Fact fact) {
  return fact == Fact::kNan || fact == Fact::kInf || fact == Fact::kFinite ||
      fact == Fact::kSum;
}

} // namespace

std::optional<double> fact_of(const at::Tensor& tensor, Fact fact) {
  if (const at::Tensor& held = engine::unwrapped(tensor); &held != &tensor) {
    return fact_of(held, fact);
  }
  if (!has_memory(tensor) || (tensor.numel() == 0 && !holds_of_nothing(fact))) {
    return std::nullopt;
  }
  if (const auto* floats = plain_elements<float>(tensor)) {
    return fact_among(floats, tensor.numel(), fact);
  }
  if (const auto* doubles = plain_elements<double>(tensor)) {
    return fact_among(doubles, tensor.numel(), fact);
  }
  const Unseen unseen;
  const at::Tensor numbers = numbers_of(tensor);
  return numbers.scalar_type() == at::kFloat
      ? fact_among(numbers.const_data_ptr<float>(), numbers.numel(), fact)
      : fact_among(numbers.const_data_ptr<double>(), numbers.numel(), fact);
}

std::optional<double> only_element(const at::Tensor& tensor) {
  if (const at::Tensor& held = engine::unwrapped(tensor); &held != &tensor) {
    return only_element(held);
  }
  if (!tensor.defined() || tensor.numel() != 1 || tensor.is_complex()) {
    return std::nullopt;
  }
  return fact_of(tensor, Fact::kSum);
}

} // namespace pyharness::breakpoints
