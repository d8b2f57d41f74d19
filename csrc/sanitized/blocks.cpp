// A table of blocks, in sets of eight by their addresses: what does not fit
// takes the place of a block that was freed, else of any.
//
// Each malloc() notes the Python half of its stack, which is cheap. torch's CPU
// allocator takes the memory of its tensors by posix_memalign(): for those the
// native half is noted, too, by unwind tables, since torch keeps no frame
// pointers, and the sanitizer's own stack of a block ends there.
#include <csrc/sanitized/blocks.h>

#include <csrc/guard/dynamic_loader.h>

#include <sys/mman.h>

#include <atomic>
#include <cstddef>

namespace pyharness::sanitized {
namespace {

constexpr uint64_t kSets = 1 << 17;
constexpr size_t kBlocksOfSet = 8;
constexpr int kPatience = 1000;

struct Set {
  std::atomic_flag busy;
  uint32_t next_victim;
  Block blocks[kBlocksOfSet];
};

std::atomic<Set*> table{nullptr};

Set* make_table() {
  void* memory = mmap(
      nullptr,
      sizeof(Set) * kSets,
      PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
      -1,
      0);
  return memory == MAP_FAILED ? nullptr : static_cast<Set*>(memory);
}

// The set of an address while it exists; without one where another thread
// keeps it, who may have been lost by a fork: then nothing is noted.
class Held {
 public:
  explicit Held(uint64_t address) {
    Set* sets = table.load(std::memory_order_acquire);
    if (sets == nullptr) {
      return;
    }
    Set& mine = sets[(address >> 4) * 0x9E3779B97F4A7C15u >> 47];
    for (int i = 0; i < kPatience; ++i) {
      if (!mine.busy.test_and_set(std::memory_order_acquire)) {
        set_ = &mine;
        return;
      }
    }
  }
  ~Held() {
    if (set_ != nullptr) {
      set_->busy.clear(std::memory_order_release);
    }
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  // Null where it has none of that address.
  Block* at(uint64_t address) const {
    if (set_ != nullptr) {
      for (Block& block : set_->blocks) {
        if (block.address == address) {
          return &block;
        }
      }
    }
    return nullptr;
  }

  void put(const Block& block) const {
    if (set_ != nullptr) {
      *place_of(block.address) = block;
    }
  }

 private:
  Block* place_of(uint64_t address) const {
    Block* freed = nullptr;
    for (Block& block : set_->blocks) {
      if (block.address == address || block.address == 0) {
        return &block;
      }
      if (block.freed != 0) {
        freed = &block;
      }
    }
    return freed != nullptr ? freed
                            : &set_->blocks[set_->next_victim++ % kBlocksOfSet];
  }

  Set* set_ = nullptr;
};

uint64_t number_of(const volatile void* address) {
  return reinterpret_cast<uint64_t>(address);
}

void note_made(const volatile void* memory, size_t size, uint32_t stack) {
  if (stack != 0) {
    Held(number_of(memory)).put({number_of(memory), size, stack, 0});
  }
}

void on_malloc(const volatile void* memory, size_t size) {
  if (memory != nullptr) {
    note_made(memory, size, this_short_stack());
  }
}

void on_free(const volatile void* memory) {
  const uint64_t address = number_of(memory);
  bool known = false;
  bool native = false;
  if (address != 0) {
    const Held held(address);
    const Block* block = held.at(address);
    known = block != nullptr;
    native = known && !is_short(block->made);
  }
  if (known) {
    // Without the set: unwinding may allocate.
    const uint32_t stack = native ? this_stack() : this_short_stack();
    const Held held(address);
    Block* block = held.at(address);
    if (block != nullptr) {
      block->freed = stack;
    }
  }
}

} // namespace

void watch_blocks() {
  using Install = int (*)(
      void (*)(const volatile void*, size_t), void (*)(const volatile void*));
  const auto install = reinterpret_cast<Install>(
      dlsym(RTLD_DEFAULT, "__sanitizer_install_malloc_and_free_hooks"));
  Set* made = install == nullptr ? nullptr : make_table();
  if (made != nullptr) {
    table.store(made, std::memory_order_release);
    install(&on_malloc, &on_free);
  }
}

Block block_at(uint64_t address) {
  const Block* block = Held(address).at(address);
  return block == nullptr ? Block{} : *block;
}

} // namespace pyharness::sanitized

// Before the sanitizer's, by the order of LD_PRELOAD.
extern "C" __attribute__((visibility("default"))) int
posix_memalign(void** memptr, size_t alignment, size_t size) noexcept {
  using Function = int (*)(void**, size_t, size_t);
  static std::atomic<Function> next{nullptr};
  Function call = next.load(std::memory_order_relaxed);
  if (call == nullptr) {
    call = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "posix_memalign"));
    next.store(call, std::memory_order_relaxed);
  }
  const int status = call(memptr, alignment, size);
  if (status == 0 &&
      pyharness::sanitized::table.load(std::memory_order_acquire) != nullptr) {
    pyharness::sanitized::note_made(
        *memptr, size, pyharness::sanitized::this_stack());
  }
  return status;
}
