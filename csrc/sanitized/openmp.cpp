// Tells ThreadSanitizer of the order that OpenMP's runtime makes: GCC's libgomp
// is not instrumented and waits in futexes, so what a thread writes before a
// parallel region and what its threads read would be reported as a race, in
// torch's at::parallel_for above all.
//
// By the order of LD_PRELOAD these come before libgomp's own. Where there is no
// ThreadSanitizer they only pass on.

#include <csrc/guard/dynamic_loader.h>

#include <link.h>

#include <atomic>
#include <cstddef>
#include <cstring>

namespace {

using Region = void (*)(void*);
using Annotate = void (*)(void*);
using Parallel = void (*)(Region, void*, unsigned, unsigned);
using Barrier = void (*)();

struct Tsan {
  Annotate acquire =
      reinterpret_cast<Annotate>(dlsym(RTLD_DEFAULT, "__tsan_acquire"));
  Annotate release =
      reinterpret_cast<Annotate>(dlsym(RTLD_DEFAULT, "__tsan_release"));
};

const Tsan& tsan() {
  static const Tsan found;
  return found;
}

void acquire(void* token) {
  if (tsan().acquire != nullptr) {
    tsan().acquire(token);
  }
}

void release(void* token) {
  if (tsan().release != nullptr) {
    tsan().release(token);
  }
}

struct Wanted {
  const char* name;
  void* found;
};

// A library that torch brings need not be among those that dlsym() searches.
int find_in(dl_phdr_info* library, size_t, void* data) {
  auto* wanted = static_cast<Wanted*>(data);
  if (std::strstr(library->dlpi_name, "libgomp") != nullptr) {
    void* opened = dlopen(library->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (opened != nullptr) {
      wanted->found = dlsym(opened, wanted->name);
    }
  }
  return wanted->found != nullptr ? 1 : 0;
}

void* of_libgomp(const char* name) {
  Wanted wanted{name, dlsym(RTLD_NEXT, name)};
  if (wanted.found == nullptr) {
    dl_iterate_phdr(&find_in, &wanted);
  }
  return wanted.found;
}

// A region, what it is given, and what orders its threads with the one that
// begins it.
struct Ordered {
  Region region;
  void* data;
  char begun = 0;
  char ended = 0;
};

void run_ordered(void* data) {
  auto* ordered = static_cast<Ordered*>(data);
  acquire(&ordered->begun);
  ordered->region(ordered->data);
  release(&ordered->ended);
}

char barriers;

} // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are libgomp's.
extern "C" {

__attribute__((visibility("default"))) void
GOMP_parallel(Region region, void* data, unsigned threads, unsigned flags) {
  static const auto next =
      reinterpret_cast<Parallel>(of_libgomp("GOMP_parallel"));
  Ordered ordered{region, data};
  release(&ordered.begun);
  next(&run_ordered, &ordered, threads, flags);
  acquire(&ordered.ended);
}

__attribute__((visibility("default"))) void GOMP_barrier() {
  static const auto next =
      reinterpret_cast<Barrier>(of_libgomp("GOMP_barrier"));
  release(&barriers);
  next();
  acquire(&barriers);
}
}
// NOLINTEND(readability-identifier-naming)
