// Calls by gdb that end well without it; x86-64 Linux.
//
// gdb has a called function return to an address at the top of the stack that
// the thread has, where gdb's breakpoint is. The stack that we give it there
// lies in a *gate*, a piece of code: without gdb that return is a SIGTRAP, and
// the guard's. The thread's instruction pointer waits in the gate, too, while
// gdb prepares the call and cleans up: whenever gdb goes, the thread comes to
// the gate's end, and from there to the guard. Only pyharness_guarded_call uses
// the gate as a stack, and at once goes over to the thread's own. A signal may
// come before it does, as one that waits since the thread stopped: the kernel
// puts that signal's frame below a gate, where a gate's *room* can be written.
//
// What a person asks of gdb needs the frame that the thread stands in, so those
// calls begin and end there: that return is a SIGSEGV (a stack is no code), and
// handled for the time of the expression.
#include <csrc/guard/guarded_call.h>

#include <csrc/guard/system_call.h>

#include <cpuid.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <iterator>

#define PYHARNESS_CALLS 8
// What gdb writes begins 128 bytes below a gate's end, what the kernel writes
// 128 below that: by then it has to be in the room.
#define PYHARNESS_GATE_SIZE 256
#define PYHARNESS_GATE_ROOM 28672
#define PYHARNESS_GATE_PAGE 4096
#define PYHARNESS_TEXT(value) PYHARNESS_TEXT_OF(value)
#define PYHARNESS_TEXT_OF(value) #value

namespace {

// gdb knows this layout: pyharness/ingdb/calls/guarded_call.py.
struct alignas(64) GuardedCall {
  uint64_t function; // int (*)()
  int64_t result;
  uint64_t thread; // the kernel's id of the thread that calls; 0 for none
  uint64_t is_expression; // whether gdb itself calls functions
  int64_t system_call; // that the thread is held in, orig_rax; or -1
  uint64_t registers[18]; // as kRegisters
  uint64_t gate_stack;
  uint64_t has_vectors;
  alignas(64) uint8_t vectors[16384]; // as XSAVE or FXSAVE writes them
};

// What gdb has to know, found by the name of the variable. That has a new
// number whenever this or GuardedCall changes: the program may have another
// pyharness than gdb, which then calls without a guard.
struct GuardedCalls {
  uint64_t is_allowed;
  uint64_t calls;
  uint64_t call_count;
  uint64_t call_size;
  uint64_t gates;
  uint64_t gate_size;
  uint64_t gate_stride; // from one gate to the next
  uint64_t call; // pyharness_guarded_call
  uint64_t expression_begins; // int (*)()
  uint64_t expression_ends; // int (*)()
};

constexpr int kRegisters[] = {
    REG_RAX,
    REG_RBX,
    REG_RCX,
    REG_RDX,
    REG_RSI,
    REG_RDI,
    REG_RBP,
    REG_RSP,
    REG_R8,
    REG_R9,
    REG_R10,
    REG_R11,
    REG_R12,
    REG_R13,
    REG_R14,
    REG_R15,
    REG_RIP,
    REG_EFL};
constexpr size_t kStackPointer = 7; // in GuardedCall::registers
constexpr size_t kInstructionPointer = 16;
constexpr uint64_t kGateStride = PYHARNESS_GATE_ROOM + PYHARNESS_GATE_PAGE;
constexpr uint64_t kCallDepth = 256; // what gdb's call itself takes of a stack
constexpr greg_t kTrapFlag = 0x100; // TF of RFLAGS: the thread single-steps
// What the kernel answers for a system call that it will begin again, seen only
// by a debugger (include/linux/errno.h).
constexpr greg_t kFirstRestart = -516;
constexpr greg_t kLastRestart = -512;
// A signal frame has the vector registers as XSAVE writes them. In the first
// part, as old as FXSAVE, the kernel says how much it saved (asm/sigcontext.h).
constexpr size_t kLegacySize = 512;
constexpr size_t kSoftwareBytes = 464;
constexpr uint32_t kExtended = 0x46505853; // FP_XSTATE_MAGIC1
struct SoftwareBytes {
  uint32_t magic;
  uint32_t extended_size;
  uint64_t features;
  uint32_t size;
};

struct sigaction fault_action;
struct sigaction previous_fault_action;

static_assert(sizeof(GuardedCall) == 16640);
static_assert(offsetof(GuardedCall, function) == 0);
static_assert(offsetof(GuardedCall, result) == 8);
static_assert(offsetof(GuardedCall, registers) + kStackPointer * 8 == 96);
static_assert(offsetof(GuardedCall, gate_stack) == 184);
static_assert(offsetof(GuardedCall, has_vectors) == 192);
static_assert(offsetof(GuardedCall, vectors) == 256);

} // namespace

