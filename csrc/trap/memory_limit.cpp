// See memory_limit.h. The hooks are in place only while a thread is limited, as
// those of tracemalloc are while it traces; other threads pass through them.
#include <csrc/trap/memory_limit.h>

#include <csrc/trap/python_api.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include <unistd.h>

namespace {

// Requests below this fail only when the limit is passed twice over: what
// raises and reports a MemoryError makes small ones.
constexpr std::size_t kSmall = 4096;
constexpr std::size_t kLarge = 1 << 20;
constexpr long kPatience = 8'000'000; // nanoseconds between two looks

struct Limit {
  std::size_t bytes = 0; // 0: none
  std::size_t before = 0;
  std::size_t grown = 0;
  timespec looked{};
};

thread_local Limit limit;
int limited_threads = 0; // guarded by the GIL
constexpr std::array kDomains = {PYMEM_DOMAIN_MEM, PYMEM_DOMAIN_OBJ};
std::array<PyMemAllocatorEx, kDomains.size()> originals;

std::size_t resident() {
  long pages = 0; // the second number
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file != nullptr) {
    std::array<char, 128> text{};
    if (std::fgets(text.data(), text.size(), file) != nullptr) {
      // Not strtol, nor substr: they ask for a glibc or a libstdc++ that the
      // wheel's name does not.
      std::string_view second = text.data();
      second.remove_prefix(second.find(' ') + 1);
      std::from_chars(second.begin(), second.end(), pages);
    }
    std::fclose(file);
  }
  return static_cast<std::size_t>(pages) *
      static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void look(std::size_t size) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  const long passed = (now.tv_sec - limit.looked.tv_sec) * 1'000'000'000L +
      (now.tv_nsec - limit.looked.tv_nsec);
  if (passed < kPatience && size < kLarge) {
    return;
  }
  limit.looked = now;
  const std::size_t size_now = resident();
  limit.grown = size_now > limit.before ? size_now - limit.before : 0;
}

bool is_refused(std::size_t size) {
  if (limit.bytes == 0) {
    return false;
  }
  look(size);
  const std::size_t allowed = size < kSmall ? 2 * limit.bytes : limit.bytes;
  return size > allowed || limit.grown > allowed - size;
}

const PyMemAllocatorEx& original(void* context) {
  return *static_cast<PyMemAllocatorEx*>(context);
}

void* limited_malloc(void* context, std::size_t size) {
  const PyMemAllocatorEx& before = original(context);
  return is_refused(size) ? nullptr : before.malloc(before.ctx, size);
}

void* limited_calloc(void* context, std::size_t count, std::size_t size) {
  const PyMemAllocatorEx& before = original(context);
  return is_refused(count * size) ? nullptr
                                  : before.calloc(before.ctx, count, size);
}

void* limited_realloc(void* context, void* memory, std::size_t size) {
  const PyMemAllocatorEx& before = original(context);
  return is_refused(size) ? nullptr : before.realloc(before.ctx, memory, size);
}

void pass_free(void* context, void* memory) {
  const PyMemAllocatorEx& before = original(context);
  before.free(before.ctx, memory);
}

void install() {
  for (std::size_t index = 0; index < kDomains.size(); ++index) {
    PyMemAllocatorEx now{};
    PyMem_GetAllocator(kDomains[index], &now);
    if (now.malloc == limited_malloc) { // it could not be taken away
      continue;
    }
    originals[index] = now;
    PyMemAllocatorEx ours = {
        &originals[index],
        limited_malloc,
        limited_calloc,
        limited_realloc,
        pass_free};
    PyMem_SetAllocator(kDomains[index], &ours);
  }
}

void uninstall() {
  for (std::size_t index = 0; index < kDomains.size(); ++index) {
    PyMemAllocatorEx now{};
    PyMem_GetAllocator(kDomains[index], &now);
    if (now.malloc == limited_malloc) { // else tracemalloc stands before it
      PyMem_SetAllocator(kDomains[index], &originals[index]);
    }
  }
}

} // namespace

void pyharness::breakpoints::begin_memory_limit(std::size_t bytes) {
  if (limit.bytes == 0 && limited_threads++ == 0) {
    install();
  }
  limit = {bytes, resident(), 0, {}};
}

void pyharness::breakpoints::end_memory_limit() {
  if (limit.bytes != 0 && --limited_threads == 0) {
    uninstall();
  }
  limit = {};
}
