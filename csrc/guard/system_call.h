// System calls without libc, for the trap guard: a leftover breakpoint may sit
// in libc's own read(), and running into it from the handler would be the end.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>

namespace pyharness::inspect {

// The kernel's answer: negative is -errno.
inline long system_call(long number, long a, long b, long c, long d = 0) {
  long answer = number;
  register long fourth asm("r10") = d;
  asm volatile("syscall"
               : "+a"(answer)
               : "D"(a), "S"(b), "d"(c), "r"(fourth)
               : "rcx", "r11", "memory");
  return answer;
}

// An open file that closes itself.
class File {
 public:
  File(const char* path, int flags)
      : descriptor_(system_call(
            SYS_openat,
            AT_FDCWD,
            reinterpret_cast<long>(path),
            flags | O_CLOEXEC)) {}
  ~File() {
    if (is_open()) {
      system_call(SYS_close, descriptor_, 0, 0);
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const {
    return descriptor_ >= 0;
  }
  long read(void* data, size_t size) const {
    return call(SYS_read, data, size, 0);
  }
  bool read_byte(uint8_t* byte, uint64_t offset) const {
    return call(SYS_pread64, byte, 1, offset) == 1;
  }
  bool write_byte(uint8_t byte, uint64_t offset) const {
    return call(SYS_pwrite64, &byte, 1, offset) == 1;
  }

 private:
  long call(long number, void* data, size_t size, uint64_t offset) const {
    return system_call(
        number,
        descriptor_,
        reinterpret_cast<long>(data),
        static_cast<long>(size),
        static_cast<long>(offset));
  }

  long descriptor_;
};

} // namespace pyharness::inspect
