// See resume_opcode.h. All state is guarded by the GIL.
#include <csrc/trap/frames/resume_opcode.h>

#include <csrc/trap/frames/frame_api.h>
#include <csrc/trap/frames/opcode_tables.h>

#include <cstdlib>

namespace {

using pyharness::breakpoints::OpcodeTables;
using pyharness::breakpoints::resume_opcode::Asked;

// An instruction that has had an opcode of ours, as long as its code lives.
struct Known {
  std::uint8_t* instruction = nullptr;
  Known* next_of_code = nullptr;
  Known* before = nullptr;
  Known* next = nullptr;
};

struct Opcodes {
  OpcodeTables tables;
  bool looked = false;
  Py_ssize_t known_at = -1; // where code keeps the first of what is Known
  Known* first = nullptr;
  // What the loop itself does for these.
  const void* resume = nullptr;
  const void* quick = nullptr;
  const void* traced = nullptr;

  [[nodiscard]] int always() const { // is asked about each time
    return tables.free[0];
  }
  [[nodiscard]] int never() const {
    return tables.free[1];
  }
};

constinit Opcodes opcodes;

void release(void* first_of_code) {
  for (auto* each = static_cast<Known*>(first_of_code); each != nullptr;) {
    Known* next = each->next_of_code;
    (each->before != nullptr ? each->before->next : opcodes.first) = each->next;
    if (each->next != nullptr) {
      each->next->before = each->before;
    }
    std::free(each);
    each = next;
  }
}

Known* made(std::uint8_t* instruction) {
  auto* known = static_cast<Known*>(std::malloc(sizeof(Known)));
  if (known != nullptr) {
    *known = {instruction, nullptr, nullptr, opcodes.first};
    if (opcodes.first != nullptr) {
      opcodes.first->before = known;
    }
    opcodes.first = known;
  }
  return known;
}

bool keep(PyObject* code, std::uint8_t* instruction) {
  void* found = nullptr;
  if (_PyCode_GetExtra(code, opcodes.known_at, &found) < 0) {
    PyErr_Clear();
    return false;
  }
  auto* first = static_cast<Known*>(found);
  for (const Known* each = first; each != nullptr; each = each->next_of_code) {
    if (each->instruction == instruction) {
      return true;
    }
  }
  Known* known = made(instruction);
  if (known == nullptr) {
    return false;
  }
  if (first != nullptr) {
    known->next_of_code = first->next_of_code;
    first->next_of_code = known;
  } else if (_PyCode_SetExtra(code, opcodes.known_at, known) < 0) {
    PyErr_Clear();
    release(known);
    return false;
  }
  return true;
}

void set(PyObject* code, std::uint8_t* instruction, int opcode) {
  if (*instruction != opcode && keep(code, instruction)) {
    *instruction = static_cast<std::uint8_t>(opcode);
  }
}

} // namespace

extern "C" {

// What the stub below reads.
__attribute__((visibility("hidden"))) Asked pyharness_asked = nullptr;
__attribute__((visibility("hidden"))) const void* pyharness_goes_on = nullptr;
// In the first instruction of RESUME: to whoever reads the stack, the loop
// stands there.
__attribute__((visibility("hidden"))) const void* pyharness_stands_at = nullptr;
__attribute__((visibility("hidden"))) void pyharness_resume();
}

