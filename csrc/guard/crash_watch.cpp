// What the handlers do is async-signal-safe: memory is had before the crash.
// And it asks the kernel itself, or libc: a sanitizer's functions of the same
// names would wait for its own locks, where it is its report that is told.
#include <csrc/guard/crash_watch.h>

#include <csrc/guard/dynamic_loader.h>
#include <csrc/guard/system_call.h>
#include <csrc/guard/thread_stacks.h>
#include <csrc/previous_action.h>

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>

namespace pyharness::inspect {
namespace {

constexpr std::array<int, 5> kSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr size_t kNumbers = 5;
constexpr size_t kDigits = 21; // of 64 bits, with the 0 behind them
constexpr size_t kStackSize = 64 << 10;
// What the command exits with where nobody behind us shall be told.
constexpr int kAllIsSaid = 3;
constexpr long kPoll = 20'000'000; // nanoseconds

size_t count_of(const Words& words) {
  return static_cast<size_t>(
      std::count(words.text, words.text + words.size, '\0'));
}

// Memory of this module's own: malloc() may be what is broken.
void* pages(size_t size) {
  void* memory = mmap(
      nullptr,
      size,
      PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS,
      -1,
      0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// A command line as execve() wants it, with room for numbers at its end.
class Command {
 public:
  // Null, with errno, where there is no memory.
  static Command* made(const Words& words, const Words& environment) {
    const size_t pointers = count_of(words) + kNumbers + 1;
    const size_t variables = count_of(environment) + 1;
    const size_t size = sizeof(Command) +
        (pointers + variables) * sizeof(char*) + words.size + environment.size;
    auto* memory = static_cast<std::byte*>(pages(size));
    if (memory == nullptr) {
      return nullptr;
    }
    auto* command = new (memory) Command;
    command->size_ = size;
    command->arguments_ = reinterpret_cast<char**>(memory + sizeof(Command));
    command->variables_ = command->arguments_ + pointers;
    auto* text = reinterpret_cast<char*>(command->variables_ + variables);
    command->numbers_ = copied(words, command->arguments_, text);
    copied(environment, command->variables_, text + words.size);
    return command;
  }

  void append(const std::array<uint64_t, kNumbers>& numbers) {
    for (size_t i = 0; i < kNumbers; ++i) {
      numbers_[i] = written(numbers[i], texts_[i]);
    }
  }

  void become() const {
    system_call(
        SYS_execve,
        reinterpret_cast<long>(arguments_[0]),
        reinterpret_cast<long>(arguments_),
        reinterpret_cast<long>(variables_));
  }

  void free() {
    munmap(this, size_);
  }

 private:
  // The pointer behind the last one that was written. Without memcpy() and
  // strlen(): this module needs none (csrc/guard/system_call.h).
  static char** copied(const Words& words, char** pointers, char* text) {
    bool begins = true;
    for (size_t i = 0; i < words.size; ++i) {
      if (begins) {
        *pointers++ = text + i;
      }
      text[i] = words.text[i];
      begins = text[i] == '\0';
    }
    return pointers;
  }

  static char* written(uint64_t number, std::array<char, kDigits>& text) {
    char* at = text.data() + kDigits - 1;
    *at = '\0';
    do {
      *--at = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    return at;
  }

  char** arguments_ = nullptr;
  char** numbers_ = nullptr; // behind the last of the arguments
  char** variables_ = nullptr;
  std::array<std::array<char, kDigits>, kNumbers> texts_{};
  size_t size_ = 0;
};

std::atomic<Command*> wanted{nullptr};
// Who may read this process; 0 for the one that is started.
std::atomic<pid_t> reader_process{0};
// The thread whose crash is told of, 0 for none.
std::atomic<pid_t> crashed{0};
// Handed on to someone who hands it back, as faulthandler does to whoever was
// there before it.
std::atomic<pid_t> handing_on{0};
// Whom a signal is handed on to: whoever was there before, and for one that
// comes back, whoever was there before all of them.
std::array<struct sigaction, kSignals.size()> previous_actions;
std::array<struct sigaction, kSignals.size()> first_actions;
std::array<bool, kSignals.size()> has_first{};
alignas(16) std::array<std::byte, kStackSize> child_stack;

pid_t this_thread() {
  return static_cast<pid_t>(syscall(SYS_gettid));
}

void sleep_shortly() {
  const timespec time{0, kPoll};
  nanosleep(&time, nullptr);
}

// In the child, which shares this process's memory until it is another program.
int become(void* command) {
  // What a terminal sends, Ctrl-C say, is for the program alone.
  system_call(SYS_setsid, 0, 0, 0);
  const uint64_t none = 0;
  system_call(
      SYS_rt_sigprocmask,
      SIG_SETMASK,
      reinterpret_cast<long>(&none),
      0,
      sizeof none);
  static_cast<const Command*>(command)->become();
  system_call(SYS_exit, 127, 0, 0);
  return 127;
}

using Clone = int (*)(int (*)(void*), void*, int, void*, ...);
Clone clone_of_libc = &clone;

// Before any crash: the loader is not to be asked in a handler.
void find_clone() {
  void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  void* found = libc == nullptr ? nullptr : dlsym(libc, "clone");
  if (found != nullptr) {
    clone_of_libc = reinterpret_cast<Clone>(found);
  }
}

// A child without a SIGCHLD up to execve(); its memory is ours only up to
// execve().
pid_t started(Command* command, std::byte* stack, size_t size) {
  const int before = errno;
  const pid_t child =
      clone_of_libc(&become, stack + size, CLONE_VM | CLONE_VFORK, command);
  const pid_t answer = child == -1 ? -errno : child;
  errno = before;
  return answer;
}

int waited(pid_t child) {
  int status = 0;
  long answer = -EINTR;
  while (answer == -EINTR) {
    answer =
        system_call(SYS_wait4, child, reinterpret_cast<long>(&status), __WALL);
  }
  return answer < 0 ? static_cast<int>(answer) : status;
}

struct Apart {
  Command* command;
  std::byte* stack; // of two times kStackSize
  pid_t process;
};

// In the child, which has this process's memory until it ends.
int start_and_end(void* told) {
  auto* apart = static_cast<Apart*>(told);
  apart->process = started(apart->command, apart->stack, kStackSize);
  _exit(0);
}

// A process that is no child of this one. A program's wait() sees a child that
// has become another program, however it was made; the one between ends before.
pid_t started_apart(Apart apart) {
  const int before = errno;
  const pid_t between = clone(
      &start_and_end,
      apart.stack + 2 * kStackSize,
      CLONE_VM | CLONE_VFORK,
      &apart);
  if (between == -1) {
    apart.process = -errno;
  } else {
    waited(between);
  }
  errno = before;
  return apart.process;
}

uint64_t as_number(const void* address) {
  return reinterpret_cast<uintptr_t>(address);
}

// Python's own errors, and the loader's, end with others than the three that
// the reader has.
void say_unless_read(int status) {
  constexpr char kUnread[] =
      "pyharness: no report of this crash: the process that writes it could "
      "not be started, or was ended.\n";
  if (status < 0 || status == 2 || status > kAllIsSaid) {
    system_call(
        SYS_write, 2, reinterpret_cast<long>(kUnread), sizeof kUnread - 1);
  }
}

// What the process that read this one exited with; -1 where there was none.
int told(Command* command, int signal, int code, const void* value) {
  command->append(
      {static_cast<uint64_t>(getpid()),
       static_cast<uint64_t>(this_thread()),
       static_cast<uint64_t>(signal),
       static_cast<uint64_t>(static_cast<uint32_t>(code)),
       as_number(value)});
  const pid_t child = started(command, child_stack.data(), child_stack.size());
  int exited = -1;
  if (child > 0) {
    const pid_t allowed = reader_process.load();
    prctl(PR_SET_PTRACER, allowed != 0 ? allowed : child, 0, 0, 0);
    const int status = waited(child);
    exited = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  say_unless_read(exited);
  return exited;
}

size_t index_of(int signal) {
  size_t index = 0;
  while (kSignals[index] != signal) {
    ++index;
  }
  return index;
}

// Of several threads that crash, the first is told of; the others wait. As
// above, -1 also for a thread that crashes as it tells.
int told_once(Command* command, int signal, int code, const void* value) {
  pid_t teller = 0;
  if (crashed.compare_exchange_strong(teller, this_thread())) {
    const int status = told(command, signal, code, value);
    crashed.store(0);
    return status;
  }
  if (teller != this_thread()) {
    while (crashed.load() != 0) {
      sleep_shortly();
    }
  }
  return -1;
}

void on_crash(int signal, siginfo_t* info, void* context) {
  const int before = errno;
  const size_t index = index_of(signal);
  const bool was_sent = info->si_code <= 0;
  if (handing_on.load() == this_thread()) {
    pass_on(first_actions[index], signal, info, context, was_sent);
    return;
  }
  const bool is_for_others = told_once(
                                 wanted.load(std::memory_order_acquire),
                                 signal,
                                 info->si_code,
                                 info->si_addr) != kAllIsSaid;
  errno = before;
  handing_on.store(this_thread());
  pass_on(
      is_for_others ? previous_actions[index] : first_actions[index],
      signal,
      info,
      context,
      was_sent);
  handing_on.store(0);
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 &&
      action.sa_sigaction == &on_crash;
}

// Whoever handles the signal now is told behind us. `alone`: whoever came since
// the first has left, and is to be told nothing.
bool install(int signal, bool alone) {
  struct sigaction before{};
  if (sigaction(signal, nullptr, &before) != 0) {
    return false;
  }
  const size_t index = index_of(signal);
  if (is_ours(before)) {
    if (alone) {
      previous_actions[index] = first_actions[index];
    }
    return true;
  }
  previous_actions[index] = before;
  if (alone || !has_first[index]) {
    first_actions[index] = before;
    has_first[index] = true;
  }
  struct sigaction action{};
  action.sa_sigaction = &on_crash;
  // What is handed back comes while it is handed on, and not behind it.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  return sigaction(signal, &action, nullptr) == 0;
}

} // namespace

bool watch_crashes(
    const Words& command,
    const Words& environment,
    pid_t reader) {
  Command* made = Command::made(command, environment);
  if (made == nullptr) {
    return false;
  }
  find_clone();
  reader_process.store(reader);
  // The one before stays: a thread may be about to run it.
  wanted.store(made, std::memory_order_release);
  have_other_stack(true);
  watch_thread_starts();
  return renew_crash_watch(false);
}

bool renew_crash_watch(bool alone) {
  bool whole = true;
  for (const int signal : kSignals) {
    whole = install(signal, alone) && whole;
  }
  return whole;
}

int tell_of(const void* report) {
  Command* command = wanted.load(std::memory_order_acquire);
  return command == nullptr ? -1 : told_once(command, 0, 0, report);
}

pid_t start_unseen(const Words& command, const Words& environment) {
  Command* words = Command::made(command, environment);
  auto* stack = static_cast<std::byte*>(pages(2 * kStackSize));
  pid_t child = -ENOMEM;
  if (words != nullptr && stack != nullptr) {
    child = started_apart({words, stack, -EAGAIN});
  }
  if (words != nullptr) {
    words->free();
  }
  if (stack != nullptr) {
    munmap(stack, 2 * kStackSize);
  }
  return child;
}

} // namespace pyharness::inspect
