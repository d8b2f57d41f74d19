// Fills the one report of this process, while the thread stands at the error,
// and has a process of ours read it.
#pragma once

#include <csrc/sanitized/blocks.h>
#include <csrc/sanitized/report.h>

#include <cstddef>
#include <cstdint>

namespace pyharness::sanitized {

// Nobody hears of an error before.
bool is_heard();

Report& begin_report(Sanitizer sanitizer);
void take_text(const char* given);
void take_output();
void set_region_kind(const char* kind); // "heap", "stack"

Trace& add_trace(Role role);
void** native_of(CallStack& stack);

// A runtime fills what it has, and 0 behind.
void count_native(CallStack& stack);

// Ours, with the Python half; the native half is the runtime's where ours has
// none.
void take_stack(CallStack& stack, uint32_t number);

// The stacks that made and freed it, into the traces that are there.
void take_block(const Block& block);

// Where the thread was started that stands at the error.
void add_own_start();

// This thread stands at an error: the process does not end meanwhile.
void note_error();

// Somebody reads the report; where nobody can, it is printed as ever.
void say();

// The runtime ends the process, and has said why.
void end_by_error();

} // namespace pyharness::sanitized
