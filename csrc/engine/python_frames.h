// The frames of the Python code that runs on the calling thread, read without
// the GIL: a thread's own frames change only when it runs Python itself.
//
// Layouts: Include/internal/pycore_interpframe_structs.h of CPython 3.14 and
// 3.15, Include/internal/pycore_frame.h of 3.11 to 3.13,
// Include/cpython/frameobject.h of 3.10.
#pragma once

#include <Python.h>

#define PYHARNESS_PYTHON_FRAMES 1
#if PY_VERSION_HEX >= 0x03100000
#undef PYHARNESS_PYTHON_FRAMES // not known
#elif PY_VERSION_HEX >= 0x030E0000
#define Py_BUILD_CORE
#include <internal/pycore_frame.h>
#include <internal/pycore_interpframe_structs.h>
#undef Py_BUILD_CORE
#elif PY_VERSION_HEX >= 0x030B0000
#define Py_BUILD_CORE
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE
#else
#include <frameobject.h>
#endif

#include <cstdint>

namespace pyharness::engine {

struct PythonFrame {
  PyCodeObject* code;
  std::int32_t instruction; // as f_lasti of a frame object: in bytes
  PyObject* first_local; // `self` of a method; null where it is not set
};

// Where the innermost frame stands: while something that it called has not
// returned, equal positions mean that no Python has been called in between.
struct PythonPosition {
  const void* frame = nullptr;
  const void* instruction = nullptr;

  bool operator==(const PythonPosition&) const = default;
};

#ifndef PYHARNESS_PYTHON_FRAMES

template <typename Take>
void each_python_frame(Take) {}

inline PythonPosition python_position() {
  return {};
}

#elif PY_VERSION_HEX >= 0x030B0000

inline _PyInterpreterFrame* innermost_frame(PyThreadState* state) {
#if PY_VERSION_HEX >= 0x030D0000
  return state->current_frame;
#else
  return state->cframe->current_frame;
#endif
}

inline PythonPosition python_position() {
  auto* state = PyGILState_GetThisThreadState();
  auto* frame = state != nullptr ? innermost_frame(state) : nullptr;
  if (frame == nullptr) {
    return {};
  }
#if PY_VERSION_HEX >= 0x030D0000
  return {frame, frame->instr_ptr};
#else
  return {frame, frame->prev_instr};
#endif
}

// _PyCode_CODE, which 3.14 keeps to itself.
inline _Py_CODEUNIT* instructions_of(PyCodeObject* code) {
  return reinterpret_cast<_Py_CODEUNIT*>(code->co_code_adaptive);
}

#if PY_VERSION_HEX >= 0x030E0000
// Two low bits of a reference say who counts it.
inline PyObject* object_of(_PyStackRef reference) {
  constexpr std::uintptr_t kTags = 3;
  return reinterpret_cast<PyObject*>(reference.bits & ~kTags);
}
#else
inline PyObject* object_of(PyObject* reference) {
  return reference;
}
#endif

inline PythonFrame described(_PyInterpreterFrame* frame) {
#if PY_VERSION_HEX >= 0x030D0000
  auto* code = reinterpret_cast<PyCodeObject*>(object_of(frame->f_executable));
  const auto* at = frame->instr_ptr;
#else
  auto* code = frame->f_code;
  const auto* at = frame->prev_instr;
#endif
  const auto units = at - instructions_of(code);
  return {
      code,
      static_cast<std::int32_t>(units * sizeof(_Py_CODEUNIT)),
      object_of(frame->localsplus[0])};
}

// Whether it stands for a piece of C that calls Python, not for code.
inline bool is_shim([[maybe_unused]] const _PyInterpreterFrame* frame) {
#if PY_VERSION_HEX >= 0x030E0000
  return frame->owner >= FRAME_OWNED_BY_INTERPRETER;
#elif PY_VERSION_HEX >= 0x030C0000
  return frame->owner == FRAME_OWNED_BY_CSTACK;
#else
  return false;
#endif
}

// Calls `take(frame)` from the innermost outward, until it returns false.
template <typename Take>
void each_python_frame(Take take) {
  auto* state = PyGILState_GetThisThreadState();
  auto* frame = state != nullptr ? innermost_frame(state) : nullptr;
  for (; frame != nullptr; frame = frame->previous) {
    if (!is_shim(frame) && !take(described(frame))) {
      return;
    }
  }
}

#else

inline PythonPosition python_position() {
  auto* state = PyGILState_GetThisThreadState();
  auto* frame = state != nullptr ? state->frame : nullptr;
  if (frame == nullptr) {
    return {};
  }
  return {
      frame,
      reinterpret_cast<const void*>(
          static_cast<std::uintptr_t>(frame->f_lasti + 1))};
}

template <typename Take>
void each_python_frame(Take take) {
  auto* state = PyGILState_GetThisThreadState();
  auto* frame = state != nullptr ? state->frame : nullptr;
  for (; frame != nullptr; frame = frame->f_back) {
    const auto instruction =
        static_cast<std::int32_t>(frame->f_lasti * sizeof(_Py_CODEUNIT));
    if (!take(
            PythonFrame{frame->f_code, instruction, frame->f_localsplus[0]})) {
      return;
    }
  }
}

#endif

} // namespace pyharness::engine
