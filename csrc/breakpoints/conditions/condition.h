// Conditions of native breakpoints: pure predicates, tested where the program
// runs, without Python. pyharness/model/conditions/condition.py compiles them.
#pragma once

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace pyharness::breakpoints {

// What a condition is about: what went into an op or a node and came out of
// it, or the variables of a place in a kernel.
struct Values {
  std::span<const c10::IValue> inputs;
  std::span<const c10::IValue> outputs;
  const double* variables = nullptr;
};

// Name, slot, element, number, text: see Instruction in condition_code.py.
using InstructionText = std::tuple<std::string, int, int, double, std::string>;

class Condition {
 public:
  // Throws std::invalid_argument for what condition.py would not make.
  explicit Condition(const std::vector<InstructionText>& code);

  // Never throws: what cannot be read is not there, and compares as false.
  bool holds(const Values& values) const;

  // How many variables of a place it takes; 0 where it is about tensors.
  int variables() const {
    return variables_;
  }

  // Whether its first comparison, of a variable with a constant, fails already:
  // what most checks of a place in a kernel come to.
  bool fails_at_once(const double* variables) const {
    return gate_.relations != 0 &&
        (gate_.relations & relation(variables[gate_.slot], gate_.number)) == 0;
  }

  enum class Operation : std::uint8_t;

  // What a comparison decides by itself: most conditions are a chain of `and`.
  enum class Decides : std::uint8_t { kNothing, kWhereFalse, kWhereTrue };

  struct Instruction {
    Operation operation;
    std::int16_t slot; // of an argument or a variable, or where a jump goes
    std::int16_t element; // of a list of tensors; -1 for the whole
    double number; // also a dtype, or a device's type
    std::int8_t index = -1; // of a device
    // Of a kCompare, which is a load as well: what loads, the constant that it
    // is compared with, and the relations to it that hold.
    Operation source{};
    std::uint8_t relations = 0;
    Decides decides = Decides::kNothing;
    double constant = 0;
  };

  // How one number is to another; a set of them is a number with bits.
  enum Relation : std::uint8_t {
    kLessThan = 1,
    kEqualTo = 2,
    kGreaterThan = 4,
    kUnordered = 8,
  };

  static Relation relation(double a, double b) {
    return a < b ? kLessThan
        : a > b  ? kGreaterThan
        : a == b ? kEqualTo
                 : kUnordered;
  }

 private:
  struct Gate {
    std::int16_t slot = 0;
    std::uint8_t relations =
        0; // that let it go on; none where there is no gate
    double number = 0;
  };

  std::vector<Instruction> code_;
  Gate gate_;
  int variables_ = 0;
};

} // namespace pyharness::breakpoints
