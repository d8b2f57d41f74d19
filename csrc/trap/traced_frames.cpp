// See traced_frames.h. All state is guarded by the GIL.
#include <csrc/trap/traced_frames.h>

#include <csrc/trap/loop_layouts.h>
#include <csrc/trap/python_api.h>

#include <cstdint>
#include <cstring>

#include <pthread.h>

#if defined(__x86_64__) && defined(__GLIBC__)
// As every glibc has them: newer ones moved them to another library, under
// newer versions, which a wheel for older systems cannot ask for.
__asm__(".symver pthread_getattr_np,pthread_getattr_np@GLIBC_2.2.5");
__asm__(".symver pthread_attr_getstack,pthread_attr_getstack@GLIBC_2.2.5");
#endif

namespace {

using pyharness::breakpoints::Python310;
using pyharness::breakpoints::Python311;
using pyharness::breakpoints::TraceFunction;
using pyharness::breakpoints::Wanted;

constexpr int kLine = 2; // PyTrace_LINE
constexpr int kReturn = 3; // PyTrace_RETURN
constexpr int kWaits = 0xA0; // CO_GENERATOR and CO_COROUTINE

struct Frames {
  PyObject* lines_in = nullptr; // null: nobody debugs
  PyObject* tracers = nullptr;
  PyObject* entries = nullptr;
  PyObject* left = nullptr;
  PyObject* lines = nullptr; // file name -> what `lines_in` said of it
  Wanted wanted;
  Py_ssize_t known_at = -1; // where code objects keep what is known of them
  std::uintptr_t known_since = 1; // what is known from before is out of date
  std::uintptr_t changes = 0; // of what is wanted of frames that run
  bool stands = false; // the interpreter calls `evaluate`, or who else does
  bool everywhere = false; // each frame is traced, for whatever reason
  bool looks_at_each = false; // more is asked than what is known of its code
  int deep = 0; // threads that are so deep that nobody stands there
  TraceFunction tracer = nullptr; // the debugger's, which `trace` calls
};

Frames frames;

struct Thread {
  bool learns = false;
  // The stack grows downwards; until a thread has looked, it is deep at once.
  std::uintptr_t deep_below = UINTPTR_MAX;
};

// Read at each frame: without a call to find it.
__attribute__((tls_model("initial-exec"))) thread_local Thread own;

// What is known of code.

bool has_lines(PyObject* code, PyObject* lines) {
  PyObject* ranges = PyObject_CallMethod(code, "co_lines", nullptr);
  PyObject* each = ranges != nullptr ? PyObject_GetIter(ranges) : nullptr;
  Py_XDECREF(ranges);
  int has = 0;
  while (each != nullptr && has == 0) {
    PyObject* range = PyIter_Next(each); // start, end, line
    if (range == nullptr) {
      break;
    }
    has = PySet_Contains(lines, PyTuple_GetItem(range, 2));
    Py_DECREF(range);
  }
  Py_XDECREF(each);
  return has != 0 || PyErr_Occurred() != nullptr;
}

// A new reference, or null with an exception: what the program's handler of a
// signal raised meanwhile, or the interpreter's end.
PyObject* lines_in(PyObject* file) {
  PyObject* lines = PyDict_GetItemWithError(frames.lines, file);
  if (lines != nullptr || PyErr_Occurred() != nullptr) {
    return Py_XNewRef(lines);
  }
  PyObject* known = Py_NewRef(frames.lines); // others may forget it meanwhile
  lines = PyObject_CallFunctionObjArgs(frames.lines_in, file, nullptr);
  if (lines != nullptr && PyDict_SetItem(known, file, lines) < 0) {
    Py_CLEAR(lines);
  }
  Py_DECREF(known);
  return lines;
}

int raise_later(void* error) {
  auto* value = static_cast<PyObject*>(error);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(value)), value);
  Py_DECREF(value);
  return -1;
}

