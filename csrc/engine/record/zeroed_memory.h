// Memory of zeros that takes room only where it is written.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace pyharness::engine {

// Of the system's large pages where there are such: a buffer that is written
// from its beginning to its end meets one page fault in 2 MiB, not one in 4
// KiB, each of which costs as much as some ten events.
class ZeroedMemory {
 public:
  // Throws std::bad_alloc.
  explicit ZeroedMemory(std::size_t size)
      : size_(size < kLargePage ? size : size + kLargePage) {
    mapped_ = mmap(
        nullptr,
        size_,
        PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
        /*fd=*/-1,
        /*offset=*/0);
    if (mapped_ == MAP_FAILED) {
      throw std::bad_alloc();
    }
    begin_ = mapped_;
    if (size >= kLargePage) {
      const auto address = reinterpret_cast<std::uintptr_t>(mapped_);
      const auto offset = (kLargePage - address % kLargePage) % kLargePage;
      begin_ = static_cast<std::byte*>(mapped_) + offset;
      madvise(begin_, size, MADV_HUGEPAGE); // does without where it cannot
    }
  }

  ~ZeroedMemory() {
    munmap(mapped_, size_);
  }

  ZeroedMemory(const ZeroedMemory&) = delete;
  ZeroedMemory& operator=(const ZeroedMemory&) = delete;

  void* begin() const {
    return begin_;
  }

 private:
  static constexpr std::size_t kLargePage = std::size_t{2} << 20;

  std::size_t size_;
  void* mapped_;
  void* begin_;
};

} // namespace pyharness::engine
