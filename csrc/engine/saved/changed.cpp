// See changed.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/saved/changed.h>

#include <csrc/engine/op_values.h>

#include <ATen/EmptyTensor.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace pyharness::engine {

namespace {

at::Tensor element(const void* bytes, const at::Tensor& tensor) {
  auto found = at::empty({1}, tensor.options());
  std::memcpy(found.data_ptr(), bytes, tensor.element_size());
  return found;
}

// The element that lies so many elements behind the tensor's first one; nothing
// where a gap between its own does.
std::optional<std::vector<std::int64_t>> index_of(
    const at::Tensor& tensor,
    std::int64_t offset) {
  std::vector<std::int64_t> order(tensor.dim());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](auto one, auto other) {
    return tensor.stride(one) > tensor.stride(other);
  });
  std::vector<std::int64_t> index(tensor.dim());
  for (const auto each : order) {
    if (const auto stride = tensor.stride(each); stride > 0) {
      index[each] = std::min(offset / stride, tensor.size(each) - 1);
      offset -= index[each] * stride;
    }
  }
  return offset == 0 ? std::optional(index) : std::nullopt;
}

// Where its elements begin and end.
std::pair<std::uintptr_t, std::uintptr_t> span_of(const at::Tensor& tensor) {
  const auto begin = reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr());
  const auto size = at::detail::computeStorageNbytes(
      tensor.sizes(), tensor.strides(), tensor.element_size());
  return {begin, begin + size};
}

} // namespace

bool is_inside(const at::Tensor& tensor, std::uintptr_t address) {
  if (!has_sizes(tensor)) {
    return true; // for all that is known
  }
  const auto [begin, end] = span_of(tensor);
  return begin <= address && address < end;
}

std::optional<Changed> changed_in(
    const at::Tensor& tensor,
    const Write& write) {
  if (!has_sizes(tensor) || tensor.numel() == 0 || tensor.is_quantized()) {
    return std::nullopt;
  }
  const auto [begin, end] = span_of(tensor);
  const auto size = static_cast<std::uintptr_t>(tensor.element_size());
  // A write may be of an element that begins on the page before.
  const auto skipped =
      write.page > begin ? (write.page - begin + size - 1) / size : 0;
  for (auto number = skipped;; ++number) {
    const auto at = begin + number * size;
    if (at + size > std::min(end, write.page + Write::kPage)) {
      return std::nullopt;
    }
    const auto* was = write.before.data() + (at - write.page);
    const auto* is = reinterpret_cast<const void*>(at);
    if (std::memcmp(was, is, size) == 0) {
      continue;
    }
    if (auto index = index_of(tensor, static_cast<std::int64_t>(number))) {
      return Changed{
          *std::move(index), element(was, tensor), element(is, tensor)};
    }
  }
}

} // namespace pyharness::engine
