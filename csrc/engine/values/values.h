// Which values of a tensor are bad: found at the speed of memory, counted once
// one was found.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pyharness::engine {

// Kinds of values, as bits. A value can be of two kinds: an infinity is large.
enum ValueKind : std::uint8_t {
  kNan = 1,
  kInf = 2,
  kLarge = 4, // |x| > limit
  kDenormal = 8,
};
using ValueKinds = std::uint8_t;

struct WantedValues {
  ValueKinds kinds = kNan | kInf;
  double limit = std::numeric_limits<double>::infinity();
};

// Whether the elements are floating point numbers that lie in this process's
// memory: a dense or sparse COO tensor on the CPU, and no wrapper of another.
bool can_check(const at::Tensor& tensor);

// Whether such numbers are behind it, but not in it: a wrapper, as those of
// torch.func and of tensor subclasses.
bool is_wrapper(const at::Tensor& tensor);

// What wrappers of torch.func hold, as those of grad and vmap do, innermost;
// of vmap's with the dimension that it maps over. Any other tensor as it is.
const at::Tensor& unwrapped(const at::Tensor& tensor);

// The kinds among the wanted ones that `tensor` has. Of a complex tensor both
// parts count. Reads the elements once, on torch's threads where it is large;
// more than once only where something is found. 0 for what cannot be checked.
ValueKinds kinds_of(const at::Tensor& tensor, const WantedValues& wanted);

// As kinds_of, of a tensor that may have been the source of bad values: all the
// wanted ones where its numbers cannot be looked at.
ValueKinds kinds_given_by(const at::Tensor& tensor, const WantedValues& wanted);

// Of all elements; of a complex tensor's parts, one after the other.
struct ValueStatistics {
  std::int64_t count = 0;
  std::int64_t nan = 0;
  std::int64_t positive_infinity = 0;
  std::int64_t negative_infinity = 0;
  std::int64_t large = 0;
  std::int64_t denormal = 0;
  std::int64_t finite = 0;
  double minimum = 0; // of the finite ones, as are the next two
  double maximum = 0;
  double mean = 0;
  // Where the first wanted one is; empty for a tensor of no dimensions.
  std::optional<std::vector<std::int64_t>> first;
};

ValueStatistics statistics_of(
    const at::Tensor& tensor,
    const WantedValues& wanted);

} // namespace pyharness::engine
