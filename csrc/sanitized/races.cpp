// What ThreadSanitizer finds.
#include <csrc/sanitized/reports.h>
#include <csrc/sanitized/runtime.h>
#include <csrc/sanitized/threads.h>

namespace pyharness::sanitized {
namespace {

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
void take_accesses(Report& report, void* found, int count) {
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
void take_place(Report& report, void* found) {
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
  set_region_kind(kind);
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

extern "C" {

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
  if (!ours::is_heard() || get == nullptr) {
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
  ours::Report& report = ours::begin_report(ours::kThread);
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
  ours::take_accesses(report, found, accesses);
  if (places > 0) {
    ours::take_place(report, found);
  }
  ours::take_threads(found, threads);
  ours::say();
}
}