extern "C" {

__attribute__((visibility("hidden"))) extern const uint8_t pyharness_gates[];
__attribute__((visibility("hidden"))) uint64_t pyharness_has_xsave = 0;
__attribute__((
    visibility("hidden"))) GuardedCall pyharness_calls[PYHARNESS_CALLS];

__attribute__((visibility("hidden"))) void pyharness_guarded_call();
__attribute__((visibility("default"))) GuardedCalls pyharness_guarded_calls_2;
}

// pyharness_guarded_call(GuardedCall*): below the thread's own frames, past the
// 128 bytes that a function may use there, the call's function runs.
asm(".pushsection .text\n"
    ".balign " PYHARNESS_TEXT(PYHARNESS_GATE_PAGE) "\n"
    ".set pyharness_gates, . + " PYHARNESS_TEXT(PYHARNESS_GATE_ROOM) "\n"
    ".set number, 0\n"
    ".rept " PYHARNESS_TEXT(PYHARNESS_CALLS) "\n"
    "  .zero " PYHARNESS_TEXT(PYHARNESS_GATE_ROOM) "\n"
    "  .fill " PYHARNESS_TEXT(PYHARNESS_GATE_SIZE) " - 32, 1, 0x90\n" // nop
    "  lea pyharness_calls + number * 16640(%rip), %rdi\n"
    "  mov 96(%rdi), %rsp\n" // the thread's
    "  add $-128, %rsp\n"
    "  int3\n"
    "  .balign " PYHARNESS_TEXT(PYHARNESS_GATE_PAGE) "\n"
    "  .set number, number + 1\n"
    ".endr\n"
    ".type pyharness_guarded_call, @function\n"
    "pyharness_guarded_call:\n"
    "  .cfi_startproc\n"
    "  .cfi_undefined rip\n"
    "  mov %rsp, 184(%rdi)\n" // gate_stack
    "  mov 96(%rdi), %rsp\n" // the thread's
    "  sub $128, %rsp\n"
    "  and $-64, %rsp\n"
    "  push %rdi\n"
    "  push %rbp\n"
    "  mov $-1, %eax\n"
    "  mov $-1, %edx\n"
    "  cmpq $0, pyharness_has_xsave(%rip)\n"
    "  je 1f\n"
    "  xsave64 256(%rdi)\n"
    "  jmp 2f\n"
    "1:\n"
    "  fxsave64 256(%rdi)\n"
    "2:\n"
    "  movq $1, 192(%rdi)\n" // has_vectors
    "  call *0(%rdi)\n"
    "  pop %rbp\n"
    "  pop %rdi\n"
    "  movslq %eax, %rcx\n"
    "  mov %rcx, 8(%rdi)\n" // result
    "  mov 184(%rdi), %rcx\n"
    "  mov 96(%rdi), %rsp\n"
    "  add $-128, %rsp\n"
    "  jmp *(%rcx)\n" // to gdb, which knows the call by rbp
    "  .cfi_endproc\n"
    ".size pyharness_guarded_call, . - pyharness_guarded_call\n"
    ".popsection\n");

