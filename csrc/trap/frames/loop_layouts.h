// The interpreter's loop in memory, as far as frame_door.h reads it: one
// struct for each version that has a switch for tracing there.
//
// Include/cpython/pystate.h and code.h of CPython 3.10 and 3.11;
// Include/cpython/frameobject.h of 3.10, Include/internal/pycore_frame.h of
// 3.11. Those versions change no more.
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>

namespace pyharness::breakpoints {

using TraceFunction =
    int (*)(PyObject* self, PyObject* frame, int what, PyObject* argument);

// What `co_extra` points to: _PyCodeObjectExtra of Objects/codeobject.c.
struct CodeExtra {
  Py_ssize_t size;
  std::uintptr_t each[1];
};

struct Python310 {
  static constexpr int kTraced = 1;
  static constexpr bool kRecursesWithoutStack = false;
  static constexpr bool kAsks = false; // resume_opcode.h

  struct Code {
    std::byte before[36];
    int flags;
    std::byte names[64];
    PyObject* filename;
    std::byte between[32];
    CodeExtra* extra;
  };
  struct Frame {
    std::byte before[24];
    Frame* previous;
    Code* code;
  };
  struct Loop { // CFrame
    int use_tracing;
    Loop* previous;
  };
  struct State {
    State* prev;
    State* next;
    void* interpreter;
    Frame* frame;
    std::byte between[12];
    int tracing;
    Loop* loop;
    void* profile;
    TraceFunction trace;
    PyObject* profiler;
    PyObject* tracer;
    std::byte errors[72];
    int references;
    std::byte after[100];
    Loop root;
  };

  static Frame* innermost(State* state) {
    return state->frame;
  }

  // Calls `take(frame)` for the frames of a loop, until it returns false. One
  // loop runs one frame: `next`, which becomes that of the next loop outwards.
  template <typename Take>
  static void each_frame(State* state, Loop* loop, Frame*& next, Take take) {
    if (loop != &state->root && next != nullptr) {
      take(next);
      next = next->previous;
    }
  }

  static bool is_outermost(State* state) {
    return state->frame == nullptr;
  }
};

struct Python311 {
  static constexpr std::uint8_t kTraced = 255; // or'ed into each opcode
  static constexpr bool kRecursesWithoutStack = true;
  static constexpr bool kAsks = true;

  struct Code {
    std::byte before[16];
    Py_ssize_t count; // of instructions, with what each keeps behind it
    std::byte objects[24];
    int flags;
    std::int16_t to_warm_up; // calls and loops until it is quick, negative; 0
    std::byte names[58];
    PyObject* filename;
    std::byte between[56];
    CodeExtra* extra;
    std::uint8_t instructions[2]; // opcode and argument, of the first one
  };
  struct Frame { // _PyInterpreterFrame
    std::byte before[32];
    Code* code;
    void* object;
    Frame* previous;
    std::uint8_t* instruction; // that was executed last
    int top;
    bool is_entry;
  };
  struct Loop { // _PyCFrame
    std::uint8_t use_tracing;
    Frame* frame;
    Loop* previous;
  };
  struct State {
    State* prev;
    State* next;
    void* interpreter;
    std::byte between[20];
    int tracing;
    std::byte what[8];
    Loop* loop;
    void* profile;
    TraceFunction trace;
    PyObject* profiler;
    PyObject* tracer;
    std::byte errors[40];
    int references;
    std::byte after[196];
    Loop root;
  };

  static Frame* innermost(State*) {
    return nullptr; // each loop has its own
  }

  // As above; a loop runs the frames that were inlined into it, too.
  template <typename Take>
  static void each_frame(State*, Loop* loop, Frame*&, Take take) {
    for (Frame* frame = loop->frame; frame != nullptr;
         frame = frame->previous) {
      if (!take(frame) || frame->is_entry) {
        return;
      }
    }
  }

  static bool is_outermost(State* state) {
    return state->loop->frame == nullptr;
  }

  // Where the frame goes on, if what it executed last keeps nothing behind it;
  // null where that is in no code.
  static std::uint8_t* next_instruction(Frame* frame) {
    std::uint8_t* next = frame->instruction + sizeof(Code::instructions);
    const auto at = next - frame->code->instructions;
    const auto size = static_cast<std::ptrdiff_t>(
        frame->code->count * sizeof(Code::instructions));
    return at >= 0 && at < size ? next : nullptr;
  }
};

static_assert(offsetof(Python310::Code, extra) == 144);
static_assert(offsetof(Python310::Frame, code) == 32);
static_assert(offsetof(Python310::State, tracing) == 44);
static_assert(offsetof(Python310::State, loop) == 48);
static_assert(offsetof(Python310::State, tracer) == 80);
static_assert(offsetof(Python310::State, references) == 160);
static_assert(offsetof(Python310::State, root) == 264);
static_assert(offsetof(Python311::Code, extra) == 176);
static_assert(offsetof(Python311::Code, to_warm_up) == 52);
static_assert(offsetof(Python311::Code, filename) == 112);
static_assert(offsetof(Python311::Code, instructions) == 184);
static_assert(offsetof(Python311::Frame, previous) == 48);
static_assert(offsetof(Python311::Frame, instruction) == 56);
static_assert(offsetof(Python311::Frame, is_entry) == 68);
static_assert(offsetof(Python311::State, tracing) == 44);
static_assert(offsetof(Python311::State, loop) == 56);
static_assert(offsetof(Python311::State, tracer) == 88);
static_assert(offsetof(Python311::State, references) == 136);
static_assert(offsetof(Python311::State, root) == 336);

} // namespace pyharness::breakpoints
