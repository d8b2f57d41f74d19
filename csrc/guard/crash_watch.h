// Lets a process of ours read this program before it dies of a crash; Linux.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace pyharness::inspect {

// Words one behind the other, each with a 0 at its end.
struct Words {
  const char* text;
  size_t size;
};

// Starts `command` (an absolute path and its arguments) whenever a thread of
// this process comes to a SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT that
// nobody else handles, and in children that it forks. Appended are five
// numbers: process, thread, signal, si_code and the address. The thread waits
// until that process has ended; then the program dies as it would have; where
// that has exited with 3, without a word of handlers that came since. Said
// again, the command is replaced. Where Yama asks who may trace this process,
// it is `reader` with what descends from it; 0 for the process that is started.
// False, with errno, where the kernel refuses.
bool watch_crashes(
    const Words& command,
    const Words& environment,
    pid_t reader);

// Puts the handlers back where others have taken their place: they are told
// behind us. `alone`: those have left, and what was there before all has it.
bool renew_crash_watch(bool alone);

// Starts the command of `watch_crashes` for what a sanitizer has found, with
// signal 0 and the report's address, and waits until that has read this
// process; what it exited with, -1 where it could not.
int tell_of(const void* report);

// Starts a process that is no child of this one; -errno where it fails.
pid_t start_unseen(const Words& command, const Words& environment);

} // namespace pyharness::inspect
