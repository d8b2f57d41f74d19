#include <csrc/sanitized/output.h>
#include <csrc/sanitized/reports.h>
#include <csrc/sanitized/runtime.h>

extern "C" {

__attribute__((visibility("default"))) void __ubsan_on_report() {
  namespace ours = pyharness::sanitized;
  using Data = void (*)(
      const char**, const char**, const char**, unsigned*, unsigned*, char**);
  const auto get = ours::runtime<Data>("__ubsan_get_current_report_data");
  if (!ours::is_heard() || get == nullptr) {
    return;
  }
  const char* file = nullptr;
  unsigned line = 0;
  unsigned column = 0;
  char* address = nullptr;
  ours::Report& report = ours::begin_report(ours::kUndefined);
  ours::take_descriptor();
  get(&report.what, &report.message, &file, &line, &column, &address);
  report.address = reinterpret_cast<uint64_t>(address);
  ours::take_text(report.message);
  ours::add_own_start();
  ours::say();
}
}