namespace {

void copy(uint8_t* to, const uint8_t* from, size_t size) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

// The image in the signal frame becomes what the thread had.
void restore_vectors(const uint8_t* saved, uint8_t* frame) {
  const auto& told = *reinterpret_cast<SoftwareBytes*>(frame + kSoftwareBytes);
  copy(frame, saved, kSoftwareBytes);
  if (told.magic != kExtended || pyharness_has_xsave == 0 ||
      told.size > sizeof(GuardedCall::vectors)) {
    return;
  }
  copy(frame + kLegacySize, saved + kLegacySize, told.size - kLegacySize);
  *reinterpret_cast<uint64_t*>(frame + kLegacySize) &= told.features;
}

// A thread that was held in a system call begins it again.
void restart(greg_t* registers, int64_t system_call) {
  if (system_call >= 0 && registers[REG_RAX] >= kFirstRestart &&
      registers[REG_RAX] <= kLastRestart) {
    registers[REG_RAX] = system_call;
    registers[REG_RIP] -= 2; // syscall
  }
}

void restore(GuardedCall* call, ucontext_t* context) {
  greg_t* registers = context->uc_mcontext.gregs;
  for (size_t i = 0; i < std::size(kRegisters); ++i) {
    registers[kRegisters[i]] = static_cast<greg_t>(call->registers[i]);
  }
  registers[REG_EFL] &= ~kTrapFlag;
  restart(registers, call->system_call);
  if (call->has_vectors != 0) {
    auto* frame = reinterpret_cast<uint8_t*>(context->uc_mcontext.fpregs);
    restore_vectors(call->vectors, frame);
  }
  call->thread = 0;
}

GuardedCall* expression_of_this_thread() {
  const auto thread = static_cast<uint64_t>(
      pyharness::inspect::system_call(SYS_gettid, 0, 0, 0));
  for (GuardedCall& call : pyharness_calls) {
    if (call.thread == thread && call.is_expression != 0) {
      return &call;
    }
  }
  return nullptr;
}

GuardedCall* call_of_gate(uint64_t address) {
  const auto gates = reinterpret_cast<uint64_t>(pyharness_gates);
  const uint64_t number = (address - gates) / kGateStride;
  const bool is_gate = address >= gates && number < PYHARNESS_CALLS &&
      (address - gates) % kGateStride < PYHARNESS_GATE_SIZE;
  return is_gate && pyharness_calls[number].thread != 0
      ? &pyharness_calls[number]
      : nullptr;
}

// gdb had set some registers for a call, and not yet let the thread go there:
// it ran into the breakpoint where it stands.
GuardedCall* expression_begun_at(uint64_t address, greg_t stack_pointer) {
  GuardedCall* call = expression_of_this_thread();
  const bool is_begun = call != nullptr &&
      call->registers[kInstructionPointer] == address &&
      call->registers[kStackPointer] - static_cast<uint64_t>(stack_pointer) <=
          kCallDepth;
  return is_begun ? call : nullptr;
}

// What was there before takes it; the default is to die where the fault is,
// which comes again when this handler returns.
void pass_on(int signal, siginfo_t* info, void* context) {
  if ((previous_fault_action.sa_flags & SA_SIGINFO) != 0) {
    previous_fault_action.sa_sigaction(signal, info, context);
  } else if (
      previous_fault_action.sa_handler != SIG_DFL &&
      previous_fault_action.sa_handler != SIG_IGN) {
    previous_fault_action.sa_handler(signal);
  } else {
    sigaction(signal, &previous_fault_action, nullptr);
    if (info->si_code <= 0) { // sent by somebody
      syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
    }
  }
}

bool handles_faults() {
  struct sigaction action{};
  return sigaction(SIGSEGV, nullptr, &action) == 0 &&
      (action.sa_flags & SA_SIGINFO) != 0 &&
      action.sa_sigaction == fault_action.sa_sigaction &&
      fault_action.sa_sigaction != nullptr;
}

int expression_ends() {
  return handles_faults() ? sigaction(SIGSEGV, &previous_fault_action, nullptr)
                          : 0;
}

// A function that gdb called has returned, or has crashed, and gdb is gone:
// with gdb the thread would be back where it stood, too.
void on_fault(int signal, siginfo_t* info, void* context) {
  GuardedCall* call = expression_of_this_thread();
  if (call == nullptr) {
    pass_on(signal, info, context);
    return;
  }
  restore(call, static_cast<ucontext_t*>(context));
  expression_ends();
}

int expression_begins() {
  if (handles_faults()) {
    return 0;
  }
  fault_action.sa_sigaction = &on_fault;
  fault_action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&fault_action.sa_mask);
  return sigaction(SIGSEGV, &fault_action, &previous_fault_action);
}

// They are in the library's code, as the gates must be, and no code. Where that
// cannot be, as in a hardened system, calls are guarded all the same.
void make_room_below_gates() {
  auto gate = reinterpret_cast<uint64_t>(pyharness_gates);
  for (int i = 0; i < PYHARNESS_CALLS; ++i, gate += kGateStride) {
    auto* room = reinterpret_cast<void*>(gate - PYHARNESS_GATE_ROOM);
    pyharness::inspect::system_call(
        SYS_mprotect,
        reinterpret_cast<long>(room),
        PYHARNESS_GATE_ROOM,
        PROT_READ | PROT_WRITE);
  }
}

// Whether XSAVE may be used, and all that it writes has room.
bool xsave_fits() {
  unsigned a = 0;
  unsigned size = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &size, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) {
    return false;
  }
  return __get_cpuid_count(0xD, 0, &a, &size, &c, &d) != 0 &&
      size <= sizeof(GuardedCall::vectors);
}

} // namespace

namespace pyharness::inspect {

void allow_guarded_calls() {
  make_room_below_gates();
  pyharness_has_xsave = xsave_fits() ? 1 : 0;
  pyharness_guarded_calls_2 = {
      1,
      reinterpret_cast<uint64_t>(&pyharness_calls),
      PYHARNESS_CALLS,
      sizeof(GuardedCall),
      reinterpret_cast<uint64_t>(pyharness_gates),
      PYHARNESS_GATE_SIZE,
      kGateStride,
      reinterpret_cast<uint64_t>(&pyharness_guarded_call),
      reinterpret_cast<uint64_t>(&expression_begins),
      reinterpret_cast<uint64_t>(&expression_ends),
  };
}

bool return_from_call(ucontext_t* context) {
  const greg_t* registers = context->uc_mcontext.gregs;
  const auto address = static_cast<uint64_t>(registers[REG_RIP]) - 1;
  GuardedCall* call = call_of_gate(address);
  if (call == nullptr) {
    call = expression_begun_at(address, registers[REG_RSP]);
  }
  if (call == nullptr) {
    return false;
  }
  restore(call, context);
  return true;
}

} // namespace pyharness::inspect
