// By the order of LD_PRELOAD this pthread_create() comes before the
// sanitizer's. A thread of C++ alone has no Python of its own: what started it
// has.
#include <csrc/sanitized/threads.h>

#include <csrc/guard/dynamic_loader.h>
#include <csrc/sanitized/call_stacks.h>

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>

namespace pyharness::sanitized {
namespace {

constexpr size_t kThreads = 4096; // the last ones

struct Started {
  std::atomic<uint64_t> thread;
  std::atomic<uint32_t> stack;
};

Started threads[kThreads];
std::atomic<size_t> count{0};

struct Start {
  void* (*function)(void*);
  void* argument;
  uint32_t stack;
};

void note(uint32_t stack) {
  Started& mine = threads[count.fetch_add(1) % kThreads];
  mine.stack.store(stack);
  mine.thread.store(static_cast<uint64_t>(syscall(SYS_gettid)));
}

void* run(void* data) {
  const Start start = *static_cast<Start*>(data);
  free(data);
  note(start.stack);
  return start.function(start.argument);
}

} // namespace

uint32_t start_of(uint64_t thread) {
  const size_t last = count.load();
  for (size_t i = 0; i < kThreads && i < last; ++i) { // ids are used again
    const Started& one = threads[(last - 1 - i) % kThreads];
    if (one.thread.load() == thread) {
      return one.stack.load();
    }
  }
  return 0;
}

} // namespace pyharness::sanitized

extern "C" __attribute__((visibility("default"))) int pthread_create(
    pthread_t* newthread,
    const pthread_attr_t* attr,
    void* (*start_routine)(void*),
    void* arg) noexcept {
  namespace ours = pyharness::sanitized;
  using Create =
      int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto next =
      reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  const uint32_t stack = ours::this_stack();
  auto* start = static_cast<ours::Start*>(
      stack == 0 ? nullptr : malloc(sizeof(ours::Start)));
  if (start == nullptr) {
    return next(newthread, attr, start_routine, arg);
  }
  *start = {start_routine, arg, stack};
  const int status = next(newthread, attr, &ours::run, start);
  if (status != 0) {
    free(start);
  }
  return status;
}
