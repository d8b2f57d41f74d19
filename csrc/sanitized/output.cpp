#include <csrc/sanitized/output.h>
#include <csrc/sanitized/runtime.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace pyharness::sanitized {
namespace {

constexpr rlim_t kHighDescriptor = 900; // beyond those that programs close
constexpr rlim_t kLast = 8; // those below a limit

int output = -1; // what the runtime prints goes there
off_t output_read = 0;

} // namespace

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

size_t read_output(char* text, size_t size) {
  const ssize_t got = pread(output, text, size, output_read);
  const size_t taken = got > 0 ? static_cast<size_t>(got) : 0;
  output_read += static_cast<off_t>(taken);
  return taken;
}

} // namespace pyharness::sanitized
