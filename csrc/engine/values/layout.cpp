// See values_layout.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/values/layout.h>

#include <algorithm>

namespace pyharness::engine {

Layout::Layout(const at::Tensor& tensor)
    : data_(static_cast<const char*>(tensor.const_data_ptr())),
      number_bytes_(static_cast<std::int64_t>(tensor.element_size())) {
  const std::int64_t numbers = tensor.is_complex() ? 2 : 1;
  number_bytes_ /= numbers;
  if (tensor.unsafeGetTensorImpl()->is_non_overlapping_and_dense()) {
    length = tensor.numel() * numbers;
    return;
  }
  take_dimensions(tensor, numbers);
  join_dimensions();
  if (!outer_.empty()) {
    length = outer_.back().size;
    step = outer_.back().stride;
    outer_.pop_back();
  }
  for (const Dimension& dimension : outer_) {
    runs *= dimension.size;
  }
}

void Layout::take_dimensions(const at::Tensor& tensor, std::int64_t numbers) {
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.size(i) != 1 && tensor.stride(i) != 0) {
      outer_.push_back({tensor.size(i), tensor.stride(i) * numbers});
    }
  }
  if (numbers > 1) {
    outer_.push_back({numbers, 1});
  }
  std::stable_sort(
      outer_.begin(), outer_.end(), [](const auto& a, const auto& b) {
        return a.stride > b.stride;
      });
}

// Two dimensions that lie behind one another as one would are one.
void Layout::join_dimensions() {
  std::size_t last = 0;
  for (std::size_t i = 1; i < outer_.size(); ++i) {
    const Dimension inner = outer_[i];
    if (outer_[last].stride == inner.size * inner.stride) {
      outer_[last] = {outer_[last].size * inner.size, inner.stride};
    } else {
      outer_[++last] = inner;
    }
  }
  outer_.resize(outer_.empty() ? 0 : last + 1);
}

const char* Layout::begin(std::int64_t run) const {
  std::int64_t offset = 0;
  for (auto i = outer_.size(); i-- > 0;) {
    offset += run % outer_[i].size * outer_[i].stride;
    run /= outer_[i].size;
  }
  return data_ + offset * number_bytes_;
}

} // namespace pyharness::engine
