// Calls that gdb makes into a stopped thread and that end well without gdb: one
// that is killed meanwhile leaves the called function without a caller, on a
// thread whose registers only gdb has kept.
#pragma once

#include <signal.h>
#include <ucontext.h>

namespace pyharness::inspect {

// Calls can be guarded from now on: the trap guard is in place.
void allow_guarded_calls();

// A thread that comes from a call whose debugger is gone gets back the
// registers that it had before; false where it comes from none.
bool return_from_call(ucontext_t* context);

} // namespace pyharness::inspect
