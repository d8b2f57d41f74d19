// Counts what a bad tensor holds; see values.h. Not fast: it runs once.
#include <csrc/torch_headers.h>

#include <csrc/engine/values/scan.h>
#include <csrc/engine/values/values.h>

#include <algorithm>
#include <cmath>

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

namespace pyharness::engine {

namespace {

// Its elements as float64 in order, a complex one as two: without a word to
// anyone who observes ops.
at::Tensor in_order(const at::Tensor& tensor) {
  at::Tensor dense = tensor.is_sparse() ? tensor._values() : tensor;
  dense = dense.detach().resolve_conj().resolve_neg();
  return (dense.is_complex() ? at::view_as_real(dense) : dense)
      .to(at::kDouble)
      .contiguous();
}

void count(
    ValueStatistics& statistics,
    double value,
    double tiniest,
    const WantedValues& wanted) {
  statistics.nan += std::isnan(value);
  statistics.positive_infinity += value > 0 && std::isinf(value);
  statistics.negative_infinity += value < 0 && std::isinf(value);
  statistics.large += std::abs(value) > wanted.limit;
  statistics.denormal += value != 0 && std::abs(value) < tiniest;
  if (!std::isfinite(value)) {
    return;
  }
  if (statistics.finite++ == 0) {
    statistics.minimum = statistics.maximum = value;
  }
  statistics.minimum = std::min(statistics.minimum, value);
  statistics.maximum = std::max(statistics.maximum, value);
  // Never a sum, which could leave the range.
  statistics.mean +=
      (value - statistics.mean) / static_cast<double>(statistics.finite);
}

bool is_wanted(double value, double tiniest, const WantedValues& wanted) {
  return ((wanted.kinds & kNan) != 0 && std::isnan(value)) ||
      ((wanted.kinds & kInf) != 0 && std::isinf(value)) ||
      ((wanted.kinds & kLarge) != 0 && std::abs(value) > wanted.limit) ||
      ((wanted.kinds & kDenormal) != 0 && value != 0 &&
       std::abs(value) < tiniest);
}

std::vector<std::int64_t> index_of(
    std::int64_t position,
    c10::IntArrayRef sizes) {
  std::vector<std::int64_t> index(sizes.size());
  for (auto i = sizes.size(); i-- > 0;) {
    index[i] = position % sizes[i];
    position /= sizes[i];
  }
  return index;
}

double smallest_normal(at::ScalarType type) {
  switch (c10::toRealValueType(type)) {
    case at::kDouble:
      return 0x1p-1022;
    case at::kHalf:
    case at::kFloat8_e5m2:
      return 0x1p-14;
    case at::kFloat8_e4m3fn:
      return 0x1p-6;
    case at::kFloat8_e4m3fnuz:
      return 0x1p-7;
    case at::kFloat8_e5m2fnuz:
      return 0x1p-15;
    default:
      return 0x1p-126;
  }
}

} // namespace

ValueStatistics statistics_of(
    const at::Tensor& tensor,
    const WantedValues& wanted) {
  ValueStatistics statistics;
  if (!can_check(tensor)) {
    return statistics;
  }
  const at::RecordFunctionGuard unseen(false);
  const at::NoGradGuard no_grad;
  const c10::impl::ExcludeDispatchKeyGuard plain(
      c10::autograd_dispatch_keyset_with_ADInplaceOrView);
  const at::Tensor numbers = in_order(tensor);
  const auto* data = numbers.const_data_ptr<double>();
  const double tiniest = smallest_normal(tensor.scalar_type());
  const std::int64_t parts = tensor.is_complex() ? 2 : 1;
  statistics.count = numbers.numel();
  for (std::int64_t i = 0; i < statistics.count; ++i) {
    count(statistics, data[i], tiniest, wanted);
    if (!statistics.first && is_wanted(data[i], tiniest, wanted)) {
      statistics.first = tensor.is_sparse()
          ? std::vector<std::int64_t>{i / parts}
          : index_of(i / parts, tensor.sizes());
    }
  }
  return statistics;
}

} // namespace pyharness::engine
