// What all runtimes share: see address_errors.cpp, undefined_behavior.cpp and
// races.cpp for what each one tells.
#include <csrc/guard/dynamic_loader.h>
#include <csrc/sanitized/address_errors.h>
#include <csrc/sanitized/output.h>
#include <csrc/sanitized/reports.h>
#include <csrc/sanitized/runtime.h>
#include <csrc/sanitized/threads.h>

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>

namespace pyharness::sanitized {
namespace {

// Told a report, it returns when that was read: 0 where somebody has heard.
using Tell = int (*)(const Report*);

constexpr size_t kText = 256 << 10;
constexpr int kStderr = 2;
constexpr int kSaidElsewhere = 3; // by pytest, of its tests
constexpr uint64_t kMost = 30; // errors that are read; the others are printed

std::atomic<Tell> tell{nullptr};
std::atomic<uint64_t> count{0};
Report report;
char text[kText];
bool ends_by_error = false;

// The thread that stands at an error, and its process: a fork has a copy.
std::atomic<long> reporting_thread{0};
std::atomic<long> reporting_process{0};

// The runtime gives up: "dup thread with used id" in a fork of a process with
// threads, "failed to allocate". What it has printed of that is for people.
void on_death() {
  if (ends_by_error) { // all is said
    return;
  }
  take_output();
  const ssize_t ignored = write(kStderr, text, report.text_size);
  static_cast<void>(ignored);
}

// What ends the process waits for the report of another thread.
void wait_for_report() {
  constexpr timespec kShortly{0, 20'000'000};
  while (reporting_process.load() == getpid() && reporting_thread.load() != 0 &&
         reporting_thread.load() != syscall(SYS_gettid)) {
    nanosleep(&kShortly, nullptr);
  }
}

// exit() comes here.
__attribute__((destructor)) void on_exit() {
  wait_for_report();
}

} // namespace

bool is_heard() {
  return tell.load() != nullptr;
}

Report& begin_report(Sanitizer sanitizer) {
  report = Report{};
  report.sanitizer = sanitizer;
  report.text = text;
  return report;
}

void take_text(const char* given) {
  report.text_size = std::min(std::strlen(given), kText);
  std::memcpy(text, given, report.text_size);
}

void take_output() {
  report.text_size = read_output(text, kText);
}

void set_region_kind(const char* kind) {
  constexpr size_t kSize = sizeof report.region_kind - 1;
  std::strncpy(report.region_kind, kind, kSize);
  report.region_kind[kSize] = '\0';
}

Trace& add_trace(Role role) {
  Trace& trace =
      report.traces[std::min<size_t>(report.trace_count, kTraces - 1)];
  report.trace_count = std::min<uint32_t>(report.trace_count + 1, kTraces);
  trace = Trace{};
  trace.role = role;
  return trace;
}

void count_native(CallStack& stack) {
  stack.native_count = 0;
  while (stack.native_count < kNativeFrames &&
         stack.native[stack.native_count] != 0) {
    ++stack.native_count;
  }
}

void** native_of(CallStack& stack) {
  return reinterpret_cast<void**>(stack.native);
}

void take_stack(CallStack& stack, uint32_t number) {
  const CallStack ours = stack_of(number);
  stack.python_count = ours.python_count;
  std::copy(std::begin(ours.python), std::end(ours.python), stack.python);
  if (ours.native_count != 0) {
    stack.native_count = ours.native_count;
    std::copy(std::begin(ours.native), std::end(ours.native), stack.native);
  }
}

void take_block(const Block& block) {
  report.size_asked_for = block.size;
  for (uint32_t i = 0; i < report.trace_count; ++i) {
    Trace& trace = report.traces[i];
    if (trace.role == kMade) {
      take_stack(trace.stack, block.made);
    } else if (trace.role == kFreed) {
      take_stack(trace.stack, block.freed);
    }
  }
}

void add_own_start() {
  const auto thread = static_cast<uint64_t>(syscall(SYS_gettid));
  const uint32_t stack = start_of(thread);
  if (stack != 0) {
    Trace& trace = add_trace(kStarted);
    trace.thread = thread;
    take_stack(trace.stack, stack);
  }
}

void note_error() {
  reporting_process.store(getpid());
  reporting_thread.store(syscall(SYS_gettid));
}

void say() {
  note_error();
  const Tell reader = tell.load(std::memory_order_acquire);
  count.fetch_add(1);
  const bool is_one_of_many = count.load() > kMost;
  const int status = is_one_of_many ? -1
      : reader == nullptr           ? 0
                                    : reader(&report);
  if (status != 0 && status != kSaidElsewhere) {
    const ssize_t ignored = write(kStderr, text, report.text_size);
    static_cast<void>(ignored);
  }
  reporting_thread.store(0);
}

void end_by_error() {
  ends_by_error = true;
}

} // namespace pyharness::sanitized

// What our Python calls, and what ends the process.
extern "C" {

// Before libc's, by the order of LD_PRELOAD: os._exit() calls it.
__attribute__((visibility("default"))) void _exit(int status) {
  using Exit = void (*)(int);
  pyharness::sanitized::wait_for_report();
  const auto next = reinterpret_cast<Exit>(dlsym(RTLD_NEXT, "_exit"));
  if (next != nullptr) {
    next(status);
  }
  syscall(SYS_exit_group, status);
  __builtin_unreachable();
}

// How many errors have been told.
__attribute__((visibility("default"))) uint64_t pyharness_sanitized_count() {
  return pyharness::sanitized::count.load();
}

// Once: `told` hears of reports from now on. False where no runtime is here.
__attribute__((visibility("default"))) bool pyharness_sanitized_begin(
    const pyharness::sanitized::PythonLayout* layout,
    void* (*this_state)(),
    int (*told)(const pyharness::sanitized::Report*)) {
  namespace ours = pyharness::sanitized;
  using Callback = void (*)(void (*)(const char*));
  using Death = void (*)(void (*)());
  const auto set_death = ours::runtime<Death>("__sanitizer_set_death_callback");
  const auto set_callback =
      ours::runtime<Callback>("__asan_set_error_report_callback");
  if (ours::tell.load() == nullptr) { // else it has begun
    ours::watch_python(*layout, this_state);
    ours::watch_blocks();
    ours::open_output();
  }
  ours::take_descriptor();
  if (set_death != nullptr) {
    set_death(&ours::on_death);
  }
  if (set_callback != nullptr) {
    set_callback(&ours::on_address_error);
  }
  ours::tell.store(told, std::memory_order_release);
  return ours::runtime<void*>("__sanitizer_set_report_fd") != nullptr;
}
}