// The program shall have its exception (Ctrl-C) where it runs its own code
// again. Others are ours: the interpreter may be about to end.
void put_off() {
  if (PyErr_ExceptionMatches(PyExc_Exception) != 0) {
    PyErr_Clear();
    return;
  }
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (value != nullptr && Py_AddPendingCall(raise_later, value) == 0) {
    value = nullptr;
  }
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
}

bool is_in(PyObject* tuple, PyObject* object, PyObject* or_this) {
  for (Py_ssize_t index = 0; index < PyTuple_Size(tuple); ++index) {
    PyObject* each = PyTuple_GetItem(tuple, index);
    if (each == object || each == or_this) {
      return true;
    }
  }
  return false;
}

// Whether something can stop in frames of `code`; true where that is unknown.
bool learn(PyObject* code, PyObject* file) {
  const auto since = frames.known_since;
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace); // a generator may begin with one
  own.learns = true;
  bool stops = frames.wanted.outermost && is_in(frames.entries, code, nullptr);
  PyObject* lines = stops ? nullptr : lines_in(file);
  if (lines != nullptr) {
    stops = PySet_Size(lines) != 0 && has_lines(code, lines);
    Py_DECREF(lines);
  }
  if (PyErr_Occurred() != nullptr) {
    put_off();
    stops = true;
  } else {
    auto* known = reinterpret_cast<void*>(since << 1U | (stops ? 1U : 0U));
    if (_PyCode_SetExtra(code, frames.known_at, known) < 0) {
      PyErr_Clear();
    }
  }
  own.learns = false;
  PyErr_Restore(type, value, trace);
  return stops;
}

bool stops_somewhere() {
  return frames.wanted.lines || frames.wanted.outermost;
}

// Whether nothing can stop at the line at which `frame` stands.
bool passes(PyObject* object, PyObject* file) {
  if (frames.everywhere || frames.lines == nullptr) {
    return false;
  }
  auto* frame = reinterpret_cast<PyFrameObject*>(object);
  PyObject* lines = PyDict_GetItemWithError(frames.lines, file);
  PyObject* line = lines != nullptr
      ? PyLong_FromLong(PyFrame_GetLineNumber(frame))
      : nullptr;
  const int stops = line != nullptr ? PySet_Contains(lines, line) : 1;
  Py_XDECREF(line);
  PyErr_Clear();
  return stops == 0;
}

// A generator or a coroutine has returned, has raised or waits. It may do each
// at any line, and debugpy does not tell an exception from waiting.
void tell_left(PyObject* frame, int flags, bool raises) {
  PyObject* left = Py_XNewRef((flags & kWaits) != 0 ? frames.left : nullptr);
  if (left != nullptr) {
    PyObject* result = PyObject_CallFunctionObjArgs(
        left, frame, raises ? Py_True : Py_False, nullptr);
    if (result == nullptr) {
      put_off();
    }
    Py_XDECREF(result);
    Py_DECREF(left);
  }
}

// How deep a thread is.

// Frames of Python take no room on the C stack in 3.11, but those that begin
// with us do: a deep recursion must not end the program.
bool may_be_deep() {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) <
      own.deep_below;
}

// As above, when the thread has looked how large its stack is.
bool is_deep() {
  if (own.deep_below == UINTPTR_MAX) {
    pthread_attr_t attributes;
    void* lowest = nullptr;
    std::size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      pthread_attr_getstack(&attributes, &lowest, &size);
      pthread_attr_destroy(&attributes);
    }
    own.deep_below = reinterpret_cast<std::uintptr_t>(lowest) + size / 2;
  }
  return may_be_deep();
}

// What reads the interpreter's loop: as one version of Python has it.
template <typename Python>
struct Door {
  using State = typename Python::State;
  using Loop = typename Python::Loop;
  using Frame = typename Python::Frame;
  using Code = typename Python::Code;

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

