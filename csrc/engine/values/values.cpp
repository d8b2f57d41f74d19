// See values.h. Element by element only where a block may have something.
#include <csrc/torch_headers.h>

#include <csrc/engine/values/layout.h>
#include <csrc/engine/values/scan.h>
#include <csrc/engine/values/values.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>

#include <ATen/Parallel.h>
#include <ATen/SparseTensorImpl.h>
#include <ATen/functorch/BatchedTensorImpl.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e4m3fnuz.h>
#include <c10/util/Float8_e5m2.h>
#include <c10/util/Float8_e5m2fnuz.h>

namespace pyharness::engine {

namespace {

// Bytes that a second thread should have at least: below, it costs more to
// wake it than it saves.
constexpr std::int64_t kGrain = 1 << 22;
constexpr std::int64_t kSmall = 1 << 16; // bytes

constexpr c10::DispatchKeySet kWrappers = c10::DispatchKeySet({
    c10::DispatchKey::Python,
    c10::DispatchKey::Functionalize,
    c10::DispatchKey::FuncTorchBatched,
    c10::DispatchKey::FuncTorchGradWrapper,
    c10::DispatchKey::ZeroTensor,
});

// As at::functorch::TensorWrapper begins, from torch 2.0 on. Its header wants
// one of nlohmann/json's, which torch's packages lack.
struct GradWrapper final : c10::TensorImpl {
  GradWrapper() = delete;
  at::Tensor value;
};

bool is_one_byte(at::ScalarType type) {
  return type == at::kFloat8_e4m3fn || type == at::kFloat8_e5m2 ||
      type == at::kFloat8_e4m3fnuz || type == at::kFloat8_e5m2fnuz;
}

const at::Tensor dense_part(const at::Tensor& tensor) {
  if (!tensor.is_sparse()) {
    return tensor;
  }
  return static_cast<at::SparseTensorImpl*>(tensor.unsafeGetTensorImpl())
      ->values();
}

// Calls `found(data, count)` for numbers that lie side by side, until it
// returns true. Numbers that lie apart are gathered first.
template <typename number_t, typename Found>
bool any_run(
    const Layout& layout,
    std::int64_t first,
    std::int64_t last,
    Found found) {
  std::array<number_t, 1024> near;
  for (std::int64_t run = first; run < last; ++run) {
    const char* data = layout.begin(run);
    if (layout.step == 1) {
      if (found(data, layout.length)) {
        return true;
      }
      continue;
    }
    const auto bytes =
        layout.step * static_cast<std::int64_t>(sizeof(number_t));
    for (std::int64_t at = 0; at < layout.length;) {
      std::size_t count = 0;
      for (; at < layout.length && count < near.size(); ++at, ++count) {
        std::memcpy(&near[count], data + at * bytes, sizeof(number_t));
      }
      if (found(near.data(), static_cast<std::int64_t>(count))) {
        return true;
      }
    }
  }
  return false;
}

// As any_run over a part of the tensor: of its runs, or of its only one.
template <typename number_t, typename Found>
bool any_in_part(
    const Layout& layout,
    std::int64_t first,
    std::int64_t last,
    Found found) {
  if (layout.runs == 1 && layout.step == 1) {
    const auto* data = reinterpret_cast<const number_t*>(layout.begin(0));
    return found(data + first, last - first);
  }
  return any_run<number_t>(layout, first, last, found);
}

template <typename number_t, typename Found>
bool any_number(const Layout& layout, Found found) {
  const bool one = layout.runs == 1 && layout.step == 1;
  const std::int64_t parts = one ? layout.length : layout.runs;
  const std::int64_t bytes =
      (one ? 1 : layout.length) * static_cast<std::int64_t>(sizeof(number_t));
  if (parts * bytes < 2 * kGrain || at::in_parallel_region()) {
    return any_in_part<number_t>(layout, 0, parts, found);
  }
  std::atomic<bool> any = false;
  const std::int64_t grain = std::max<std::int64_t>(kGrain / bytes, 1);
  at::parallel_for(0, parts, grain, [&](std::int64_t first, std::int64_t last) {
    for (; first < last && !any.load(std::memory_order_relaxed);
         first += grain) {
      if (any_in_part<number_t>(
              layout, first, std::min(first + grain, last), found)) {
        any.store(true, std::memory_order_relaxed);
      }
    }
  });
  return any.load();
}

template <typename number_t>
ValueKinds kinds_of_numbers(const Layout& layout, const Scan& scan) {
  const auto may = [&](const void* data, std::int64_t count) {
    return may_have(scan, data, count);
  };
  if (!any_number<number_t>(layout, may)) {
    return 0;
  }
  ValueKinds kinds = 0;
  any_run<number_t>(
      layout, 0, layout.runs, [&](const void* data, std::int64_t count) {
        kinds |= kinds_among(scan, data, count);
        return kinds == scan.kinds;
      });
  return kinds;
}

ValueKinds
kinds_of_value(double value, bool denormal, const WantedValues& wanted) {
  ValueKinds kinds = std::isnan(value) ? kNan : 0;
  kinds |= std::isinf(value) ? kInf : 0;
  kinds |= std::abs(value) > wanted.limit ? kLarge : 0;
  kinds |= denormal ? kDenormal : 0;
  return kinds & wanted.kinds;
}

template <typename float8_t>
double widen(std::uint8_t bits) {
  return static_cast<float>(float8_t(bits, float8_t::from_bits()));
}

double widened(at::ScalarType type, std::uint8_t bits) {
  switch (type) {
    case at::kFloat8_e4m3fn:
      return widen<c10::Float8_e4m3fn>(bits);
    case at::kFloat8_e5m2:
      return widen<c10::Float8_e5m2>(bits);
    case at::kFloat8_e4m3fnuz:
      return widen<c10::Float8_e4m3fnuz>(bits);
    default:
      return widen<c10::Float8_e5m2fnuz>(bits);
  }
}

// Of one byte there are 256: a table says what each is.
ValueKinds kinds_of_bytes(
    const Layout& layout,
    at::ScalarType type,
    const WantedValues& wanted) {
  const bool three = type == at::kFloat8_e4m3fn || type == at::kFloat8_e4m3fnuz;
  std::array<ValueKinds, 256> table;
  for (int bits = 0; bits < 256; ++bits) {
    const int mantissa = bits & (three ? 7 : 3);
    const bool denormal = (bits & 0x7F) == mantissa && mantissa != 0;
    table[static_cast<std::size_t>(bits)] = kinds_of_value(
        widened(type, static_cast<std::uint8_t>(bits)), denormal, wanted);
  }
  ValueKinds kinds = 0;
  any_run<std::uint8_t>(
      layout, 0, layout.runs, [&](const void* data, std::int64_t count) {
        const auto* bytes = static_cast<const std::uint8_t*>(data);
        for (std::int64_t i = 0; i < count; ++i) {
          kinds |= table[bytes[i]];
        }
        return kinds == wanted.kinds;
      });
  return kinds;
}

// From the first element to behind the last one.
std::int64_t extent(const c10::TensorImpl& impl) {
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < impl.dim(); ++i) {
    last += (impl.size(i) - 1) * impl.stride(i);
  }
  return impl.numel() == 0 ? 0 : last + 1;
}

// A program may take the memory away and keep the tensor (FSDP does).
bool is_there(const at::Tensor& tensor) {
  if (tensor.is_sparse()) {
    return true;
  }
  const auto* impl = tensor.unsafeGetTensorImpl();
  if (impl->numel() == 0) {
    return true; // it needs none
  }
  const auto elements = impl->is_non_overlapping_and_dense()
      ? impl->storage_offset() + impl->numel()
      : impl->storage_offset() + extent(*impl);
  const auto& storage = impl->unsafe_storage();
  return impl->has_storage() && storage.data() != nullptr &&
      storage.nbytes() >= static_cast<std::size_t>(elements) * impl->itemsize();
}

// What most tensors of a small model are, without more ado.
bool is_small_and_clean(const at::Tensor& tensor, const WantedValues& wanted) {
  const auto* impl = tensor.unsafeGetTensorImpl();
  if (impl->numel() == 0) {
    return true;
  }
  const auto type = tensor.scalar_type();
  const Format* format = format_of(type);
  const auto bytes =
      impl->numel() * static_cast<std::int64_t>(impl->itemsize());
  if (format == nullptr || tensor.is_sparse() || bytes >= kSmall ||
      !impl->is_non_overlapping_and_dense()) {
    return false;
  }
  const auto* data = static_cast<const char*>(impl->unsafe_storage().data()) +
      impl->storage_offset() * static_cast<std::int64_t>(impl->itemsize());
  return !may_have(
      make_scan(*format, type, wanted), data, bytes / format->bytes);
}

ValueKinds kinds_of_any(const at::Tensor& tensor, const WantedValues& wanted) {
  const at::Tensor dense = dense_part(tensor);
  if (dense.numel() == 0) {
    return 0;
  }
  const Layout layout(dense);
  const auto type = dense.scalar_type();
  const Format* format = format_of(type);
  if (format == nullptr) {
    return kinds_of_bytes(layout, type, wanted);
  }
  const Scan scan = make_scan(*format, type, wanted);
  switch (format->bytes) {
    case 2:
      return kinds_of_numbers<std::uint16_t>(layout, scan);
    case 4:
      return kinds_of_numbers<std::uint32_t>(layout, scan);
    default:
      return kinds_of_numbers<std::uint64_t>(layout, scan);
  }
}

} // namespace

