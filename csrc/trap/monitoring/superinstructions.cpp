// See superinstructions.h.
#include <csrc/trap/monitoring/superinstructions.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

struct Instruction {
  std::uint8_t opcode;
  std::uint8_t argument;
};

// Include/cpython/code.h of CPython 3.12, which changes no more.
struct Code312 {
  std::byte before[192];
  Instruction instructions[1]; // co_code_adaptive
};

// Include/opcode.h of 3.12.
enum Opcode : std::uint8_t {
  kCache = 0,
  kLoadConstLoadFast = 84,
  kLoadFastLoadConst = 86,
  kLoadFastLoadFast = 88,
  kLoadConst = 100,
  kLoadFast = 124,
  kStoreFast = 125,
  kStoreFastLoadFast = 154,
  kStoreFastStoreFast = 158,
};

bool has_superinstructions() {
  static const bool has = std::strncmp(Py_GetVersion(), "3.12.", 5) == 0;
  return has;
}

// What stands for both, and 0 where nothing does: `_PyCode_Quicken` of
// Python/specialize.c has these, and no others.
std::uint8_t of_both(std::uint8_t first, std::uint8_t second) {
  const auto pair = [](unsigned one, unsigned other) {
    return one << 8U | other;
  };
  switch (pair(first, second)) {
    case pair(kLoadConst, kLoadFast):
      return kLoadConstLoadFast;
    case pair(kLoadFast, kLoadConst):
      return kLoadFastLoadConst;
    case pair(kLoadFast, kLoadFast):
      return kLoadFastLoadFast;
    case pair(kStoreFast, kLoadFast):
      return kStoreFastLoadFast;
    case pair(kStoreFast, kStoreFast):
      return kStoreFastStoreFast;
    default:
      return 0;
  }
}

// Whether `plain` is what `running` began as: the arguments stay.
bool began_as(
    const Instruction* running,
    const Instruction* plain,
    std::size_t size) {
  for (std::size_t index = 0; index < size; ++index) {
    if (plain[index].opcode != kCache &&
        plain[index].argument != running[index].argument) {
      return false;
    }
  }
  return true;
}

// The first of a pair is all that is written: whoever stands at the second runs
// that alone.
void combine(Instruction* running, const Instruction* plain, std::size_t size) {
  for (std::size_t index = 0; index + 1 < size; ++index) {
    const auto first = running[index].opcode;
    const auto second = running[index + 1].opcode;
    if (first == plain[index].opcode && second == plain[index + 1].opcode) {
      const auto both = of_both(first, second);
      running[index].opcode = both != 0 ? both : first;
    }
  }
}

} // namespace

void pyharness::breakpoints::combine_instructions(PyObject* code) {
  if (!has_superinstructions()) {
    return;
  }
  PyObject* plain = PyObject_GetAttrString(code, "co_code");
  char* bytes = nullptr;
  Py_ssize_t length = 0;
  if (plain != nullptr &&
      PyBytes_AsStringAndSize(plain, &bytes, &length) == 0) {
    const auto* began = reinterpret_cast<const Instruction*>(bytes);
    auto* running = reinterpret_cast<Code312*>(code)->instructions;
    const auto size = static_cast<std::size_t>(length) / sizeof(Instruction);
    if (began_as(running, began, size)) {
      combine(running, began, size);
    }
  }
  PyErr_Clear();
  Py_XDECREF(plain);
}
