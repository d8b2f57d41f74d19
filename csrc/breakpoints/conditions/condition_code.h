// The instructions of a condition, as csrc/breakpoints knows them.
#pragma once

#include <csrc/breakpoints/conditions/condition.h>

namespace pyharness::breakpoints {

enum class Condition::Operation : std::uint8_t {
  // clang-format off
  kConstant, kVariable, kValue, kSize, kDim, kNumel, kDefined, kRequiresGrad,
  kContiguous, kDtypeIs, kDeviceIs,
  kNan, kInf, kFinite, kMin, kMax, kAbsMax, kMean, kSum,
  kIsNan, kIsInf, kIsFinite, kAbs, kNegate, kNot,
  kAdd, kSubtract, kMultiply, kDivide, kFloorDivide, kModulo, kPower,
  kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual,
  kJumpIfTrue, kJumpIfFalse, kDrop,
  // A load and a constant that are compared, in one: what most conditions come
  // to.
  kCompare,
  // clang-format on
};

constexpr std::size_t kMostDepth = 16; // values at a time
constexpr int kMostArguments = 16; // inputs, and as many outputs

} // namespace pyharness::breakpoints
