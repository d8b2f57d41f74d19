// A library finds pthread_create() in its table of what others define
// (DT_JMPREL; DT_RELA where it was compiled with -fno-plt). Python has loaded
// most of them before we come, so nothing that is preloaded could be first:
// their entries are written over, as profilers of memory do it.
#include <csrc/guard/thread_stacks.h>

#include <csrc/guard/dynamic_loader.h>
#include <csrc/loaded_library.h>

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace pyharness::inspect {
namespace {

constexpr size_t kOtherStackSize = 128 << 10;
constexpr const char* kName = "pthread_create";

using Routine = void* (*)(void*);
using Create = int (*)(pthread_t*, const pthread_attr_t*, Routine, void*);

struct Start {
  Routine function;
  void* argument;
};

Create theirs = nullptr;
pthread_key_t stack_of_thread;

// At a thread's end.
void give_back(void* memory) {
  stack_t now{};
  if (sigaltstack(nullptr, &now) == 0 && now.ss_sp == memory) {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  munmap(memory, kOtherStackSize);
}

void* run(void* data) {
  const Start start = *static_cast<Start*>(data);
  free(data);
  have_other_stack(false);
  return start.function(start.argument);
}

int create(
    pthread_t* thread,
    const pthread_attr_t* attributes,
    Routine function,
    void* argument) {
  watch_thread_starts();
  auto* start = static_cast<Start*>(malloc(sizeof(Start)));
  if (start == nullptr) {
    return theirs(thread, attributes, function, argument);
  }
  *start = {function, argument};
  const int status = theirs(thread, attributes, &run, start);
  if (status != 0) {
    free(start);
  }
  return status;
}

// 0 for none: the first symbol has no name.
uint32_t number_of_theirs(const LoadedLibrary& library) {
  for (uint32_t i = 1; i < library.count_undefined(); ++i) {
    if (std::strcmp(library.name(i), kName) == 0) {
      return library.is_undefined(i) ? i : 0;
    }
  }
  return 0;
}

void lead(
    const LoadedLibrary& library,
    Relocations relocations,
    uint32_t symbol) {
  for (const auto& each : relocations) {
    const auto type = ELF64_R_TYPE(each.r_info);
    if (ELF64_R_SYM(each.r_info) == symbol &&
        (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT)) {
      library.slot(each).lead_to(reinterpret_cast<void*>(&create));
    }
  }
}

void lead_all(const LoadedLibrary& library) {
  const uint32_t symbol = library.is_readable() ? number_of_theirs(library) : 0;
  if (symbol != 0) {
    lead(library, library.calls(), symbol);
    lead(library, library.others(), symbol);
  }
}

constexpr size_t kLibraries = 4096; // those behind them are looked at each time

// The libraries that have been looked at: where one was unloaded another can
// come to lie, so of those before only the ones that are still there count.
struct Seen {
  ElfW(Addr) bases[kLibraries];
  size_t count;
};

Seen seen[2];
size_t latest = 0;
std::atomic<bool> looks{false};
std::atomic<unsigned long long> loaded{0};

bool was_seen(ElfW(Addr) base) {
  const Seen& before = seen[latest];
  for (size_t i = 0; i < before.count; ++i) {
    if (before.bases[i] == base) {
      return true;
    }
  }
  return false;
}

int look(dl_phdr_info* info, size_t /*size*/, void* /*unused*/) {
  Seen& now = seen[1 - latest];
  if (!was_seen(info->dlpi_addr)) {
    lead_all(LoadedLibrary(*info));
  }
  if (now.count < kLibraries) {
    now.bases[now.count++] = info->dlpi_addr;
  }
  return 0;
}

int count_loaded(dl_phdr_info* info, size_t /*size*/, void* count) {
  *static_cast<unsigned long long*>(count) = info->dlpi_adds;
  return 1; // each one says the same
}

// Memory of this module's own: malloc() may be what is broken.
void* other_stack() {
  void* memory = mmap(
      nullptr,
      kOtherStackSize,
      PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS,
      -1,
      0);
  return memory == MAP_FAILED ? nullptr : memory;
}

bool find_theirs() {
  if (theirs != nullptr) {
    return true;
  }
  const auto found = reinterpret_cast<Create>(dlsym(RTLD_DEFAULT, kName));
  if (found == nullptr ||
      pthread_key_create(&stack_of_thread, give_back) != 0) {
    return false;
  }
  theirs = found;
  return true;
}

} // namespace

void have_other_stack(bool for_good) {
  stack_t now{};
  if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) {
    return;
  }
  void* memory = other_stack();
  if (memory == nullptr) {
    return;
  }
  if (!for_good && pthread_setspecific(stack_of_thread, memory) != 0) {
    munmap(memory, kOtherStackSize);
    return;
  }
  stack_t other{};
  other.ss_sp = memory;
  other.ss_size = kOtherStackSize;
  sigaltstack(&other, nullptr);
}

void watch_thread_starts() {
  unsigned long long now = 0;
  dl_iterate_phdr(count_loaded, &now);
  if (now == loaded.load() || looks.exchange(true)) { // another thread looks
    return;
  }
  if (find_theirs()) {
    seen[1 - latest].count = 0;
    dl_iterate_phdr(look, nullptr);
    latest = 1 - latest;
    loaded.store(now);
  }
  looks.store(false);
}

} // namespace pyharness::inspect
