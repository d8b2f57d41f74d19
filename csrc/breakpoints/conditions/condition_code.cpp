// Reads the instructions of a condition, and makes few of many.
#include <csrc/torch_headers.h>

#include <csrc/breakpoints/conditions/condition_code.h>

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

namespace pyharness::breakpoints {

namespace {

using Operation = Condition::Operation;
using Instruction = Condition::Instruction;

constexpr std::size_t kMostInstructions = 256;

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

bool is_load(Operation operation) {
  return operation > Operation::kConstant && operation <= Operation::kSum;
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

// --- making few of many ------------------------------------------------------

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

// Which relations of what is loaded to the constant let a comparison hold.
std::uint8_t relations_in(Operation comparison) {
  switch (comparison) {
    case Operation::kEqual:
      return Condition::kEqualTo;
    case Operation::kNotEqual:
      return Condition::kLessThan | Condition::kGreaterThan |
          Condition::kUnordered;
    case Operation::kLess:
      return Condition::kLessThan;
    case Operation::kLessEqual:
      return Condition::kLessThan | Condition::kEqualTo;
    case Operation::kGreater:
      return Condition::kGreaterThan;
    default: // kGreaterEqual
      return Condition::kGreaterThan | Condition::kEqualTo;
  }
}

Instruction
comparing(const Instruction& load, double constant, Operation comparison) {
  Instruction made = load;
  made.operation = Operation::kCompare;
  made.source = load.operation;
  made.relations = relations_in(comparison);
  made.constant = constant;
  return made;
}

std::vector<Instruction> fused(const std::vector<Instruction>& code) {
  std::vector<Instruction> made;
  std::vector<std::int16_t> place(code.size() + 1); // old index -> new one
  const auto targets = targets_in(code);
  for (std::size_t i = 0; i < code.size(); ++i) {
    place[i] = static_cast<std::int16_t>(made.size());
    const bool whole = i + 2 < code.size() && is_load(code[i].operation) &&
        code[i + 1].operation == Operation::kConstant &&
        is_comparison(code[i + 2].operation) && !targets[i + 1] &&
        !targets[i + 2];
    if (!whole) {
      made.push_back(code[i]);
      continue;
    }
    made.push_back(
        comparing(code[i], code[i + 1].number, code[i + 2].operation));
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
    if (code[i].operation != Operation::kCompare || !is_jump(jump.operation) ||
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
  const auto& first = code_.front();
  if (first.operation == Operation::kCompare &&
      first.source == Operation::kVariable &&
      (code_.size() == 1 || first.decides == Decides::kWhereFalse)) {
    gate_ = {first.slot, first.relations, first.constant};
  }
}

} // namespace pyharness::breakpoints
