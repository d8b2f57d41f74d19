// See condition.h.
#include <csrc/torch_headers.h>

#include <csrc/breakpoints/conditions/condition_code.h>

#include <csrc/breakpoints/conditions/tensor_facts.h>

#include <c10/core/Device.h>

#include <array>
#include <cmath>
#include <cstring>
#include <optional>

namespace pyharness::breakpoints {

namespace {

using Operation = Condition::Operation;
using Instruction = Condition::Instruction;

// --- arguments ---------------------------------------------------------------

// What is not there: a NaN that no computation makes, told apart by its bits.
constexpr std::uint64_t kAbsent = 0x7ff4'5048'4142'534eULL;

double absent() {
  double value = 0;
  static_assert(sizeof value == sizeof kAbsent);
  std::memcpy(&value, &kAbsent, sizeof value);
  return value;
}

bool is_absent(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  // Arithmetic sets the bit that makes a NaN a quiet one.
  return (bits | (1ULL << 51)) == (kAbsent | (1ULL << 51));
}

const c10::IValue* argument_of(const Values& values, const Instruction& at) {
  const bool out = at.slot >= kMostArguments;
  const auto& side = out ? values.outputs : values.inputs;
  const auto index = static_cast<std::size_t>(at.slot % kMostArguments);
  return index < side.size() ? &side[index] : nullptr;
}

// The tensor that an instruction names; undefined where it is none. `held`
// keeps one that had to be taken out of a list.
const at::Tensor&
tensor_of(const Values& values, const Instruction& at, at::Tensor& held) {
  const c10::IValue* argument = argument_of(values, at);
  if (argument == nullptr) {
    return held;
  }
  if (at.element < 0) {
    return argument->isTensor() ? argument->toTensor() : held;
  }
  const auto element = static_cast<std::size_t>(at.element);
  if (argument->isList() && element < argument->toListRef().size()) {
    const auto& item = argument->toListRef()[element];
    held = item.isTensor() ? item.toTensor() : at::Tensor();
  }
  return held;
}

// Of a list, as a whole, what holds of its tensors together.
std::optional<double>
fact_at(const Values& values, const Instruction& at, Fact fact) {
  const c10::IValue* argument = argument_of(values, at);
  if (argument == nullptr || !argument->isTensorList() || at.element >= 0) {
    at::Tensor held;
    return fact_of(tensor_of(values, at, held), fact);
  }
  const bool all = fact == Fact::kFinite;
  if (!all && fact != Fact::kNan && fact != Fact::kInf) {
    return std::nullopt;
  }
  for (const at::Tensor& each : argument->toTensorVector()) {
    if (const auto found = fact_of(each, fact); found && (*found != 0) != all) {
      return found;
    }
  }
  return all ? 1 : 0;
}

double size_at(const at::Tensor& tensor, double which) {
  const auto dim = tensor.dim();
  auto index = static_cast<std::int64_t>(which);
  index = index < 0 ? index + dim : index;
  return index >= 0 && index < dim ? static_cast<double>(tensor.size(index))
                                   : absent();
}

double value_at(const Values& values, const Instruction& at) {
  const c10::IValue* argument = argument_of(values, at);
  if (argument == nullptr) {
    return absent();
  }
  if (at.element < 0 && argument->isDouble()) {
    return argument->toDouble();
  }
  if (at.element < 0 && argument->isInt()) {
    return static_cast<double>(argument->toInt());
  }
  if (at.element < 0 && argument->isBool()) {
    return argument->toBool() ? 1 : 0;
  }
  at::Tensor held;
  return only_element(tensor_of(values, at, held)).value_or(absent());
}

double is_defined(const Values& values, const Instruction& at) {
  const c10::IValue* argument = argument_of(values, at);
  if (argument == nullptr || argument->isNone()) {
    return 0;
  }
  at::Tensor held;
  return at.element >= 0 || argument->isTensor()
      ? tensor_of(values, at, held).defined()
      : 1;
}

double is_on(const c10::Device& device, const Instruction& at) {
  return static_cast<double>(device.type()) == at.number &&
      (at.index < 0 || device.index() == at.index);
}

double of_tensor(
    const at::Tensor& tensor,
    const Instruction& at,
    Operation operation) {
  if (!tensor.defined()) {
    return absent();
  }
  switch (operation) {
    case Operation::kSize:
      return size_at(tensor, at.number);
    case Operation::kDim:
      return static_cast<double>(tensor.dim());
    case Operation::kNumel:
      return static_cast<double>(tensor.numel());
    case Operation::kRequiresGrad:
      return tensor.requires_grad();
    case Operation::kContiguous:
      return tensor.is_contiguous();
    case Operation::kDeviceIs:
      return is_on(tensor.device(), at);
    default: // kDtypeIs
      return static_cast<double>(tensor.scalar_type()) == at.number;
  }
}

double load(const Values& values, const Instruction& at, Operation operation) {
  if (operation == Operation::kVariable) {
    return values.variables[at.slot];
  }
  if (operation == Operation::kValue) {
    return value_at(values, at);
  }
  if (operation == Operation::kDefined) {
    return is_defined(values, at);
  }
  if (operation >= Operation::kNan) {
    const int which =
        static_cast<int>(operation) - static_cast<int>(Operation::kNan);
    return fact_at(values, at, static_cast<Fact>(which)).value_or(absent());
  }
  at::Tensor held;
  return of_tensor(tensor_of(values, at, held), at, operation);
}

// What a kCompare comes to.
bool holds_of(const Values& values, const Instruction& at) {
  const double value = load(values, at, at.source);
  return (at.relations & Condition::relation(value, at.constant)) != 0 &&
      !is_absent(value);
}

// --- computing ---------------------------------------------------------------

double combined(Operation operation, double a, double b) {
  switch (operation) {
    case Operation::kAdd:
      return a + b;
    case Operation::kSubtract:
      return a - b;
    case Operation::kMultiply:
      return a * b;
    case Operation::kDivide:
      return a / b;
    case Operation::kFloorDivide:
      return std::floor(a / b);
    case Operation::kModulo: // the sign is the divisor's, as in Python
      return a - b * std::floor(a / b);
    default: // kPower
      return std::pow(a, b);
  }
}

bool compared(Operation operation, double a, double b) {
  switch (operation) {
    case Operation::kEqual:
      return a == b;
    case Operation::kNotEqual:
      return a != b;
    case Operation::kLess:
      return a < b;
    case Operation::kLessEqual:
      return a <= b;
    case Operation::kGreater:
      return a > b;
    default: // kGreaterEqual
      return a >= b;
  }
}

double changed(Operation operation, double value) {
  switch (operation) {
    case Operation::kIsNan:
      return std::isnan(value);
    case Operation::kIsInf:
      return std::isinf(value);
    case Operation::kIsFinite:
      return std::isfinite(value);
    case Operation::kAbs:
      return std::abs(value);
    default: // kNegate
      return -value;
  }
}

bool is_true(double value) {
  return value != 0 && !is_absent(value);
}

// The two uppermost values become one.
double merged(Operation operation, double a, double b) {
  const bool there = !is_absent(a) && !is_absent(b);
  if (operation >= Operation::kEqual) {
    return there && compared(operation, a, b) ? 1 : 0;
  }
  return there ? combined(operation, a, b) : absent();
}

bool run(const std::vector<Instruction>& code, const Values& values) {
  std::array<double, kMostDepth + 1> stack;
  double* top = stack.data(); // `top` is the uppermost, below it is nothing
  const Instruction* const begin = code.data();
  const Instruction* const end = begin + code.size();
  for (const Instruction* at = begin; at < end; ++at) {
    if (at->operation == Operation::kCompare) {
      const bool holds = holds_of(values, *at);
      if (at->decides == Condition::Decides::kNothing) {
        *++top = holds ? 1 : 0;
      } else if (holds == (at->decides == Condition::Decides::kWhereTrue)) {
        return holds;
      }
    } else if (at->operation == Operation::kConstant) {
      *++top = at->number;
    } else if (at->operation <= Operation::kSum) {
      *++top = load(values, *at, at->operation);
    } else if (at->operation == Operation::kNot) {
      *top = is_true(*top) ? 0 : 1;
    } else if (at->operation < Operation::kNot) {
      *top = is_absent(*top) ? *top : changed(at->operation, *top);
    } else if (at->operation <= Operation::kGreaterEqual) {
      top[-1] = merged(at->operation, top[-1], *top);
      --top;
    } else if (at->operation == Operation::kDrop) {
      --top;
    } else if (is_true(*top) == (at->operation == Operation::kJumpIfTrue)) {
      at = begin + at->slot - 1;
    }
  }
  return is_true(*top);
}

} // namespace

bool Condition::holds(const Values& values) const {
  try {
    return run(code_, values);
  } catch (const std::exception&) { // a device that fails, for one
    return false;
  }
}

} // namespace pyharness::breakpoints
