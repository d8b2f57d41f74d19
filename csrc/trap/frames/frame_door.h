// Stands where frames of Python begin, and switches the tracing of each.
#pragma once

#include <csrc/trap/frames/frame_api.h>
#include <csrc/trap/frames/known_code.h>
#include <csrc/trap/frames/loop_layouts.h>
#include <csrc/trap/frames/resume_opcode.h>
#include <csrc/trap/frames/running_frames.h>
#include <csrc/trap/frames/stack_depth.h>
#include <csrc/trap/frames/tracing_state.h>

#include <cstdint>

namespace pyharness::breakpoints {

constexpr int kLine = 2; // PyTrace_LINE
constexpr int kReturn = 3; // PyTrace_RETURN
constexpr int kSuspends =
    0x2A0; // CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR
constexpr int kMostReferences = 1000; // of PyGILState_Ensure, in one another

// What sets the switches: as one version of Python has them.
template <typename Python>
struct FrameDoor : RunningFrames<Python> {
  using Running = RunningFrames<Python>;
  using Running::begun_before;
  using Running::current;
  using Running::depth;
  using Running::each_loop;
  using Running::first;
  using Running::is_any_wanted;
  using Running::is_traced;
  using Running::is_wanted;
  using Running::leaves;
  using Running::stands_at_need;
  using Running::stops_in;
  using typename Running::Code;
  using typename Running::Frame;
  using typename Running::Loop;
  using typename Running::State;

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
    const Frame* leaving = nullptr;
    if constexpr (Python::kAsks) {
      leaving = what == kReturn && stands_at_need() ? state->loop->frame
                                                    : nullptr;
    }
    const int outcome = frames.tracer(self, frame, what, argument);
    if (what == kReturn && outcome == 0 && frames.wanted.everywhere) {
      auto* code = PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(frame));
      tell_left(
          frame, reinterpret_cast<Code*>(code)->flags, argument == nullptr);
      Py_DECREF(reinterpret_cast<PyObject*>(code));
    }
    if (is_traced(state) && !is_wanted(state, leaving)) {
      set_traced(state, state->loop, false);
      if (state->trace == trace) {
        state->trace = nullptr;
      }
      if (leaving != nullptr) {
        stand_as_wanted(leaving);
      }
    }
    return outcome;
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
  static void stand(const Frame* leaving = nullptr) {
    auto* interpreter = PyInterpreterState_Main();
    const bool needed =
        stops_somewhere() && (!stands_at_need() || is_any_wanted(leaving));
    const bool wanted =
        frames.lines_in != nullptr && frames.deep == 0 && needed;
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
        (needed && !frames.stands);
    frames.passing = frames.everywhere || frames.wanted.outermost
        ? kNoneMayPass
        : frames.known_since << 1U;
  }

  static void stand_as_wanted(const Frame* leaving = nullptr) {
    const bool before = frames.everywhere;
    stand(leaving);
    if (frames.everywhere != before) {
      settle(true);
    }
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

  static bool is_asked_by(const State* state) {
    return frames.lines_in != nullptr && !own.learns && !leaves(state) &&
        state->interpreter == PyInterpreterState_Main();
  }

  // Something can stop in the innermost frame.
  static void begin_to_stop(State* state) {
    stand_as_wanted();
    own.seen = frames.changes;
    own.begun_before = depth(state);
    set_traced(state, state->loop, true);
  }

  // A function of the program's has the loop trace, which comes to `RESUME`
  // when it has told of the frame; the debugger's was away.
  static void begins_profiled(State* state, Frame* frame) {
    if (resume_opcode::handler_of(frame->instruction) != nullptr &&
        is_asked_by(state) && state->tracing == 0 && is_traced(state) &&
        stops_in(state, frame->code) && frames.lines_in != nullptr) {
      begin_to_stop(state);
      tell_begun(state->tracer);
    }
  }

  // A frame begins or goes on (resume_opcode.h): while one runs in which
  // something can stop, we stand where frames begin. An exception that is
  // thrown into a generator does not come by, so for those we always do.
  static const void* resumes() {
    State* state = current();
    Frame* frame = state->loop->frame;
    auto* at = Python::next_instruction(frame);
    if (at == nullptr || resume_opcode::handler_of(at) == nullptr) {
      if (state->profile != nullptr && state->trace == nullptr) {
        begins_profiled(state, frame);
      }
      return resume_opcode::resumed();
    }
    Code* code = frame->code;
    auto* object = reinterpret_cast<PyObject*>(code);
    if (!is_asked_by(state)) {
      return resume_opcode::handler_of(at);
    }
    const bool stops = stops_in(state, code);
    if (!stops || frames.lines_in == nullptr) { // asking may have ended it
      if (frames.lines_in != nullptr) {
        resume_opcode::ask_never(object, at, code->to_warm_up == 0);
      }
      return resume_opcode::handler_of(at);
    }
    if ((code->flags & kSuspends) != 0) {
      frames.waits = true;
    } else {
      resume_opcode::ask_always(object, at);
    }
    if (state->tracer == nullptr && state->tracing == 0 &&
        frames.adopt != nullptr) {
      adopt();
    }
    if (state->tracing == 0 && state->loop->use_tracing == 0 &&
        is_traced(state)) {
      begin_to_stop(state);
    }
    return state->loop->use_tracing != 0 ? resume_opcode::traced()
                                         : resume_opcode::handler_of(at);
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
      auto* code = reinterpret_cast<Code*>(PyTuple_GetItem(running, index));
      if (stops_in(state, code) && (code->flags & kSuspends) != 0) {
        frames.waits = true;
      }
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
