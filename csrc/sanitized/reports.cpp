// Hears of each report of AddressSanitizer, UndefinedBehaviorSanitizer and
// ThreadSanitizer while the program stands at the error, writes down what the
// runtime says of it, and has a process of ours read the program.
//
// The runtimes' interfaces: sanitizer/asan_interface.h,
// sanitizer/common_interface_defs.h; ubsan_monitor.h and tsan_debugging.cpp of
// LLVM's compiler-rt, which GCC's libsanitizer is a copy of. What a runtime
// lacks is null.
#include <csrc/guard/dynamic_loader.h>
#include <csrc/sanitized/blocks.h>
#include <csrc/sanitized/report.h>
#include <csrc/sanitized/threads.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace pyharness::sanitized {
namespace {

// Told a report, it returns when that was read: 0 where somebody has heard.
using Tell = int (*)(const Report*);

constexpr size_t kText = 256 << 10;
constexpr rlim_t kHighDescriptor = 900; // beyond those that programs close
constexpr rlim_t kLast = 8; // those below a limit
constexpr int kStderr = 2;
constexpr int kSaidElsewhere = 3; // by pytest, of its tests
constexpr uint64_t kMost = 30; // errors that are read; the others are printed

std::atomic<Tell> tell{nullptr};
std::atomic<uint64_t> count{0};
Report report;
char text[kText];
int output = -1; // what the runtime prints goes there
off_t output_read = 0;
bool ends_by_error = false;

template <typename Function>
Function runtime(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// The file that takes what the runtime prints, where programs close nothing and
// have nothing; none where the user names one.
void open_output() {
  for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"}) {
    const char* options = getenv(name);
    if (options != nullptr && std::strstr(options, "log_path") != nullptr) {
      return;
    }
  }
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t wanted = std::min(
      kHighDescriptor, limit.rlim_cur > kLast ? limit.rlim_cur - kLast : 0);
  const int low = static_cast<int>(
      syscall(SYS_memfd_create, "pyharness-sanitizer", MFD_CLOEXEC));
  output = fcntl(low, F_DUPFD_CLOEXEC, static_cast<int>(wanted));
  if (output == -1) { // those few are taken
    output = low;
  } else {
    close(low);
  }
}

// UBSan begins with its first error, and would print on stderr from then on.
void take_descriptor() {
  const auto set = runtime<void (*)(void*)>("__sanitizer_set_report_fd");
  if (set != nullptr && output != -1) {
    set(reinterpret_cast<void*>(static_cast<intptr_t>(output)));
  }
}

Report& begun(Sanitizer sanitizer) {
  report = Report{};
  report.sanitizer = sanitizer;
  report.text = text;
  return report;
}

void copy(char* target, size_t size, const char* source) {
  size_t i = 0;
  for (; source[i] != '\0' && i + 1 < size; ++i) {
    target[i] = source[i];
  }
  target[i] = '\0';
}

// What the runtime has printed since the last time.
void take_output() {
  const ssize_t size = pread(output, text, kText, output_read);
  report.text_size = size > 0 ? static_cast<uint64_t>(size) : 0;
  output_read += static_cast<off_t>(report.text_size);
}

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

void take_text(const char* given) {
  report.text_size = std::min(std::strlen(given), kText);
  std::memcpy(text, given, report.text_size);
}

Trace& add_trace(Role role) {
  Trace& trace =
      report.traces[std::min<size_t>(report.trace_count, kTraces - 1)];
  report.trace_count = std::min<uint32_t>(report.trace_count + 1, kTraces);
  trace = Trace{};
  trace.role = role;
  return trace;
}

// A runtime fills what it has, and 0 behind.
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

// Ours, with the Python half; the native half is the runtime's where ours has
// none.
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

void add_asan_stack(Role role, const char* function) {
  using Get = size_t (*)(void*, void**, size_t, int*);
  const auto get = runtime<Get>(function);
  if (get == nullptr) {
    return;
  }
  CallStack stack;
  int thread = 0;
  get(reinterpret_cast<void*>(report.address),
      native_of(stack),
      kNativeFrames,
      &thread);
  count_native(stack);
  if (stack.native_count != 0) {
    add_trace(role).stack = stack;
  }
}

void locate() {
  using Locate = const char* (*)(void*, char*, size_t, void**, size_t*);
  const auto find = runtime<Locate>("__asan_locate_address");
  if (find == nullptr || report.address == 0) {
    return;
  }
  void* region = nullptr;
  size_t size = 0;
  const char* kind = find(
      reinterpret_cast<void*>(report.address),
      report.region_name,
      kName,
      &region,
      &size);
  copy(report.region_kind, sizeof report.region_kind, kind);
  report.region = reinterpret_cast<uint64_t>(region);
  report.region_size = size;
}

// Where the thread was started that stands at the error.
void add_own_start() {
  const auto thread = static_cast<uint64_t>(syscall(SYS_gettid));
  const uint32_t stack = start_of(thread);
  if (stack != 0) {
    Trace& trace = add_trace(kStarted);
    trace.thread = thread;
    take_stack(trace.stack, stack);
  }
}

// The thread that stands at an error, and its process: a fork has a copy.
std::atomic<long> reporting_thread{0};
std::atomic<long> reporting_process{0};

void note_error() {
  reporting_process.store(getpid());
  reporting_thread.store(syscall(SYS_gettid));
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

// Somebody reads the report; where nobody can, it is printed as ever.
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

void on_address_error(const char* said) {
  begun(kAddress);
  take_text(said);
  report.what = runtime<const char* (*)()>("__asan_get_report_description")();
  report.address = reinterpret_cast<uint64_t>(
      runtime<void* (*)()>("__asan_get_report_address")());
  report.size = runtime<size_t (*)()>("__asan_get_report_access_size")();
  report.is_write =
      runtime<int (*)()>("__asan_get_report_access_type")() != 0 ? 1 : 0;
  locate();
  add_asan_stack(kMade, "__asan_get_alloc_stack");
  add_asan_stack(kFreed, "__asan_get_free_stack");
  if (report.region != 0) {
    take_block(block_at(report.region));
  }
  add_own_start();
  say();
  ends_by_error = true;
}

using Access =
    int (*)(void*, size_t, int*, void**, int*, int*, int*, void**, size_t);
using Place = int (*)(
    void*,
    size_t,
    const char**,
    void**,
    size_t*,
    size_t*,
    int*,
    int*,
    int*,
    void**,
    size_t);
using Thread = int (*)(
    void*,
    size_t,
    int*,
    int*,
    int*,
    const char**,
    int*,
    void**,
    size_t);

// The first access is that of this thread, which stands at it.
void take_accesses(void* found, int count) {
  const auto get = runtime<Access>("__tsan_get_report_mop");
  for (int i = 0; i < count; ++i) {
    CallStack stack;
    void* address = nullptr;
    int thread = 0;
    int size = 0;
    int is_write = 0;
    int is_atomic = 0;
    get(found,
        static_cast<size_t>(i),
        &thread,
        &address,
        &size,
        &is_write,
        &is_atomic,
        native_of(stack),
        kNativeFrames);
    if (i == 0) {
      report.address = reinterpret_cast<uint64_t>(address);
      report.size = static_cast<uint64_t>(size);
      report.is_write = is_write != 0 ? 1 : 0;
      continue;
    }
    count_native(stack);
    Trace& trace = add_trace(kOtherAccess);
    trace.is_write = is_write != 0 ? 1 : 0;
    trace.stack = stack;
  }
}

// The block that was accessed, with the stack that allocated it.
void take_place(void* found) {
  CallStack stack;
  const char* kind = "";
  void* address = nullptr;
  size_t start = 0;
  size_t size = 0;
  int thread = 0;
  int descriptor = 0;
  int suppressable = 0;
  runtime<Place>("__tsan_get_report_loc")(
      found,
      0,
      &kind,
      &address,
      &start,
      &size,
      &thread,
      &descriptor,
      &suppressable,
      native_of(stack),
      kNativeFrames);
  copy(report.region_kind, sizeof report.region_kind, kind);
  report.region = start;
  report.region_size = size;
  count_native(stack);
  if (stack.native_count != 0) {
    add_trace(kMade).stack = stack;
  }
  if (start != 0) {
    take_block(block_at(start));
  }
}

void take_threads(void* found, int count) {
  const auto get = runtime<Thread>("__tsan_get_report_thread");
  for (int i = 0; i < count; ++i) {
    CallStack stack;
    const char* name = nullptr;
    int thread = 0;
    int kernels = 0;
    int is_running = 0;
    int parent = 0;
    get(found,
        static_cast<size_t>(i),
        &thread,
        &kernels,
        &is_running,
        &name,
        &parent,
        native_of(stack),
        kNativeFrames);
    count_native(stack);
    if (stack.native_count != 0) { // the main thread was started by nobody
      Trace& trace = add_trace(kStarted);
      trace.thread = static_cast<uint64_t>(kernels);
      trace.stack = stack;
      take_stack(trace.stack, start_of(trace.thread));
    }
  }
}

} // namespace
} // namespace pyharness::sanitized

