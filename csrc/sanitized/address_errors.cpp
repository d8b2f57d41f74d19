#include <csrc/sanitized/address_errors.h>
#include <csrc/sanitized/reports.h>
#include <csrc/sanitized/runtime.h>

namespace pyharness::sanitized {
namespace {

void add_asan_stack(const Report& report, Role role, const char* function) {
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

void locate(Report& report) {
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
  set_region_kind(kind);
  report.region = reinterpret_cast<uint64_t>(region);
  report.region_size = size;
}

} // namespace

void on_address_error(const char* said) {
  Report& report = begin_report(kAddress);
  take_text(said);
  report.what = runtime<const char* (*)()>("__asan_get_report_description")();
  report.address = reinterpret_cast<uint64_t>(
      runtime<void* (*)()>("__asan_get_report_address")());
  report.size = runtime<size_t (*)()>("__asan_get_report_access_size")();
  report.is_write =
      runtime<int (*)()>("__asan_get_report_access_type")() != 0 ? 1 : 0;
  locate(report);
  add_asan_stack(report, kMade, "__asan_get_alloc_stack");
  add_asan_stack(report, kFreed, "__asan_get_free_stack");
  if (report.region != 0) {
    take_block(block_at(report.region));
  }
  add_own_start();
  say();
  end_by_error();
}

} // namespace pyharness::sanitized

extern "C" {

// Before it prints, which takes a while.
__attribute__((visibility("default"))) void __asan_on_error() {
  if (pyharness::sanitized::is_heard()) {
    pyharness::sanitized::note_error();
  }
}
}
