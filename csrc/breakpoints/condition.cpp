// See condition.h.
#include <csrc/torch_headers.h>

#include <csrc/breakpoints/condition.h>

#include <csrc/breakpoints/tensor_facts.h>

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <unordered_map>

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
  // A variable and a constant that are compared, in one: what most conditions
  // in a kernel come to.
  kIsEqual, kIsNotEqual, kIsLess, kIsLessEqual, kIsGreater, kIsGreaterEqual,
  // clang-format on
};

namespace {

using Operation = Condition::Operation;
using Instruction = Condition::Instruction;

constexpr std::size_t kMostDepth = 16;
constexpr std::size_t kMostInstructions = 256;
constexpr int kMostArguments = 16;

const std::unordered_map<std::string, Operation>& operations() {
  static const std::unordered_map<std::string, Operation> known{
      {"constant", Operation::kConstant},
      {"variable", Operation::kVariable},
      {"value", Operation::kValue},
      {"size", Operation::kSize},
      {"dim", Operation::kDim},
      {"numel", Operation::kNumel},
      {"defined", Operation::kDefined},
      {"requires_grad", Operation::kRequiresGrad},
      {"contiguous", Operation::kContiguous},
      {"dtype_is", Operation::kDtypeIs},
      {"device_is", Operation::kDeviceIs},
      {"nan", Operation::kNan},
      {"inf", Operation::kInf},
      {"finite", Operation::kFinite},
      {"min", Operation::kMin},
      {"max", Operation::kMax},
      {"absmax", Operation::kAbsMax},
      {"mean", Operation::kMean},
      {"sum", Operation::kSum},
      {"is_nan", Operation::kIsNan},
      {"is_inf", Operation::kIsInf},
      {"is_finite", Operation::kIsFinite},
      {"abs", Operation::kAbs},
      {"negate", Operation::kNegate},
      {"not", Operation::kNot},
      {"add", Operation::kAdd},
      {"subtract", Operation::kSubtract},
      {"multiply", Operation::kMultiply},
      {"divide", Operation::kDivide},
      {"floor_divide", Operation::kFloorDivide},
      {"modulo", Operation::kModulo},
      {"power", Operation::kPower},
      {"equal", Operation::kEqual},
      {"not_equal", Operation::kNotEqual},
      {"less", Operation::kLess},
      {"less_equal", Operation::kLessEqual},
      {"greater", Operation::kGreater},
      {"greater_equal", Operation::kGreaterEqual},
      {"jump_if_true", Operation::kJumpIfTrue},
      {"jump_if_false", Operation::kJumpIfFalse},
      {"drop", Operation::kDrop},
  };
  return known;
}

// --- reading the instructions ------------------------------------------------

bool is_jump(Operation operation) {
  return operation == Operation::kJumpIfTrue ||
      operation == Operation::kJumpIfFalse;
}

c10::ScalarType dtype_named(const std::string& name) {
  const auto& known = c10::getStringToDtypeMap();
  if (const auto found = known.find(name); found != known.end()) {
    return found->second;
  }
  return c10::ScalarType::Undefined; // a dtype of a newer torch: never equal
}

Instruction read(const InstructionText& text, std::size_t count) {
  const auto& [name, slot, element, number, argument] = text;
  const auto found = operations().find(name);
  if (found == operations().end()) {
    throw std::invalid_argument("a condition has no instruction " + name);
  }
  Instruction made{
      found->second,
      static_cast<std::int16_t>(slot),
      static_cast<std::int16_t>(element),
      number};
  const int most = is_jump(made.operation) ? static_cast<int>(count)
                                           : 2 * kMostArguments - 1;
  if (slot < 0 || slot > most) {
    throw std::invalid_argument("a condition goes out of its bounds");
  }
  if (made.operation == Operation::kDtypeIs) {
    made.number = static_cast<double>(dtype_named(argument));
  } else if (made.operation == Operation::kDeviceIs) {
    const c10::Device device(argument);
    made.number = static_cast<double>(device.type());
    made.index = device.index();
  }
  return made;
}

bool is_comparison(Operation operation) {
  return operation >= Operation::kEqual &&
      operation <= Operation::kGreaterEqual;
}

int effect(Operation operation) {
  if (operation <= Operation::kSum) {
    return 1;
  }
  if (operation >= Operation::kIsNan && operation <= Operation::kNot) {
    return 0;
  }
  return is_jump(operation) ? 0 : -1;
}

// condition.py makes none that fail here; but what runs beside every op must
// not trust anybody. Jumps go forward, to where the stack is as high.
void check(const std::vector<Instruction>& code) {
  int depth = 0;
  int most = 0;
  for (const auto& each : code) {
    const bool binary =
        effect(each.operation) < 0 && each.operation != Operation::kDrop;
    const int needed = effect(each.operation) > 0 ? 0 : binary ? 2 : 1;
    if (depth < needed) {
      throw std::invalid_argument("a condition takes what is not there");
    }
    depth += effect(each.operation);
    most = std::max(most, depth);
  }
  if (depth != 1 || most > static_cast<int>(kMostDepth) ||
      code.size() > kMostInstructions) {
    throw std::invalid_argument("a condition is not whole, or too long");
  }
}

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

double of_tensor(const at::Tensor& tensor, const Instruction& at) {
  if (!tensor.defined()) {
    return absent();
  }
  switch (at.operation) {
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

double load(const Values& values, const Instruction& at) {
  if (at.operation == Operation::kValue) {
    return value_at(values, at);
  }
  if (at.operation == Operation::kDefined) {
    return is_defined(values, at);
  }
  if (at.operation >= Operation::kNan) {
    const int which =
        static_cast<int>(at.operation) - static_cast<int>(Operation::kNan);
    return fact_at(values, at, static_cast<Fact>(which)).value_or(absent());
  }
  at::Tensor held;
  return of_tensor(tensor_of(values, at, held), at);
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

// Of a fused instruction.
Operation comparison_in(Operation fused) {
  return static_cast<Operation>(
      static_cast<int>(fused) - static_cast<int>(Operation::kIsEqual) +
      static_cast<int>(Operation::kEqual));
}

bool run(const std::vector<Instruction>& code, const Values& values) {
  std::array<double, kMostDepth + 1> stack;
  double* top = stack.data(); // `top` is the uppermost, below it is nothing
  const Instruction* const begin = code.data();
  const Instruction* const end = begin + code.size();
  for (const Instruction* at = begin; at < end; ++at) {
    if (at->operation >= Operation::kIsEqual) {
      const bool holds = compared(
          comparison_in(at->operation), values.variables[at->slot], at->number);
      if (at->decides == Condition::Decides::kNothing) {
        *++top = holds ? 1 : 0;
      } else if (holds == (at->decides == Condition::Decides::kWhereTrue)) {
        return holds;
      }
    } else if (at->operation <= Operation::kVariable) {
      *++top = at->operation == Operation::kConstant
          ? at->number
          : values.variables[at->slot];
    } else if (at->operation <= Operation::kSum) {
      *++top = load(values, *at);
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

// Where jumps land.
std::vector<bool> targets_in(const std::vector<Instruction>& code) {
  std::vector<bool> targets(code.size() + 1);
  for (const auto& each : code) {
    if (is_jump(each.operation)) {
      targets[static_cast<std::size_t>(each.slot)] = true;
    }
  }
  return targets;
}

std::vector<Instruction> fused(const std::vector<Instruction>& code) {
  std::vector<Instruction> made;
  std::vector<std::int16_t> place(code.size() + 1); // old index -> new one
  const auto targets = targets_in(code);
  for (std::size_t i = 0; i < code.size(); ++i) {
    place[i] = static_cast<std::int16_t>(made.size());
    const bool whole = i + 2 < code.size() &&
        code[i].operation == Operation::kVariable &&
        code[i + 1].operation == Operation::kConstant &&
        is_comparison(code[i + 2].operation) && !targets[i + 1] &&
        !targets[i + 2];
    if (!whole) {
      made.push_back(code[i]);
      continue;
    }
    made.push_back(code[i]);
    made.back().number = code[i + 1].number;
    made.back().operation = static_cast<Operation>(
        static_cast<int>(code[i + 2].operation) -
        static_cast<int>(Operation::kEqual) +
        static_cast<int>(Operation::kIsEqual));
    i += 2;
  }
  place[code.size()] = static_cast<std::int16_t>(made.size());
  for (auto& each : made) {
    if (is_jump(each.operation)) {
      each.slot = place[static_cast<std::size_t>(each.slot)];
    }
  }
  return made;
}

// A fused comparison, a jump to the end and a drop: it decides by itself.
void let_decide(std::vector<Instruction>& code) {
  for (std::size_t i = 0; i + 2 < code.size(); ++i) {
    const Instruction jump = code[i + 1];
    const auto targets = targets_in(code);
    if (code[i].operation < Operation::kIsEqual || !is_jump(jump.operation) ||
        static_cast<std::size_t>(jump.slot) != code.size() || targets[i + 1] ||
        targets[i + 2]) {
      continue;
    }
    code[i].decides = jump.operation == Operation::kJumpIfTrue
        ? Condition::Decides::kWhereTrue
        : Condition::Decides::kWhereFalse;
    const auto begin = code.begin() + static_cast<std::ptrdiff_t>(i);
    code.erase(begin + 1, begin + 3);
    for (auto& each : code) { // what they jump to has moved
      if (is_jump(each.operation) && static_cast<std::size_t>(each.slot) > i) {
        each.slot = static_cast<std::int16_t>(each.slot - 2);
      }
    }
  }
}

} // namespace

Condition::Condition(const std::vector<InstructionText>& code) {
  code_.reserve(code.size());
  for (const auto& each : code) {
    code_.push_back(read(each, code.size()));
  }
  for (std::size_t i = 0; i < code_.size(); ++i) {
    if (is_jump(code_[i].operation) && code_[i].slot <= static_cast<int>(i)) {
      throw std::invalid_argument("a condition jumps back");
    }
  }
  check(code_);
  for (const auto& each : code_) {
    if (each.operation == Operation::kVariable) {
      variables_ = std::max(variables_, each.slot + 1);
    }
  }
  code_ = fused(code_);
  let_decide(code_);
}

bool Condition::holds(const Values& values) const {
  try {
    return run(code_, values);
  } catch (const std::exception&) { // a device that fails, for one
    return false;
  }
}

} // namespace pyharness::breakpoints