  // Calls `take(loop, whether something may stop in its frames)` from the
  // innermost run of the interpreter's loop outwards, until it returns false.
  // 3.10 does not initialize `previous` of a thread's first, which runs no
  // code.
  template <typename Take>
  static void each_loop(State* state, Take take) {
    Frame* next = Python::innermost(state);
    for (Loop* loop = state->loop; loop != nullptr;
         loop = loop == &state->root ? nullptr : loop->previous) {
      bool stops = false;
      Python::each_frame(state, loop, next, [&](const Frame* frame) {
        stops = may_stop_in(frame->code) ||
            (frames.wanted.outermost && frame->previous == nullptr);
        return !stops;
      });
      if (!take(loop, stops)) {
        return;
      }
    }
  }

  // Whether the innermost loop is to be traced. It is where one further out is:
  // if it began when we did not stand there, nobody will see it return.
  static bool is_wanted(State* state) {
    bool wanted = frames.everywhere;
    if (!wanted) {
      each_loop(state, [&](const Loop*, bool stops) {
        wanted = stops;
        return !wanted;
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
    }
    if (traced && state->trace == nullptr && frames.tracer != nullptr) {
      state->trace = trace;
    }
    loop->use_tracing = 0;
    if (traced || state->profile != nullptr) {
      loop->use_tracing = Python::kTraced;
    }
  }

  // The debugger's trace function, in front of which most lines are told apart
  // here. Whenever one has returned, the interpreter sets its switch if there
  // is one: so we take it away where a step has ended in a frame in which
  // nothing else stops.
  static int
  trace(PyObject* self, PyObject* frame, int what, PyObject* argument) {
    auto* state = reinterpret_cast<State*>(PyThreadState_Get());
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

  // Bring the loops that run in line with what is wanted, on all threads.
  static void settle() {
    ++frames.changes;
    for (State* state = first(); state != nullptr; state = state->next) {
      if (is_traced(state)) {
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
    frames.looks_at_each = frames.everywhere || frames.wanted.outermost;
  }

  static PyObject* evaluate_deep(State* state, Frame* frame, int thrown) {
    if (frames.deep++ == 0) {
      stand();
      settle();
    }
    PyObject* result = _PyEval_EvalFrameDefault(state, frame, thrown);
    if (--frames.deep == 0) {
      stand();
      settle();
    }
    return result;
  }

  // A frame that is traced, or begins in one, or of which nothing is known.
  __attribute__((noinline)) static PyObject*
  evaluate_other(State* state, Frame* frame, int thrown) {
    if (frames.lines_in == nullptr || own.learns) {
      return _PyEval_EvalFrameDefault(state, frame, thrown);
    }
    if (Python::kRecursesWithoutStack && is_deep()) {
      return evaluate_deep(state, frame, thrown);
    }
    const bool wanted = frames.everywhere || stops_in(state, frame->code) ||
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

  // Most frames pass by the first branch, as fast as may be.
  static PyObject* evaluate(void* thread, void* begun, int thrown) {
    auto* state = static_cast<State*>(thread);
    auto* frame = static_cast<Frame*>(begun);
    if (known(frame->code) == frames.known_since << 1U &&
        !frames.looks_at_each && state->loop->use_tracing == 0 &&
        !(Python::kRecursesWithoutStack && may_be_deep())) {
      const auto before = frames.changes;
      PyObject* result = _PyEval_EvalFrameDefault(state, frame, thrown);
      if (frames.changes != before && is_traced(state)) {
        set_traced(state, state->loop, is_wanted(state));
      }
      return result;
    }
    return evaluate_other(state, frame, thrown);
  }

  // Whether memory is as this file has it: a Python may be built in its own
  // way.
  static bool is_as_expected(PyObject* code) {
    auto* state = reinterpret_cast<State*>(PyThreadState_Get());
    PyObject* get = PySys_GetObject("gettrace");
    PyObject* tracer =
        get != nullptr ? PyObject_CallFunctionObjArgs(get, nullptr) : nullptr;
    PyObject* file = PyObject_GetAttrString(code, "co_filename");
    PyObject* flags = PyObject_GetAttrString(code, "co_flags");
    PyErr_Clear();
    const bool expected = state->interpreter == PyInterpreterState_Main() &&
        tracer == (state->tracer != nullptr ? state->tracer : Py_None) &&
        file == reinterpret_cast<Code*>(code)->filename && flags != nullptr &&
        PyLong_AsLong(flags) == reinterpret_cast<Code*>(code)->flags;
    Py_XDECREF(tracer);
    Py_XDECREF(file);
    Py_XDECREF(flags);
    return expected;
  }

  static void tell(PyObject* running) {
    auto* state = reinterpret_cast<State*>(PyThreadState_Get());
    const Py_ssize_t count = PyTuple_Size(running);
    for (Py_ssize_t index = 0; index < count; ++index) {
      stops_in(state, reinterpret_cast<Code*>(PyTuple_GetItem(running, index)));
      if (frames.lines_in == nullptr) { // somebody ended it meanwhile
        return;
      }
    }
    stand();
    settle();
  }

  static void give_back() {
    frames.everywhere = true;
    settle();
    for (State* state = first(); state != nullptr; state = state->next) {
      if (state->trace == trace) {
        state->trace = frames.tracer;
      }
    }
  }
};

// The one version that runs.

enum class Version : std::uint8_t { kOther, k310, k311 };

Version version() {
  const char* text = Py_GetVersion();
  if (std::strncmp(text, "3.10.", 5) == 0) {
    return Version::k310;
  }
  return std::strncmp(text, "3.11.", 5) == 0 ? Version::k311 : Version::kOther;
}

template <typename Call>
auto with_door(Call call) {
  return version() == Version::k310 ? call(Door<Python310>{})
                                    : call(Door<Python311>{});
}

} // namespace

int pyharness::breakpoints::begin_traced_frames(
    PyObject* lines_in,
    PyObject* tracers,
    PyObject* entries,
    PyObject* left) {
  if (version() == Version::kOther || PyTuple_Size(entries) < 1) {
    return 0;
  }
  PyObject* code = PyTuple_GetItem(entries, 0);
  if (!with_door([&](auto door) { return door.is_as_expected(code); })) {
    return 0;
  }
  if (frames.known_at < 0) {
    frames.known_at = _PyEval_RequestCodeExtraIndex(nullptr);
    if (frames.known_at < 0) {
      return 0;
    }
  }
  PyObject* lines = PyDict_New();
  if (lines == nullptr) {
    return -1;
  }
  end_traced_frames();
  ++frames.known_since;
  frames.lines = lines;
  frames.tracers = Py_NewRef(tracers);
  frames.entries = Py_NewRef(entries);
  frames.left = Py_NewRef(left);
  frames.lines_in = Py_NewRef(lines_in);
  return 1;
}

bool pyharness::breakpoints::change_traced_frames(
    Wanted wanted,
    bool forget,
    PyObject* running) {
  if (frames.lines_in == nullptr) {
    return true;
  }
  if (forget) {
    PyObject* lines = PyDict_New();
    if (lines == nullptr) {
      return false;
    }
    PyObject* before = frames.lines;
    frames.lines = lines;
    ++frames.known_since;
    Py_DECREF(before);
  }
  frames.wanted = wanted;
  with_door([&](auto door) { door.tell(running); });
  return true;
}

void pyharness::breakpoints::end_traced_frames() {
  if (frames.lines_in == nullptr) {
    return;
  }
  with_door([](auto door) { door.give_back(); });
  frames.wanted = {};
  Py_CLEAR(frames.lines_in);
  Py_CLEAR(frames.tracers);
  Py_CLEAR(frames.entries);
  Py_CLEAR(frames.left);
  Py_CLEAR(frames.lines);
  with_door([](auto door) { door.stand(); });
}
