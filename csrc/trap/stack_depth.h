// How deep a thread is in its C stack.
//
// Frames of Python take no room on the C stack in 3.11, but those that begin
// with us do: a deep recursion must not end the program.
#pragma once

#include <csrc/trap/tracing_state.h>

#include <cstdint>

namespace pyharness::breakpoints {

// True of a thread that has not looked yet how large its stack is.
inline bool may_be_deep() {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) <
      own.deep_below;
}

// As above, when the thread has looked.
bool is_deep();

} // namespace pyharness::breakpoints
