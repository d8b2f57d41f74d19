// Stands where frames of Python begin, and switches the tracing of each.
#pragma once

#include <csrc/trap/known_code.h>
#include <csrc/trap/loop_layouts.h>
#include <csrc/trap/python_api.h>
#include <csrc/trap/stack_depth.h>
#include <csrc/trap/tracing_state.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace pyharness::breakpoints {

constexpr int kLine = 2; // PyTrace_LINE
constexpr int kReturn = 3; // PyTrace_RETURN
constexpr int kMostReferences = 1000; // of PyGILState_Ensure, in one another

// What reads the interpreter's loop: as one version of Python has it.
template <typename Python>
struct FrameDoor {
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
    const auto found = stops_somewhere() ? known(code) : 1U << 1U;
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

  // Calls `take(loop)` from the innermost run of the interpreter's loop
  // outwards, until it returns false. 3.10 does not initialize `previous` of a
  // thread's first, which runs no code.
  template <typename Take>
  static void each_run(State* state, Take take) {
    for (Loop* loop = state->loop; loop != nullptr && take(loop);
         loop = loop == &state->root ? nullptr : loop->previous) {
    }
  }

  // As that, and tells whether something may stop in the loop's frames.
  template <typename Take>
  static void each_loop(State* state, Take take) {
    Frame* next = Python::innermost(state);
    each_run(state, [&](Loop* loop) {
      bool stops = false;
      Python::each_frame(state, loop, next, [&](const Frame* frame) {
        stops = may_stop_in(frame->code) ||
            (frames.wanted.outermost && frame->previous == nullptr);
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
  static bool is_wanted(State* state) {
    bool wanted = frames.everywhere;
    if (!wanted) {
      const std::size_t now = depth(state);
      const bool alone = now > begun_before(now);
      each_loop(state, [&](const Loop*, bool stops) {
        wanted = stops;
        return !wanted && !alone;
      });
    }
    return wanted;
  }

  static void set_traced(State* state, Loop* loop, bool traced) {
    if (state->trace != nullptr && state->trace != trace) {
      if (frames.tracer == nullptr) { // the debugger's own, or sys.settrace's
        frames.tracer = state->trace;
      }
      state->trace = trace;
      if (state == current()) {
        own.seen = 0; // whatever runs began untraced
      }
    }
    if (traced && state->trace == nullptr && frames.tracer != nullptr) {
      state->trace = trace;
    }
    loop->use_tracing = 0;
    if (traced || state->profile != nullptr) {
      loop->use_tracing = Python::kTraced;
    }
  }

  // Whoever stood where frames begin, so that all of them are traced, has left.
  static bool may_stand_again() {
    return frames.everywhere && !frames.wanted.everywhere && frames.deep == 0 &&
        !frames.stands &&
        _PyInterpreterState_GetEvalFrameFunc(PyInterpreterState_Main()) ==
        _PyEval_EvalFrameDefault;
  }

  // The debugger's trace function, in front of which most lines are told apart
  // here. Whenever one has returned, the interpreter sets its switch if there
  // is one: so we take it away where a step has ended in a frame in which
  // nothing else stops.
  static int
  trace(PyObject* self, PyObject* frame, int what, PyObject* argument) {
    State* state = current();
    if (leaves(state)) {
      return 0;
    }
    if (may_stand_again()) {
      stand();
      settle(true);
    }
    if (what == kLine && is_traced(state) && is_wanted(state)) {
      auto* code = PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(frame));
      const bool nothing =
          passes(frame, reinterpret_cast<Code*>(code)->filename);
      Py_DECREF(reinterpret_cast<PyObject*>(code));
      if (nothing) {
        return 0;
      }
    }
    const int outcome = frames.tracer(self, frame, what, argument);
    if (what == kReturn && outcome == 0 && frames.wanted.everywhere) {
      auto* code = PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(frame));
      tell_left(
          frame, reinterpret_cast<Code*>(code)->flags, argument == nullptr);
      Py_DECREF(reinterpret_cast<PyObject*>(code));
    }
    if (is_traced(state) && !is_wanted(state)) {
      set_traced(state, state->loop, false);
      if (state->trace == trace) {
        state->trace = nullptr;
      }
    }
    return outcome;
  }

  static State* first() {
    return static_cast<State*>(
        PyInterpreterState_ThreadHead(PyInterpreterState_Main()));
  }

  // Bring the loops that run in line with what is wanted, on all threads; where
  // that has not changed, on this one, and those that are traced only now.
  static void settle(bool changed) {
    frames.changes += changed ? 1 : 0;
    for (State* state = first(); state != nullptr; state = state->next) {
      const bool is_new = state->trace != nullptr && state->trace != trace;
      if (is_traced(state) && (changed || is_new || state == current())) {
        frames.changes += is_new && state != current() ? 1 : 0;
        settle(state);
      }
    }
  }

  static void settle(State* state) {
    const Loop* outermost = nullptr; // of those in which something may stop
    each_loop(state, [&](const Loop* loop, bool stops) {
      outermost = stops ? loop : outermost;
      return true;
    });
    bool traced = frames.everywhere || outermost != nullptr;
    each_loop(state, [&](Loop* loop, bool) {
      set_traced(state, loop, traced);
      traced = frames.everywhere || (traced && loop != outermost);
      return true;
    });
  }

  // Stand where frames begin, or not, as is wanted. While somebody else does,
  // such as torch.compile in code that it has compiled, we cannot begin to: its
  // end would take us away.
  static void stand() {
    auto* interpreter = PyInterpreterState_Main();
    const bool wanted =
        frames.lines_in != nullptr && frames.deep == 0 && stops_somewhere();
    const auto now = _PyInterpreterState_GetEvalFrameFunc(interpreter);
    if (now == _PyEval_EvalFrameDefault) {
      frames.stands = wanted;
      if (wanted) {
        _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
      }
    } else if (now == evaluate && !wanted) {
      frames.stands = false;
      _PyInterpreterState_SetEvalFrameFunc(
          interpreter, _PyEval_EvalFrameDefault);
    }
    frames.everywhere = frames.wanted.everywhere || frames.deep != 0 ||
        (stops_somewhere() && !frames.stands);
    frames.passing = frames.everywhere || frames.wanted.outermost
        ? kNoneMayPass
        : frames.known_since << 1U;
  }

  static PyObject* evaluate_deep(State* state, Frame* frame, int thrown) {
    if (frames.deep++ == 0) {
      stand();
      settle(true);
    }
    PyObject* result = _PyEval_EvalFrameDefault(state, frame, thrown);
    if (--frames.deep == 0) {
      stand();
      settle(true);
    }
    return result;
  }

  // A frame that is traced, or begins in one, or of which nothing is known.
  __attribute__((noinline)) static PyObject*
  evaluate_other(State* state, Frame* frame, int thrown) {
    if (frames.lines_in == nullptr || own.learns || leaves(state)) {
      return _PyEval_EvalFrameDefault(state, frame, thrown);
    }
    if (Python::kRecursesWithoutStack && is_deep()) {
      return evaluate_deep(state, frame, thrown);
    }
    if (own.seen != frames.changes) {
      begun_before(depth(state));
    }
    const bool unknown = state->tracer == nullptr && state->tracing == 0;
    const bool stops =
        (unknown || !frames.everywhere) && stops_in(state, frame->code);
    if (stops && unknown &&
        frames.adopt != nullptr) { // asking may have ended it
      adopt();
    }
    const bool wanted = frames.everywhere || stops ||
        (frames.wanted.outermost && Python::is_outermost(state));
    bool set = false;
    if ((wanted || state->loop->use_tracing != 0) && is_traced(state)) {
      set_traced(state, state->loop, wanted); // it is handed down
      set = true;
    }
    const auto before = frames.changes;
    PyObject* result = _PyEval_EvalFrameDefault(state, frame, thrown);
    if ((set || frames.changes != before) && is_traced(state)) {
      set_traced(state, state->loop, is_wanted(state));
    }
    return result;
  }

  // Whether `code` is known to have nothing that stops, and no more is asked:
  // what the other branch would find out, in one comparison.
  static bool passes_by(const Code* code) {
    const auto* extra = code->extra;
    return extra != nullptr && extra->size > frames.known_at &&
        extra->each[frames.known_at] == frames.passing;
  }

  // Most frames pass by the first branch, as fast as may be: nothing of ours
  // stays on the stack. So nobody is here when such a frame returns, which
  // hands its switch out to the loop that called it. That is as it should be,
  // or on where it could be off (settle): then `trace` takes it away at the
  // first event, and the other branch does at the first call.
  static PyObject* evaluate(void* thread, void* begun, int thrown) {
    auto* state = static_cast<State*>(thread);
    auto* frame = static_cast<Frame*>(begun);
    if (__builtin_expect(passes_by(frame->code), 1) != 0 &&
        __builtin_expect(state->loop->use_tracing, 0) == 0 &&
        !(Python::kRecursesWithoutStack && may_be_deep())) {
      return _PyEval_EvalFrameDefault(thread, begun, thrown);
    }
    return evaluate_other(state, frame, thrown);
  }

  // Whether memory is as this file has it: a Python may be built in its own
  // way.
  static bool is_as_expected(PyObject* code) {
    State* state = current();
    PyObject* get = PySys_GetObject("gettrace");
    PyObject* tracer =
        get != nullptr ? PyObject_CallFunctionObjArgs(get, nullptr) : nullptr;
    PyObject* file = PyObject_GetAttrString(code, "co_filename");
    PyObject* flags = PyObject_GetAttrString(code, "co_flags");
    PyErr_Clear();
    const bool expected = state->interpreter == PyInterpreterState_Main() &&
        state->references > 0 && state->references < kMostReferences &&
        tracer == (state->tracer != nullptr ? state->tracer : Py_None) &&
        file == reinterpret_cast<Code*>(code)->filename && flags != nullptr &&
        PyLong_AsLong(flags) == reinterpret_cast<Code*>(code)->flags;
    Py_XDECREF(tracer);
    Py_XDECREF(file);
    Py_XDECREF(flags);
    return expected;
  }

  static void tell(PyObject* running, bool changed) {
    State* state = current();
    const Py_ssize_t count = PyTuple_Size(running);
    for (Py_ssize_t index = 0; index < count; ++index) {
      stops_in(state, reinterpret_cast<Code*>(PyTuple_GetItem(running, index)));
      if (frames.lines_in == nullptr) { // somebody ended it meanwhile
        return;
      }
    }
    const bool before = frames.everywhere;
    stand();
    settle(changed || frames.everywhere != before);
  }

  static void give_back() {
    frames.everywhere = true;
    settle(true);
    for (State* state = first(); state != nullptr; state = state->next) {
      if (state->trace == trace) {
        state->trace = frames.tracer;
      }
    }
  }
};

} // namespace pyharness::breakpoints
