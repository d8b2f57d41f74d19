// What lets plain loops become vector code in a release build and stay plain,
// steppable loops in a debug build.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <c10/util/BFloat16.h>

// A release wheel runs on any x86-64, so each hot loop is compiled for several
// instruction sets and the loader picks one. A debug build has one clone only:
// three copies of a line would mean three breakpoint locations.
#if defined(NDEBUG) && defined(__GNUC__) && !defined(__clang__) && \
    defined(__x86_64__)
#define PYHARNESS_CLONES \
  __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#define PYHARNESS_INLINE \
  __attribute__((always_inline)) inline // else it would be compiled for the
                                        // default set only
#else
#define PYHARNESS_CLONES
#define PYHARNESS_INLINE inline
#endif

// Written before a loop: its turns are independent, up to the sum or maximum
// that is named (floating point additions are not reordered without leave, so a
// sum would stay scalar).
#if defined(NDEBUG) && defined(_OPENMP)
#define PYHARNESS_PRAGMA(text) _Pragma(#text)
#define PYHARNESS_SIMD PYHARNESS_PRAGMA(omp simd)
#define PYHARNESS_SIMD_SUM(...) \
  PYHARNESS_PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#define PYHARNESS_SIMD_MAX(name) \
  PYHARNESS_PRAGMA(omp simd reduction(max : name))
#else
#define PYHARNESS_SIMD
#define PYHARNESS_SIMD_SUM(...)
#define PYHARNESS_SIMD_MAX(name)
#endif

namespace pyharness::ops {

// Numbers are summed in float32, float64 ones in float64.
template <typename scalar_t>
using acc_t =
    std::conditional_t<std::is_same_v<scalar_t, double>, double, float>;

// Widens an element to the type that is computed in.
template <typename scalar_t>
PYHARNESS_INLINE acc_t<scalar_t> widen(scalar_t value) {
  return static_cast<acc_t<scalar_t>>(value);
}

// Rounds a result to the element's type. To bfloat16: to nearest, ties to even,
// like c10's own conversion, but without its branch for NaN, which would keep
// the loop from being vectorized.
template <typename scalar_t>
PYHARNESS_INLINE scalar_t narrow(acc_t<scalar_t> value) {
  if constexpr (std::is_same_v<scalar_t, c10::BFloat16>) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
    const uint32_t kept = value != value ? 0x7FC0U : rounded;
    return {static_cast<uint16_t>(kept), c10::BFloat16::from_bits()};
  } else {
    return value;
  }
}

// Elements that one thread should have at least: below, starting a thread costs
// more than it saves.
constexpr int64_t kGrainSize = 32768;

constexpr int64_t rows_per_thread(int64_t width) {
  return width >= kGrainSize ? 1 : kGrainSize / (width > 0 ? width : 1);
}

template <typename real_t>
struct ExpConstants;

template <>
struct ExpConstants<float> {
  using bits_t = uint32_t;
  static constexpr float kRound =
      0x1.8p23F; // adding it leaves the nearest integer in the low bits
  static constexpr float kLn2High = 0x1.62e4p-1F;
  static constexpr float kLn2Low = 0x1.7f7d1cp-20F;
  static constexpr float kSmallest = -87.0F;
  static constexpr int kMantissa = 23;
  static constexpr int kTerms = 7;
};

template <>
struct ExpConstants<double> {
  using bits_t = uint64_t;
  static constexpr double kRound = 0x1.8p52;
  static constexpr double kLn2High = 0x1.62e42fefa3800p-1;
  static constexpr double kLn2Low = 0x1.ef35793c76730p-45;
  static constexpr double kSmallest = -708.0;
  static constexpr int kMantissa = 52;
  static constexpr int kTerms = 13;
};

// 1 / k!, the coefficients of exp's Taylor sum.
constexpr std::array<double, 14> kInverseFactorials = [] {
  std::array<double, 14> values = {1};
  for (std::size_t k = 1; k < values.size(); ++k) {
    values[k] = values[k - 1] / static_cast<double>(k);
  }
  return values;
}();

// exp(x) for x <= 0, without a branch or a call, so that the loop around it
// vectorizes: x = n ln 2 + r, e^x = 2^n e^r, and the Taylor sum of e^r, |r| <=
// ln(2)/2, is exact to the last bit or two after kTerms terms. 0 below
// kSmallest; NaN stays.
template <typename real_t>
PYHARNESS_INLINE real_t exp_nonpositive(real_t x) {
  using C = ExpConstants<real_t>;
  using bits_t = typename C::bits_t;
  constexpr real_t kLog2E = static_cast<real_t>(1.44269504088896340736);
  const real_t shifted = x * kLog2E + C::kRound;
  const real_t n = shifted - C::kRound;
  const real_t r = (x - n * C::kLn2High) - n * C::kLn2Low;
  real_t sum = static_cast<real_t>(kInverseFactorials[C::kTerms]);
#pragma GCC unroll 16
  for (int k = C::kTerms - 1; k >= 0; --k) {
    sum = sum * r + static_cast<real_t>(kInverseFactorials[k]);
  }
  const bits_t power = (std::bit_cast<bits_t>(shifted) << C::kMantissa) +
      std::bit_cast<bits_t>(real_t(1));
  const real_t result = sum * std::bit_cast<real_t>(power);
  return x < C::kSmallest ? real_t(0) : result;
}

// 1 / (1 + e^-x), from e^-|x|, which cannot overflow.
template <typename real_t>
PYHARNESS_INLINE real_t sigmoid(real_t x) {
  const real_t e = exp_nonpositive(x < 0 ? x : -x);
  return (x < 0 ? e : real_t(1)) / (1 + e);
}

} // namespace pyharness::ops
