// Hands a signal on to whoever handled it before.
#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pyharness {

// The default is to die of the signal, here and now, with a core that shows
// where. A fault comes again when the handler returns to its instruction, with
// its address; what was sent is sent again. `again` says that nothing else
// would bring it back.
inline void pass_on(
    const struct sigaction& previous,
    int signal,
    siginfo_t* info,
    void* context,
    bool again) {
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler == SIG_DFL) {
    sigaction(signal, &previous, nullptr);
    if (again) {
      // Now, or when the handler returns, where it blocks the signal.
      syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
    }
  } else if (previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  }
}

} // namespace pyharness
