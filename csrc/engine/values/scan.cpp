// See values_scan.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/values/scan.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

// The module is built for any x86-64; these functions choose wider registers
// where the machine has them.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PYHARNESS_CLONES \
  __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define PYHARNESS_CLONES
#endif

namespace pyharness::engine {

namespace {

// Read before it is asked whether something was found: little enough to stop
// early, enough that asking costs nothing.
constexpr std::int64_t kBlock = 1 << 14;
constexpr int kRegister = 64;
constexpr int kRegisters = 4;
constexpr std::int64_t kStride = std::int64_t{kRegister} * kRegisters;

template <typename number_t>
using Vector
    __attribute__((vector_size(kRegister), aligned(1), may_alias)) = number_t;

template <typename number_t>
inline __attribute__((always_inline)) void keep_larger(
    Vector<number_t>& most,
    const Vector<number_t>& value) {
  most = value > most ? value : most;
}

// The largest magnitude in `bytes` of memory, a multiple of kStride. Several
// maxima at a time: one alone would wait for itself.
template <typename number_t>
inline __attribute__((always_inline)) number_t
largest(const char* data, std::int64_t bytes, number_t magnitude) {
  using vector_t = Vector<number_t>;
  vector_t a{}, b{}, c{}, d{};
  for (std::int64_t at = 0; at < bytes; at += kStride) {
    const auto* from = reinterpret_cast<const vector_t*>(data + at);
    keep_larger<number_t>(a, from[0] & magnitude);
    keep_larger<number_t>(b, from[1] & magnitude);
    keep_larger<number_t>(c, from[2] & magnitude);
    keep_larger<number_t>(d, from[3] & magnitude);
  }
  keep_larger<number_t>(a, b);
  keep_larger<number_t>(c, d);
  keep_larger<number_t>(a, c);
  number_t most = 0;
  for (std::size_t i = 0; i < kRegister / sizeof(number_t); ++i) {
    most = std::max<number_t>(most, a[i]);
  }
  return most;
}

// Whether any of the masks that comparisons left is set.
template <typename number_t>
inline __attribute__((always_inline)) bool is_any(
    const Vector<number_t>& masks) {
  number_t any = 0;
  for (std::size_t i = 0; i < kRegister / sizeof(number_t); ++i) {
    any |= masks[i];
  }
  return any != 0;
}

// Whether a number between 0 and `normal` is there.
template <typename number_t>
inline __attribute__((always_inline)) bool has_denormal(
    const char* data,
    std::int64_t bytes,
    number_t magnitude,
    number_t normal) {
  using vector_t = Vector<number_t>;
  vector_t found{};
  for (std::int64_t at = 0; at < bytes; at += kRegister) {
    const vector_t value =
        *reinterpret_cast<const vector_t*>(data + at) & magnitude;
    found |= (value != 0) & (value < normal);
  }
  return is_any<number_t>(found);
}

template <typename number_t>
inline __attribute__((always_inline)) bool
block_may_have(const Scan& scan, const char* data, std::int64_t bytes) {
  const auto magnitude = static_cast<number_t>(scan.format->magnitude);
  if (largest<number_t>(data, bytes, magnitude) >= scan.threshold) {
    return true;
  }
  return scan.denormal &&
      has_denormal<number_t>(
             data,
             bytes,
             magnitude,
             static_cast<number_t>(scan.format->normal));
}

template <typename number_t>
inline __attribute__((always_inline)) bool
scan_numbers(const Scan& scan, const char* data, std::int64_t bytes) {
  const std::int64_t whole = bytes / kStride * kStride;
  for (std::int64_t at = 0; at < whole; at += kBlock) {
    if (block_may_have<number_t>(
            scan, data + at, std::min(kBlock, whole - at))) {
      return true;
    }
  }
  if (whole == bytes) {
    return false;
  }
  alignas(kRegister) char rest[kStride] = {}; // zeros are never wanted
  std::memcpy(rest, data + whole, static_cast<std::size_t>(bytes - whole));
  return block_may_have<number_t>(scan, rest, kStride);
}

PYHARNESS_CLONES bool
scan_16(const Scan& scan, const char* data, std::int64_t bytes) {
  return scan_numbers<std::int16_t>(scan, data, bytes);
}

PYHARNESS_CLONES bool
scan_32(const Scan& scan, const char* data, std::int64_t bytes) {
  return scan_numbers<std::int32_t>(scan, data, bytes);
}

PYHARNESS_CLONES bool
scan_64(const Scan& scan, const char* data, std::int64_t bytes) {
  return scan_numbers<std::int64_t>(scan, data, bytes);
}

// Which kinds are in `bytes` of memory, a multiple of kRegister.
template <typename number_t>
inline __attribute__((always_inline)) ValueKinds
kinds_in_block(const Scan& scan, const char* data, std::int64_t bytes) {
  using vector_t = Vector<number_t>;
  const auto magnitude = static_cast<number_t>(scan.format->magnitude);
  const auto infinity = static_cast<number_t>(scan.format->infinity);
  const auto normal = static_cast<number_t>(scan.format->normal);
  const auto limit = static_cast<number_t>(scan.limit);
  vector_t nan{}, inf{}, large{}, denormal{};
  for (std::int64_t at = 0; at < bytes; at += kRegister) {
    const vector_t value =
        *reinterpret_cast<const vector_t*>(data + at) & magnitude;
    nan |= value > infinity;
    inf |= value == infinity;
    large |= (value > limit) & (value <= infinity);
    denormal |= (value != 0) & (value < normal);
  }
  return (is_any<number_t>(nan) ? kNan : 0) |
      (is_any<number_t>(inf) ? kInf : 0) |
      (is_any<number_t>(large) ? kLarge : 0) |
      (is_any<number_t>(denormal) ? kDenormal : 0);
}

template <typename number_t>
inline __attribute__((always_inline)) ValueKinds
kinds_of_numbers(const Scan& scan, const char* data, std::int64_t bytes) {
  const std::int64_t whole = bytes / kRegister * kRegister;
  ValueKinds kinds = 0;
  for (std::int64_t at = 0; at < whole && kinds != scan.kinds; at += kBlock) {
    kinds |= kinds_in_block<number_t>(
                 scan, data + at, std::min(kBlock, whole - at)) &
        scan.kinds;
  }
  alignas(kRegister) char rest[kRegister] = {}; // zeros are never wanted
  std::memcpy(rest, data + whole, static_cast<std::size_t>(bytes - whole));
  return kinds | (kinds_in_block<number_t>(scan, rest, kRegister) & scan.kinds);
}

PYHARNESS_CLONES ValueKinds
kinds_16(const Scan& scan, const char* data, std::int64_t bytes) {
  return kinds_of_numbers<std::int16_t>(scan, data, bytes);
}

PYHARNESS_CLONES ValueKinds
kinds_32(const Scan& scan, const char* data, std::int64_t bytes) {
  return kinds_of_numbers<std::int32_t>(scan, data, bytes);
}

PYHARNESS_CLONES ValueKinds
kinds_64(const Scan& scan, const char* data, std::int64_t bytes) {
  return kinds_of_numbers<std::int64_t>(scan, data, bytes);
}

// The greatest magnitude that is not above `limit`.
std::int64_t bits_of_limit(at::ScalarType type, double limit) {
  if (type == at::kDouble) {
    return std::bit_cast<std::int64_t>(limit);
  }
  const auto wide = static_cast<float>(limit);
  std::int64_t bits = std::bit_cast<std::int32_t>(wide);
  if (type == at::kBFloat16) {
    bits >>= 16; // towards zero
    return wide > limit && bits << 16 == std::bit_cast<std::int32_t>(wide)
        ? bits - 1
        : bits;
  }
  if (type == at::kHalf) {
    const c10::Half narrow(wide);
    return static_cast<float>(narrow) > limit ? narrow.x - 1 : narrow.x;
  }
  return wide > limit ? bits - 1 : bits;
}

} // namespace

const Format* format_of(at::ScalarType type) {
  static const Format half = {2, 0x7FFF, 0x7C00, 0x0400};
  static const Format bfloat16 = {2, 0x7FFF, 0x7F80, 0x0080};
  static const Format single = {4, 0x7FFFFFFF, 0x7F800000, 0x00800000};
  static const Format wide = {
      8, 0x7FFFFFFFFFFFFFFF, 0x7FF0000000000000, 0x0010000000000000};
  switch (c10::toRealValueType(type)) {
    case at::kHalf:
      return &half;
    case at::kBFloat16:
      return &bfloat16;
    case at::kFloat:
      return &single;
    case at::kDouble:
      return &wide;
    default:
      return nullptr;
  }
}

Scan make_scan(
    const Format& format,
    at::ScalarType type,
    const WantedValues& wanted) {
  Scan scan{&format, wanted.kinds, format.infinity, format.magnitude, false};
  if (wanted.kinds & kNan) {
    scan.threshold = format.infinity + 1;
  }
  if (wanted.kinds & kInf) {
    scan.threshold = format.infinity;
  }
  if (wanted.kinds & kLarge) {
    scan.limit = bits_of_limit(c10::toRealValueType(type), wanted.limit);
    scan.threshold = std::min(scan.threshold, scan.limit + 1);
  }
  scan.denormal = (wanted.kinds & kDenormal) != 0;
  return scan;
}

bool may_have(const Scan& scan, const void* data, std::int64_t count) {
  const auto* bytes = static_cast<const char*>(data);
  switch (scan.format->bytes) {
    case 2:
      return scan_16(scan, bytes, count * 2);
    case 4:
      return scan_32(scan, bytes, count * 4);
    default:
      return scan_64(scan, bytes, count * 8);
  }
}

ValueKinds kinds_among(const Scan& scan, const void* data, std::int64_t count) {
  const auto* bytes = static_cast<const char*>(data);
  switch (scan.format->bytes) {
    case 2:
      return kinds_16(scan, bytes, count * 2);
    case 4:
      return kinds_32(scan, bytes, count * 4);
    default:
      return kinds_64(scan, bytes, count * 8);
  }
}

} // namespace pyharness::engine
