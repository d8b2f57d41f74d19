// Two tables that the loop of CPython 3.11 reads, in its own memory: Python
// exports neither. They are told by what is in them.
#pragma once

#include <cstdint>

namespace pyharness::breakpoints {

struct OpcodeTables {
  static constexpr int kOpcodes = 256;
  static constexpr int kResume = 151; // Include/opcode.h
  static constexpr int kTraced = 255; // DO_TRACING

  const void** handlers = nullptr; // `opcode_targets` of Python/ceval.c
  // What an opcode is a form of, and 0 for one that is free: _PyOpcode_Deopt.
  std::uint8_t* forms = nullptr;
  int resume_quick = 0;
  int free[2] = {0, 0};

  [[nodiscard]] bool found() const {
    return handlers != nullptr;
  }
};

// Those of the Python that runs, which may be written; without any where it was
// built in another way.
OpcodeTables find_opcode_tables();

} // namespace pyharness::breakpoints