// What the runtimes call where somebody defines it, and what our Python calls.
extern "C" {

// Before it prints, which takes a while.
__attribute__((visibility("default"))) void __asan_on_error() {
  if (pyharness::sanitized::tell.load() != nullptr) {
    pyharness::sanitized::note_error();
  }
}

__attribute__((visibility("default"))) void __ubsan_on_report() {
  namespace ours = pyharness::sanitized;
  using Data = void (*)(
      const char**, const char**, const char**, unsigned*, unsigned*, char**);
  const auto get = ours::runtime<Data>("__ubsan_get_current_report_data");
  if (ours::tell.load() == nullptr || get == nullptr) {
    return;
  }
  const char* file = nullptr;
  unsigned line = 0;
  unsigned column = 0;
  char* address = nullptr;
  ours::Report& report = ours::begun(ours::kUndefined);
  ours::take_descriptor();
  get(&report.what, &report.message, &file, &line, &column, &address);
  report.address = reinterpret_cast<uint64_t>(address);
  ours::take_text(report.message);
  ours::add_own_start();
  ours::say();
}

__attribute__((visibility("default"))) void __tsan_on_report(void* found) {
  namespace ours = pyharness::sanitized;
  using Data = int (*)(
      void*,
      const char**,
      int*,
      int*,
      int*,
      int*,
      int*,
      int*,
      int*,
      void**,
      size_t);
  const auto get = ours::runtime<Data>("__tsan_get_report_data");
  if (ours::tell.load() == nullptr || get == nullptr) {
    return;
  }
  int count = 0;
  int stacks = 0;
  int accesses = 0;
  int places = 0;
  int mutexes = 0;
  int threads = 0;
  int unique = 0;
  void* slept = nullptr;
  ours::Report& report = ours::begun(ours::kThread);
  get(found,
      &report.what,
      &count,
      &stacks,
      &accesses,
      &places,
      &mutexes,
      &threads,
      &unique,
      &slept,
      1);
  ours::take_output();
  ours::take_accesses(found, accesses);
  if (places > 0) {
    ours::take_place(found);
  }
  ours::take_threads(found, threads);
  ours::say();
}

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
