// Records the ops and nodes that run, each thread into a buffer of its own.
#pragma once

namespace pyharness::engine {

struct Wanted {
  bool forward = true;
  bool backward = true;
  bool tensors = false; // note shapes, dtypes, devices and new memory
  bool inner_ops = false; // ops inside of nodes, too
  bool interpose = true; // see nodes.h; for tests
};

// From here on records what is wanted, and nothing else. What was wanted before
// and still is is not let go for a moment. By one thread at a time.
void observe(const Wanted& wanted);

// The calling thread's first node may come before its first op: what made it is
// known from here on.
void begin_to_note_here();

} // namespace pyharness::engine
