// A library finds pthread_create() in its table of what others define
// (DT_JMPREL; DT_RELA where it was compiled with -fno-plt). Python has loaded
// most of them before we come, so nothing that is preloaded could be first:
// their entries are written over, as profilers of memory do it.
#include <csrc/guard/thread_stacks.h>

#include <csrc/guard/dynamic_loader.h>

#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

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

// What a loaded library's dynamic section says.
class Library {
 public:
  explicit Library(const dl_phdr_info& info) : base_(info.dlpi_addr) {
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr) & header = info.dlpi_phdr[i];
      if (header.p_type == PT_DYNAMIC) {
        read(reinterpret_cast<const ElfW(Dyn)*>(base_ + header.p_vaddr));
      } else if (header.p_type == PT_GNU_RELRO) {
        read_only_ = base_ + header.p_vaddr;
        read_only_end_ = read_only_ + header.p_memsz;
      }
    }
  }

  void replace() const {
    const uint32_t symbol = undefined_symbol();
    if (symbol != 0) {
      replace(calls_, calls_size_, symbol);
      replace(others_ + relative_, others_size_ - relative_, symbol);
    }
  }

 private:
  void read(const ElfW(Dyn) * entry) {
    for (; entry->d_tag != DT_NULL; ++entry) {
      const ElfW(Addr) value = entry->d_un.d_ptr;
      switch (entry->d_tag) {
        case DT_SYMTAB:
          symbols_ = reinterpret_cast<const ElfW(Sym)*>(value);
          break;
        case DT_STRTAB:
          names_ = reinterpret_cast<const char*>(value);
          break;
        case DT_GNU_HASH:
          hashes_ = reinterpret_cast<const uint32_t*>(value);
          break;
        case DT_JMPREL:
          calls_ = reinterpret_cast<const ElfW(Rela)*>(value);
          break;
        case DT_PLTRELSZ:
          calls_size_ = value / sizeof(ElfW(Rela));
          break;
        case DT_RELA:
          others_ = reinterpret_cast<const ElfW(Rela)*>(value);
          break;
        case DT_RELASZ:
          others_size_ = value / sizeof(ElfW(Rela));
          break;
        case DT_RELACOUNT: // they come first, and have no symbol
          relative_ = value;
          break;
        default:
          break;
      }
    }
  }

  // The hash table begins behind what is undefined; 0 for none. The kernel's
  // own library has addresses that nobody has moved.
  uint32_t undefined_symbol() const {
    if (symbols_ == nullptr || names_ == nullptr || hashes_ == nullptr ||
        reinterpret_cast<ElfW(Addr)>(symbols_) < base_) {
      return 0;
    }
    const uint32_t first_defined = hashes_[1];
    for (uint32_t i = 1; i < first_defined; ++i) {
      if (std::strcmp(names_ + symbols_[i].st_name, kName) == 0) {
        return symbols_[i].st_shndx == SHN_UNDEF ? i : 0;
      }
    }
    return 0;
  }

  void replace(const ElfW(Rela) * entries, size_t count, uint32_t symbol)
      const {
    for (size_t i = 0; i < count; ++i) {
      const auto type = ELF64_R_TYPE(entries[i].r_info);
      if (ELF64_R_SYM(entries[i].r_info) == symbol &&
          (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT)) {
        write(base_ + entries[i].r_offset);
      }
    }
  }

  void write(ElfW(Addr) place) const {
    auto* entry = reinterpret_cast<std::atomic<Create>*>(place);
    const bool is_read_only = read_only_ <= place && place < read_only_end_;
    const auto size = static_cast<ElfW(Addr)>(sysconf(_SC_PAGESIZE));
    auto* page = reinterpret_cast<void*>(place & ~(size - 1));
    if (is_read_only && mprotect(page, size, PROT_READ | PROT_WRITE) != 0) {
      return;
    }
    entry->store(&create, std::memory_order_release);
    if (is_read_only) {
      mprotect(page, size, PROT_READ);
    }
  }

  ElfW(Addr) base_;
  ElfW(Addr) read_only_ = 0;
  ElfW(Addr) read_only_end_ = 0;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* names_ = nullptr;
  const uint32_t* hashes_ = nullptr;
  const ElfW(Rela) * calls_ = nullptr;
  const ElfW(Rela) * others_ = nullptr;
  size_t calls_size_ = 0;
  size_t others_size_ = 0;
  size_t relative_ = 0;
};

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
    Library(*info).replace();
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
