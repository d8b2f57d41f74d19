// Call stacks of both languages, each kept once and named by a number.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pyharness::sanitized {

// Where a CPython keeps its frames: offsets in bytes, -1 for what it lacks.
// pyharness/native/sanitized.py fills it from the tables that read a program
// from outside (pyharness/reading/python/layout.py).
struct PythonLayout {
  int64_t loop; // in the thread state: a pointer to what has the frame
  int64_t frame; // the newest frame: in that, else in the thread state
  int64_t previous;
  int64_t code;
  int64_t instruction; // an address
  int64_t last_instruction; // or an index, 32 bits (up to 3.10)
};

constexpr size_t kPythonFrames = 10;
constexpr size_t kNativeFrames = 40;

// Numbers: who reads the program from outside says what they mean.
struct PythonFrame {
  uint64_t code;
  uint64_t instruction;

  bool operator==(const PythonFrame&) const = default;
};

struct CallStack {
  uint32_t python_count = 0;
  uint32_t native_count = 0;
  PythonFrame python[kPythonFrames] = {}; // innermost first
  uint64_t native[kNativeFrames] = {}; // return addresses, innermost first

  bool operator==(const CallStack& other) const;
};

// From now on stacks have a Python half. `this_state` gives the thread state of
// the calling thread, or null.
void watch_python(const PythonLayout& layout, void* (*this_state)());

// The number of this thread's stack, which takes some microseconds; 0 where
// there is no room for another one.
uint32_t this_stack();

// The number of its innermost Python frames; 0 also where there are none.
uint32_t this_short_stack();

// Whether a number is of the second kind.
bool is_short(uint32_t number);

// An empty one for 0.
CallStack stack_of(uint32_t number);

} // namespace pyharness::sanitized
