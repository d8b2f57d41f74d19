// The check of numbers that lie side by side: their bits are compared as
// integers, which says NaN, Inf and |x| > limit with one maximum.
#pragma once

#include <cstdint>

#include <csrc/engine/values/values.h>

#include <c10/core/ScalarType.h>

namespace pyharness::engine {

// What bits mean in one floating point type. Without the sign they order as
// the numbers do: finite ones, infinity, NaNs.
struct Format {
  int bytes; // of one number: 2, 4 or 8; 1 has a table instead
  std::int64_t magnitude; // all bits but the sign
  std::int64_t infinity;
  std::int64_t normal; // the smallest that is not denormal
};

// The format of the elements, or of both parts of complex ones; null for
// integers and for types of one byte.
const Format* format_of(at::ScalarType type);

// What `wanted` comes to in one format, so that most memory is read once.
struct Scan {
  const Format* format;
  ValueKinds kinds;
  std::int64_t limit; // a number is large where its magnitude is greater
  std::int64_t threshold; // nothing is wanted of what has less, ...
  bool denormal; // ... but for these
};

Scan make_scan(
    const Format& format,
    at::ScalarType type,
    const WantedValues& wanted);

// Whether a wanted number may be among the `count` at `data`: false is certain.
// Stops at the first block of memory that has one.
bool may_have(const Scan& scan, const void* data, std::int64_t count);

// Which are there: reads on until all that are wanted were seen.
ValueKinds kinds_among(const Scan& scan, const void* data, std::int64_t count);

} // namespace pyharness::engine
