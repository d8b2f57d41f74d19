// The frames that run on any thread, and what is known of their code.
#pragma once

#include <csrc/trap/frames/frame_api.h>
#include <csrc/trap/frames/known_code.h>
#include <csrc/trap/frames/loop_layouts.h>
#include <csrc/trap/frames/tracing_state.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace pyharness::breakpoints {

constexpr std::uintptr_t kNothing = 1U << 1U; // is known to stop there

// What reads the interpreter's loop: as one version of Python has it.
template <typename Python>
struct RunningFrames {
  using State = typename Python::State;
  using Loop = typename Python::Loop;
  using Frame = typename Python::Frame;
  using Code = typename Python::Code;

  static State* current() {
    return reinterpret_cast<State*>(PyThreadState_Get());
  }

  // What is known of `code`, and 0 where nothing is: _PyCode_GetExtra, inlined.
  static std::uintptr_t known(const Code* code) {
    const auto* extra = code->extra;
    if (extra == nullptr || extra->size <= frames.known_at) {
      return 0;
    }
    const auto found = extra->each[frames.known_at];
    return found >> 1U == frames.known_since ? found : 0;
  }

  // Without asking anybody: nothing else can run meanwhile.
  static bool may_stop_in(const Code* code) {
    const auto found = stops_somewhere() ? known(code) : kNothing;
    return found == 0 || (found & 1U) != 0;
  }

  static bool stops_in(State* state, Code* code) {
    const auto found = known(code);
    if (found != 0) {
      return (found & 1U) != 0;
    }
    const auto before = state->loop->use_tracing;
    state->loop->use_tracing = 0;
    const bool stops = learn(reinterpret_cast<PyObject*>(code), code->filename);
    state->loop->use_tracing = before;
    return stops;
  }

  // Whether its trace function is the debugger's, and not the program's own.
  static bool is_traced(const State* state) {
    PyObject* tracer = state->tracer;
    return tracer != nullptr && frames.tracers != nullptr &&
        is_in(frames.tracers,
              tracer,
              reinterpret_cast<PyObject*>(Py_TYPE(tracer)));
  }

  // Whether a thread that C++ made leaves Python: the state of the thread is
  // cleared, and what is its own goes. Whoever takes the GIL once more then, as
  // pydevd does, deletes the state when it gives it back, and a crash comes.
  static bool leaves(const State* state) {
    return state->references == 0; // of PyGILState_Ensure; at least one else
  }

  static State* first() {
    return static_cast<State*>(
        PyInterpreterState_ThreadHead(PyInterpreterState_Main()));
  }

  // Calls `take(loop)` from the innermost run of the interpreter's loop
  // outwards, until it returns false. 3.10 does not initialize `previous` of a
  // thread's first, which runs no code.
  template <typename Take>
  static void each_run(State* state, Take take) {
    for (Loop* loop = state->loop; loop != nullptr && take(loop);
         loop = loop == &state->root ? nullptr : loop->previous) {
    }
  }

  // As that, and tells whether something may stop in the loop's frames; not in
  // one that is `leaving`.
  template <typename Take>
  static void
  each_loop(State* state, Take take, const Frame* leaving = nullptr) {
    Frame* next = Python::innermost(state);
    each_run(state, [&](Loop* loop) {
      bool stops = false;
      Python::each_frame(state, loop, next, [&](const Frame* frame) {
        stops = frame != leaving &&
            (may_stop_in(frame->code) ||
             (frames.wanted.outermost && frame->previous == nullptr));
        return !stops;
      });
      return take(loop, stops);
    });
  }

  // How many runs of the interpreter's loop are in one another.
  static std::size_t depth(State* state) {
    std::size_t count = 0;
    each_run(state, [&](const Loop*) {
      ++count;
      return true;
    });
    return count;
  }

  // How many of them, from the outermost on, began before what is wanted was
  // changed last; at most, as this thread finds out later, and comes out of
  // some unseen.
  static std::size_t begun_before(std::size_t now) {
    if (own.seen != frames.changes) {
      own.seen = frames.changes;
      own.begun_before = now;
    }
    own.begun_before = std::min(own.begun_before, now);
    return own.begun_before;
  }

  // Whether the innermost loop is to be traced. Where one further out is,
  // `evaluate_other` waits to switch that on again, if what it called began
  // since then; else nobody would see that return, which hands its own switch
  // out, so that every loop in between is traced.
  static bool is_wanted(State* state, const Frame* leaving = nullptr) {
    bool wanted = frames.everywhere;
    if (!wanted) {
      const std::size_t now = depth(state);
      const bool alone = now > begun_before(now);
      each_loop(
          state,
          [&](const Loop*, bool stops) {
            wanted = stops;
            return !wanted && !alone;
          },
          leaving);
    }
    return wanted;
  }

  // Whether it is enough to stand where frames begin while one runs in which
  // something can stop.
  static bool stands_at_need() {
    return frames.asked && !frames.wanted.always && !frames.wanted.outermost &&
        !frames.waits;
  }

  // Whether such a frame runs on any thread; else some code of those of which
  // nothing is known.
  static bool is_any_wanted(const Frame* leaving, Code*& unknown) {
    bool wanted = false;
    for (State* state = first(); state != nullptr; state = state->next) {
      if (!is_traced(state)) {
        continue;
      }
      Frame* next = Python::innermost(state);
      each_run(state, [&](Loop* loop) {
        Python::each_frame(state, loop, next, [&](const Frame* frame) {
          const auto found = frame != leaving ? known(frame->code) : kNothing;
          unknown = found == 0 ? frame->code : unknown;
          wanted = wanted || (found & 1U) != 0;
          return !wanted;
        });
        return !wanted;
      });
    }
    return wanted;
  }

  // As that, and asks. Others may run meanwhile.
  static bool is_any_wanted(const Frame* leaving) {
    while (frames.lines_in != nullptr) {
      Code* unknown = nullptr;
      if (is_any_wanted(leaving, unknown)) {
        return true;
      }
      if (unknown == nullptr) {
        return false;
      }
      auto* code = Py_NewRef(reinterpret_cast<PyObject*>(unknown));
      stops_in(current(), unknown);
      const bool is_known = known(unknown) != 0;
      Py_DECREF(code);
      if (!is_known) {
        return true;
      }
    }
    return false;
  }
};

} // namespace pyharness::breakpoints
