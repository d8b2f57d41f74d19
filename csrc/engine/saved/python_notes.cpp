// See python_notes.h. A thread of C++ that writes works for one that runs
// Python, mostly for the one that saved the tensor: that one waits, and its
// frames stand. It may run instead, so all of it is read as of another process:
// what is gone by then is an error of a call, and no crash.
#include <csrc/engine/saved/python_notes.h>

#include <csrc/engine/python_frames.h>

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>

namespace pyharness::engine {

namespace {

// Copies memory: this thread's own as it is, another's by the system, which
// says where there is none.
class Reader {
 public:
  explicit Reader(bool own) : own_(own) {}

  bool read(const void* from, void* to, std::size_t size) const {
    if (from == nullptr) {
      return false;
    }
    if (own_) {
      std::memcpy(to, from, size);
      return true;
    }
    const iovec local{to, size};
    const iovec remote{const_cast<void*>(from), size};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) ==
        static_cast<ssize_t>(size);
  }

  template <typename Value>
  bool read(const Value* from, Value& to) const {
    return read(
        static_cast<const void*>(from), static_cast<void*>(&to), sizeof(Value));
  }

 private:
  bool own_;
};

// --- texts -------------------------------------------------------------------

// Appends a code point as UTF-8 to a text that ends within `room`.
std::size_t append(std::span<char> room, std::size_t at, Py_UCS4 point) {
  std::array<char, 4> bytes{};
  std::size_t count = 0;
  const auto part = [&](Py_UCS4 bits) {
    bytes[count++] = static_cast<char>(bits);
  };
  if (point < 0x80) {
    part(point);
  } else if (point < 0x800) {
    part(0xC0 | point >> 6);
    part(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    part(0xE0 | point >> 12);
    part(0x80 | (point >> 6 & 0x3F));
    part(0x80 | (point & 0x3F));
  } else {
    part(0xF0 | point >> 18);
    part(0x80 | (point >> 12 & 0x3F));
    part(0x80 | (point >> 6 & 0x3F));
    part(0x80 | (point & 0x3F));
  }
  if (at + count >= room.size()) {
    return at;
  }
  std::copy_n(bytes.begin(), count, room.begin() + at);
  return at + count;
}

constexpr std::size_t kMostText = 400;

// A str as UTF-8, cut where it is too long; false where it is none.
bool copy_text(const Reader& from, const PyObject* text, std::span<char> room) {
  room[0] = '\0';
  PyASCIIObject head;
  if (!from.read(reinterpret_cast<const PyASCIIObject*>(text), head) ||
      Py_TYPE(reinterpret_cast<PyObject*>(&head)) != &PyUnicode_Type) {
    return false;
  }
  const auto kind = static_cast<std::size_t>(head.state.kind);
  const auto length = std::min<std::size_t>(head.length, kMostText);
  const auto* data = reinterpret_cast<const char*>(text) +
      (head.state.ascii ? sizeof(PyASCIIObject)
                        : sizeof(PyCompactUnicodeObject));
  std::array<unsigned char, kMostText * sizeof(Py_UCS4)> bytes;
  if (!head.state.compact || (kind != 1 && kind != 2 && kind != 4) ||
      !from.read(static_cast<const void*>(data), bytes.data(), length * kind)) {
    return false;
  }
  std::size_t at = 0;
  for (std::size_t i = 0; i < length; ++i) {
    Py_UCS4 point = 0;
    std::memcpy(&point, bytes.data() + i * kind, kind);
    at = append(room, at, point);
  }
  room[at] = '\0';
  return true;
}

// --- frames ------------------------------------------------------------------

// A code object, without its instructions.
bool read_code(
    const Reader& from,
    const PyCodeObject* code,
    PyCodeObject& into) {
  return from.read(code, into) &&
      Py_TYPE(reinterpret_cast<PyObject*>(&into)) == &PyCode_Type;
}

PyObject* name_in(const PyCodeObject& code) {
#if PY_VERSION_HEX >= 0x030B0000
  return code.co_qualname;
#else
  return code.co_name;
#endif
}

// False where it is no frame.
bool describe(
    const Reader& from,
    PyCodeObject* code,
    std::int32_t instruction,
    Write::PythonLine& line) {
  PyCodeObject head;
  line.code = code;
  line.instruction = instruction;
  line.line = 0;
  if (!read_code(from, code, head)) {
    return false;
  }
  line.first_line = head.co_firstlineno;
  return copy_text(from, head.co_filename, line.file) &&
      copy_text(from, name_in(head), line.function);
}

// As each_python_frame, of a thread that may run.
template <typename Take>
void each_frame_of(const Reader& from, PyThreadState* state, Take take) {
#if !defined(PYHARNESS_PYTHON_FRAMES)
  (void)from;
  (void)state;
  (void)take;
#elif PY_VERSION_HEX >= 0x030B0000
  _PyInterpreterFrame* at = nullptr;
#if PY_VERSION_HEX >= 0x030D0000
  from.read(&state->current_frame, at);
#else
  _PyCFrame* on_stack = nullptr;
  from.read(&state->cframe, on_stack);
  from.read(&on_stack->current_frame, at);
#endif
  _PyInterpreterFrame frame;
  while (from.read(at, frame)) {
    if (!is_shim(&frame) && !take(described(&frame))) {
      return;
    }
    at = frame.previous;
  }
#else
  PyFrameObject* at = nullptr;
  from.read(&state->frame, at);
  PyFrameObject frame;
  while (from.read(at, frame)) {
    const auto instruction =
        static_cast<std::int32_t>(frame.f_lasti * sizeof(_Py_CODEUNIT));
    if (!take(PythonFrame{frame.f_code, instruction, nullptr})) {
      return;
    }
    at = frame.f_back;
  }
#endif
}

} // namespace

void note_python(Write& write, const Saver& saver) {
  write.python_count = 0;
  const bool own = PyGILState_GetThisThreadState() != nullptr;
  const Reader from(own);
  const auto take = [&](const PythonFrame& frame) {
    auto& line = write.python[write.python_count];
    if (!describe(from, frame.code, frame.instruction, line)) {
      return false;
    }
    line.line = own ? PyCode_Addr2Line(frame.code, frame.instruction)
                    : line.line;
    ++write.python_count;
    return write.python_count < write.python.size();
  };
  if (own) {
    write.python_thread = write.thread;
    each_python_frame(take);
  } else if (auto* state = saver.state.load()) {
    write.python_thread = saver.thread.load();
    each_frame_of(from, static_cast<PyThreadState*>(state), take);
  }
}

int line_of(const Write::PythonLine& frame) {
  const Reader from(/*own=*/false);
  auto* code = static_cast<PyCodeObject*>(frame.code);
  PyCodeObject head;
  std::array<char, sizeof(frame.file)> file;
  if (frame.line > 0 || !read_code(from, code, head)) {
    return frame.line;
  }
  const bool same = head.co_firstlineno == frame.first_line &&
      copy_text(from, head.co_filename, file) &&
      std::strcmp(file.data(), frame.file.data()) == 0;
  return same ? PyCode_Addr2Line(code, frame.instruction) : 0;
}

} // namespace pyharness::engine
