// See traced_frames.h. All state is guarded by the GIL.
#include <csrc/trap/frames/traced_frames.h>

#include <csrc/trap/frames/frame_api.h>
#include <csrc/trap/frames/frame_door.h>
#include <csrc/trap/frames/loop_layouts.h>
#include <csrc/trap/frames/resume_opcode.h>
#include <csrc/trap/frames/tracing_state.h>

#include <cstdint>
#include <cstring>

namespace pyharness::breakpoints {

constinit Frames frames;
constinit __attribute__((tls_model("initial-exec"))) thread_local Thread own;

namespace {

// The one version that runs.

enum class Version : std::uint8_t { kOther, k310, k311 };

Version version() {
  const char* text = Py_GetVersion();
  if (std::strncmp(text, "3.10.", 5) == 0) {
    return Version::k310;
  }
  return std::strncmp(text, "3.11.", 5) == 0 ? Version::k311 : Version::kOther;
}

// Whoever knows code from before passes by no more, from this moment on.
void forget_code() {
  ++frames.known_since;
  frames.passing = kNoneMayPass;
  frames.waits = false;
  if (frames.asked) {
    resume_opcode::forget();
  }
}

template <typename Call>
auto with_door(Call call) {
  return version() == Version::k310 ? call(FrameDoor<Python310>{})
                                    : call(FrameDoor<Python311>{});
}

} // namespace

int begin_traced_frames(
    PyObject* lines_in,
    PyObject* tracers,
    PyObject* entries,
    PyObject* left,
    PyObject* adopt) {
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
  frames.asked = version() == Version::k311 &&
      resume_opcode::begin(FrameDoor<Python311>::resumes);
  forget_code();
  frames.lines = lines;
  frames.tracers = Py_NewRef(tracers);
  frames.entries = Py_NewRef(entries);
  frames.left = Py_NewRef(left);
  frames.adopt = Py_NewRef(adopt);
  frames.lines_in = Py_NewRef(lines_in);
  return frames.asked ? 2 : 1;
}

bool change_traced_frames(Wanted wanted, bool forget, PyObject* running) {
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
    forget_code();
    Py_DECREF(before);
  }
  const bool changed = forget || wanted != frames.wanted;
  frames.wanted = wanted;
  with_door([&](auto door) { door.tell(running, changed); });
  return true;
}

void end_traced_frames() {
  if (frames.lines_in == nullptr) {
    return;
  }
  with_door([](auto door) { door.give_back(); });
  frames.wanted = {};
  Py_CLEAR(frames.lines_in);
  Py_CLEAR(frames.tracers);
  Py_CLEAR(frames.entries);
  Py_CLEAR(frames.left);
  Py_CLEAR(frames.adopt);
  Py_CLEAR(frames.lines);
  with_door([](auto door) { door.stand(); });
  if (frames.asked) {
    frames.asked = false;
    resume_opcode::end();
  }
}

} // namespace pyharness::breakpoints
