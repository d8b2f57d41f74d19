// For the few bytes of a thread that are read beside every op.
#pragma once

// The loader gives them a place in the block that each thread has from its
// start, so that reading them is one instruction and no call. It keeps little
// room for libraries that are loaded later: only for pointers and flags that
// begin as zero.
#define PYHARNESS_FAST_THREAD_LOCAL \
  __attribute__((tls_model("initial-exec"))) thread_local