#if defined(__x86_64__)
// The loop jumps here with what it has in registers, as to any of its own
// instructions, and must find all of it again: also below the stack pointer,
// and in the vector registers, where compilers keep integers.
__asm__(R"(
  .text
  .p2align 4
  .hidden pyharness_resume
  .globl pyharness_resume
  .type pyharness_resume, @function
pyharness_resume:
  .cfi_startproc
  .cfi_def_cfa rsp, 0
  .cfi_undefined rip
  endbr64
  leaq -128(%rsp), %rsp
  .cfi_def_cfa_offset 128
  pushq pyharness_stands_at(%rip)
  .cfi_def_cfa_offset 136
  .cfi_offset rip, -136
  pushfq
  .cfi_def_cfa_offset 144
  pushq %rax
  .cfi_def_cfa_offset 152
  .cfi_offset rax, -152
  pushq %rcx
  .cfi_def_cfa_offset 160
  .cfi_offset rcx, -160
  pushq %rdx
  .cfi_def_cfa_offset 168
  .cfi_offset rdx, -168
  pushq %rbx
  .cfi_def_cfa_offset 176
  .cfi_offset rbx, -176
  pushq %rbp
  .cfi_def_cfa_offset 184
  .cfi_offset rbp, -184
  pushq %rsi
  .cfi_def_cfa_offset 192
  .cfi_offset rsi, -192
  pushq %rdi
  .cfi_def_cfa_offset 200
  .cfi_offset rdi, -200
  pushq %r8
  .cfi_def_cfa_offset 208
  .cfi_offset r8, -208
  pushq %r9
  .cfi_def_cfa_offset 216
  .cfi_offset r9, -216
  pushq %r10
  .cfi_def_cfa_offset 224
  .cfi_offset r10, -224
  pushq %r11
  .cfi_def_cfa_offset 232
  .cfi_offset r11, -232
  pushq %r12
  .cfi_def_cfa_offset 240
  .cfi_offset r12, -240
  pushq %r13
  .cfi_def_cfa_offset 248
  .cfi_offset r13, -248
  pushq %r14
  .cfi_def_cfa_offset 256
  .cfi_offset r14, -256
  pushq %r15
  .cfi_def_cfa_offset 264
  .cfi_offset r15, -264
  movq %rsp, %rbx
  .cfi_def_cfa_register rbx
  subq $512, %rsp
  andq $-64, %rsp
  fxsave64 (%rsp)
  call *pyharness_asked(%rip)
  movq %rax, pyharness_goes_on(%rip)
  fxrstor64 (%rsp)
  movq %rbx, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %r11
  popq %r10
  popq %r9
  popq %r8
  popq %rdi
  popq %rsi
  popq %rbp
  popq %rbx
  popq %rdx
  popq %rcx
  popq %rax
  popfq
  leaq 136(%rsp), %rsp
  jmp *pyharness_goes_on(%rip)
  .cfi_endproc
  .size pyharness_resume, . - pyharness_resume
)");
#endif

bool pyharness::breakpoints::resume_opcode::begin(Asked asked) {
#if defined(__x86_64__)
  if (!opcodes.looked) {
    opcodes.looked = true;
    opcodes.known_at = _PyEval_RequestCodeExtraIndex(release);
    if (opcodes.known_at < 0) {
      return false;
    }
    opcodes.tables = find_opcode_tables();
  }
  auto& tables = opcodes.tables;
  if (!tables.found()) {
    return false;
  }
  const auto* stub = reinterpret_cast<const void*>(&pyharness_resume);
  if (opcodes.resume == nullptr) {
    opcodes.resume = tables.handlers[OpcodeTables::kResume];
    opcodes.quick = tables.handlers[tables.resume_quick];
    opcodes.traced = tables.handlers[OpcodeTables::kTraced];
    pyharness_stands_at = static_cast<const char*>(opcodes.resume) + 1;
  }
  pyharness_asked = asked;
  tables.forms[opcodes.always()] = OpcodeTables::kResume;
  tables.forms[opcodes.never()] = OpcodeTables::kResume;
  tables.handlers[opcodes.never()] = opcodes.quick;
  tables.handlers[opcodes.always()] = stub;
  tables.handlers[OpcodeTables::kResume] = stub;
  tables.handlers[tables.resume_quick] = stub;
  return true;
#else
  (void)asked;
  return false;
#endif
}

void pyharness::breakpoints::resume_opcode::end() {
  auto& tables = opcodes.tables;
  if (opcodes.resume != nullptr) {
    forget();
    tables.handlers[OpcodeTables::kResume] = opcodes.resume;
    tables.handlers[tables.resume_quick] = opcodes.quick;
  }
}

const void* pyharness::breakpoints::resume_opcode::handler_of(
    const std::uint8_t* instruction) {
  const int opcode = *instruction;
  if (opcode == OpcodeTables::kResume || opcode == opcodes.always()) {
    return opcodes.resume;
  }
  return opcode == opcodes.tables.resume_quick || opcode == opcodes.never()
      ? opcodes.quick
      : nullptr;
}

const void* pyharness::breakpoints::resume_opcode::resumed() {
  return opcodes.resume;
}

const void* pyharness::breakpoints::resume_opcode::traced() {
  return opcodes.traced;
}

void pyharness::breakpoints::resume_opcode::ask_always(
    PyObject* code,
    std::uint8_t* instruction) {
  set(code, instruction, opcodes.always());
}

void pyharness::breakpoints::resume_opcode::ask_never(
    PyObject* code,
    std::uint8_t* instruction,
    bool warm) {
  set(code, instruction, warm ? opcodes.never() : OpcodeTables::kResume);
}

void pyharness::breakpoints::resume_opcode::forget() {
  for (const Known* each = opcodes.first; each != nullptr; each = each->next) {
    const int opcode = *each->instruction == opcodes.never()
        ? opcodes.tables.resume_quick
        : OpcodeTables::kResume;
    *each->instruction = static_cast<std::uint8_t>(opcode);
  }
}
