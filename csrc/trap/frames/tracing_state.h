// What the debugger wants of the frames that run, and what a thread knows of
// itself. All of it is guarded by the GIL.
#pragma once

#include <csrc/trap/frames/loop_layouts.h>
#include <csrc/trap/frames/traced_frames.h>

#include <cstddef>
#include <cstdint>

namespace pyharness::breakpoints {

// Nothing is known since 0: no code has this.
constexpr std::uintptr_t kNoneMayPass = 1;

struct Frames {
  PyObject* lines_in = nullptr; // null: nobody debugs
  PyObject* tracers = nullptr;
  PyObject* entries = nullptr;
  PyObject* left = nullptr;
  PyObject* adopt = nullptr;
  PyObject* lines = nullptr; // file name -> what `lines_in` said of it
  Wanted wanted;
  Py_ssize_t known_at = -1; // where code objects keep what is known of them
  std::uintptr_t known_since = 1; // what is known from before is out of date
  std::uintptr_t changes = 1; // of what is wanted of frames that run
  bool stands = false; // the interpreter calls `evaluate`, or who else does
  // It asks at each code of which nothing is known, and at each that may stop:
  // we need not stand where the frames of others begin.
  bool asked = false;
  bool waits = false; // something may stop in a generator or a coroutine
  bool everywhere = false; // each frame is traced, for whatever reason
  // What is known of code whose frames run as without us; kNoneMayPass while
  // more is asked than what is known of its code.
  std::uintptr_t passing = kNoneMayPass;
  int deep = 0; // threads that are so deep that nobody stands there
  TraceFunction tracer = nullptr; // the debugger's, which `trace` calls
};

extern constinit Frames frames;

struct Thread {
  bool learns = false;
  // The stack grows downwards; until a thread has looked, it is deep at once.
  std::uintptr_t deep_below = UINTPTR_MAX;
  std::uintptr_t seen = 0; // the last of the changes; 0 for none
  std::size_t begun_before = 0; // that: runs of the interpreter's loop
};

// Read at each frame: without a call to find it.
extern constinit
    __attribute__((tls_model("initial-exec"))) thread_local Thread own;

// Whether anything stops somewhere without a step.
inline bool stops_somewhere() {
  return frames.wanted.lines || frames.wanted.always || frames.wanted.outermost;
}

} // namespace pyharness::breakpoints
