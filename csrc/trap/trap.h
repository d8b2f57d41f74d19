// The functions that gdb stops on and the doorway through which it asks: plain
// C names, found without any debug info.
#pragma once

#include <cstddef>

#define PYHARNESS_EXPORT __attribute__((visibility("default")))

namespace pyharness::breakpoints {

constexpr std::size_t kMessageSize = 1 << 16;

} // namespace pyharness::breakpoints

extern "C" {

// A Python line at which the program shall stop is about to run. gdb has a
// breakpoint here; without one it does nothing. Never a SIGTRAP: other
// debuggers use that signal for their own pauses, and a program without gdb
// would die of it. `why` is JSON: {"stops": [ids of the places that are here],
// "step": whether a step ends here, "notes": [sentences]}, and for a native
// breakpoint (pyharness.native.breakpoint), where an op, an autograd node or a
// place in a kernel is what stops, "native": {"kind", "name", "before",
// "tensors": {name: address of a c10::TensorImpl}, "values": {name: text of
// what is no tensor}}.
PYHARNESS_EXPORT void pyharness_python_line(
    const char* file,
    int line,
    const char* function,
    const char* why);

// The program ends by itself; `report` is JSON: {"unreached": [{"id", "where",
// "hint"}]}.
PYHARNESS_EXPORT void pyharness_program_ends(const char* report);

// A request as JSON, zero-terminated, written by gdb; and the answer that
// pyharness_agent leaves.
PYHARNESS_EXPORT extern char pyharness_request[];
PYHARNESS_EXPORT extern char pyharness_answer[];

// Answers the request on the thread that calls, which may hold the GIL or not;
// gdb calls it on a stopped thread. Returns 0 when pyharness_answer is set, 1
// when no agent is installed or the interpreter is gone.
PYHARNESS_EXPORT int pyharness_agent();

// Whether the calling thread holds the GIL: if not, gdb must let the other
// threads run while the agent waits for it.
PYHARNESS_EXPORT int pyharness_holds_gil();
}

namespace pyharness::breakpoints {

// `agent` takes the request and returns the answer, both str; the reference is
// kept. Null removes it.
void set_agent(struct _object* agent);

} // namespace pyharness::breakpoints
