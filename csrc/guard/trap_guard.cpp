// Lets a program outlive its debugger; x86-64 Linux. Everything that the
// handler does is async-signal-safe and, up to handing a trap on, without libc.
#include <csrc/guard/trap_guard.h>

#include <csrc/guard/guarded_call.h>
#include <csrc/guard/mapping.h>
#include <csrc/guard/system_call.h>
#include <csrc/previous_action.h>

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pyharness::inspect {
namespace {

constexpr uint8_t kBreakpoint = 0xCC; // int3
constexpr long kTrapFlag = 0x100; // TF of RFLAGS: the program single-steps
constexpr int kKernel = 0x80; // SI_KERNEL: an int3, not kill() or raise()
constexpr uintptr_t kPageSize = 4096;
constexpr size_t kRemembered = 4096;

struct sigaction guard_action;
struct sigaction previous_action;
bool guards_at_fork = false;
std::atomic<bool> installed{false};
// Where breakpoints were put right: another thread may have run into the same
// one before, and take its signal only now.
std::atomic<uintptr_t> healed[kRemembered];
std::atomic<size_t> healed_count{0};

uint8_t byte_at(uintptr_t address) {
  return *reinterpret_cast<const volatile uint8_t*>(address);
}

bool was_healed(uintptr_t address) {
  const size_t count =
      std::min(healed_count.load(std::memory_order_acquire), kRemembered);
  for (size_t i = 0; i < count; ++i) {
    if (healed[i].load(std::memory_order_acquire) == address) {
      return true;
    }
  }
  return false;
}

void remember(uintptr_t address) {
  if (!was_healed(address)) {
    healed[healed_count.fetch_add(1, std::memory_order_acq_rel) % kRemembered]
        .store(address, std::memory_order_release);
  }
}

// Text is not writable: /proc/self/mem writes all the same, unless the kernel
// was told to forbid that.
bool write_text(uintptr_t address, uint8_t byte) {
  if (File("/proc/self/mem", O_RDWR).write_byte(byte, address)) {
    return true;
  }
  const auto page = static_cast<long>(address & ~(kPageSize - 1));
  const auto protect = [page](int access) {
    return system_call(SYS_mprotect, page, kPageSize, access) == 0;
  };
  if (!protect(PROT_READ | PROT_WRITE | PROT_EXEC)) {
    return false;
  }
  *reinterpret_cast<volatile uint8_t*>(address) = byte;
  return protect(PROT_READ | PROT_EXEC);
}

// Puts the byte at `address` right when it is a breakpoint that the file does
// not have; false when it is none.
bool heal_byte(const Mapping& mapping, uintptr_t address) {
  uint8_t original = 0;
  if (byte_at(address) != kBreakpoint ||
      !byte_in_file(mapping, address, &original) || original == kBreakpoint) {
    return false;
  }
  remember(address);
  return write_text(address, original);
}

// Puts the instruction at `address` right when it is a leftover breakpoint;
// false when it is none. pyharness's own have a second byte
// (pyharness/ingdb/stops/planted.py), which goes first: another thread that
// comes by finds a breakpoint, or the instruction whole.
bool heal(uintptr_t address) {
  Mapping mapping;
  // The mapping first: `address` may be the byte before the first page.
  if (!find_mapping(address, &mapping) || byte_at(address) != kBreakpoint) {
    return false;
  }
  if (address + 1 < mapping.end) {
    heal_byte(mapping, address + 1);
  }
  return heal_byte(mapping, address);
}

// Whether another thread has put a breakpoint right here.
bool is_right_again(uintptr_t address) {
  return was_healed(address) && byte_at(address) != kBreakpoint;
}

// A thread that ran into a leftover breakpoint stands one byte behind it, or on
// it when the debugger had already moved it back before it was killed. Where
// the debugger had taken the signal and not yet done so, the thread went on
// behind the first byte of a breakpoint, and ran into the second.
bool survive_breakpoint(greg_t* instruction_pointer) {
  const auto address = static_cast<uintptr_t>(*instruction_pointer);
  if (heal(address - 1)) {
    *instruction_pointer -= heal(address - 2) ? 2 : 1;
    return true;
  }
  if (heal(address)) {
    return true;
  }
  if (is_right_again(address - 1)) {
    const bool is_second = heal(address - 2) || is_right_again(address - 2);
    *instruction_pointer -= is_second ? 2 : 1;
    return true;
  }
  return is_right_again(address);
}

// A single step that the debugger did not live to see; the thread stops
// stepping. A program that steps itself has a handler for it.
bool survive_step(greg_t* flags) {
  if (previous_action.sa_handler != SIG_DFL) {
    return false;
  }
  *flags &= ~kTrapFlag;
  return true;
}

// Only a debugger's trap is survived; debug registers are the debugger's alone.
bool survive(const siginfo_t& info, ucontext_t* context) {
  greg_t* registers = context->uc_mcontext.gregs;
  switch (info.si_code) {
    case kKernel:
      return return_from_call(context) ||
          survive_breakpoint(&registers[REG_RIP]);
    case TRAP_TRACE:
    case TRAP_BRKPT: // a step over a system call
      return survive_step(&registers[REG_EFL]);
    case TRAP_HWBKPT:
      return true;
    default:
      return false;
  }
}

// No errno to keep: what runs up to here makes system calls without libc.
void on_trap(int signal, siginfo_t* info, void* context) {
  if (!survive(*info, static_cast<ucontext_t*>(context))) {
    pass_on(previous_action, signal, info, context, true);
  }
}

bool is_in_place() {
  struct sigaction action{};
  return sigaction(SIGTRAP, nullptr, &action) == 0 &&
      (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &on_trap;
}

void before_fork() {
  guards_at_fork = is_in_place();
}

// gdb steps a child once before it lets go of it. Since glibc 2.41 it does so
// while fork() blocks all signals: for a SIGTRAP that is blocked the kernel
// puts the default action back.
void in_child() {
  if (guards_at_fork && !is_in_place()) {
    sigaction(SIGTRAP, &guard_action, nullptr);
  }
}

} // namespace

bool install_trap_guard() {
  if (installed.exchange(true)) {
    return true;
  }
  guard_action.sa_sigaction = &on_trap;
  guard_action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&guard_action.sa_mask);
  if (sigaction(SIGTRAP, nullptr, &previous_action) == 0 &&
      sigaction(SIGTRAP, &guard_action, nullptr) == 0) {
    pthread_atfork(&before_fork, nullptr, &in_child);
    allow_guarded_calls();
    return true;
  }
  installed = false;
  return false;
}

unsigned long healed_traps() {
  return healed_count.load(std::memory_order_acquire);
}

} // namespace pyharness::inspect
