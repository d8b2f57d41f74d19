// How deep a thread is in its C stack.
//
// Frames of Python take no room on the C stack in 3.11, but those that begin
// with us do: a deep recursion must not end the program.
#pragma once

#include <csrc/trap/frames/tracing_state.h>

#include <cstdint>

namespace pyharness::breakpoints {

// Without a frame of its own, which whoever asks would set up for it.
inline std::uintptr_t stack_pointer() {
#if defined(__x86_64__)
  std::uintptr_t pointer = 0;
  __asm__("mov %%rsp, %0" : "=r"(pointer));
  return pointer;
#else
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
#endif
}

// True of a thread that has not looked yet how large its stack is.
inline bool may_be_deep() {
  return stack_pointer() < own.deep_below;
}

// As above, when the thread has looked.
bool is_deep();

} // namespace pyharness::breakpoints