bool can_check(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    return false;
  }
  const c10::DispatchKeySet keys = tensor.key_set();
  const auto type = tensor.scalar_type();
  return (keys.has(c10::DispatchKey::CPU) ||
          keys.has(c10::DispatchKey::SparseCPU)) &&
      (keys & kWrappers).empty() &&
      (format_of(type) != nullptr || is_one_byte(type)) && is_there(tensor);
}

bool is_wrapper(const at::Tensor& tensor) {
  return tensor.defined() && !(tensor.key_set() & kWrappers).empty() &&
      (tensor.is_floating_point() || tensor.is_complex());
}

const at::Tensor& unwrapped(const at::Tensor& tensor) {
  const auto* held = &tensor;
  for (;;) {
    if (!held->defined()) {
      return *held;
    }
    if (held->key_set().has(c10::DispatchKey::FuncTorchGradWrapper)) {
      held = &static_cast<GradWrapper*>(held->unsafeGetTensorImpl())->value;
    } else if (const auto* mapped = at::functorch::maybeGetBatchedImpl(*held)) {
      held = &mapped->value();
    } else {
      return *held;
    }
  }
}

ValueKinds kinds_of(const at::Tensor& tensor, const WantedValues& wanted) {
  return !can_check(tensor) || is_small_and_clean(tensor, wanted)
      ? 0
      : kinds_of_any(tensor, wanted);
}

ValueKinds kinds_given_by(
    const at::Tensor& tensor,
    const WantedValues& wanted) {
  const bool has_numbers =
      tensor.defined() && (tensor.is_floating_point() || tensor.is_complex());
  return has_numbers && !can_check(tensor) ? wanted.kinds
                                           : kinds_of(tensor, wanted);
}

} // namespace pyharness::engine
