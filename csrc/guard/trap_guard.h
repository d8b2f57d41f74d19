// Lets a program outlive its debugger: a killed gdb leaves its breakpoints
// behind, and the next thread that runs into one would die of SIGTRAP.
#pragma once

namespace pyharness::inspect {

// Handles SIGTRAP from now on. A breakpoint instruction that the mapped file
// does not have is put right and the thread goes on as if it had never been
// there; any other trap goes to the handler that was installed before. Safe to
// call again. Throws nothing; returns false with errno set where the kernel
// refuses.
bool install_trap_guard();

// How many breakpoints were put right so far.
unsigned long healed_traps();

} // namespace pyharness::inspect
