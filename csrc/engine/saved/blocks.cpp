// See blocks.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/saved/blocks.h>

#include <csrc/engine/interpose.h>
#include <csrc/engine/saved/system_calls.h>
#include <csrc/engine/saved/write_notes.h>
#include <csrc/previous_action.h>

#include <c10/core/CPUAllocator.h>

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <unordered_map>
#include <vector>

// Begin and size of the room: a debugger names the signal of a write by them.
extern "C" __attribute__((
    used,
    visibility("default"))) std::uintptr_t pyharness_watched_memory[2] = {};

namespace pyharness::engine {

namespace {

constexpr std::size_t kPage = Write::kPage;
constexpr std::size_t kMostRoom = std::size_t{1} << 40; // addresses, no memory
constexpr std::size_t kLeastRoom = std::size_t{1} << 34;
constexpr std::size_t kGrowth = std::size_t{1} << 26;
constexpr std::size_t kMostFree = std::size_t{1} << 29; // memory that is kept
constexpr std::size_t kMostSmall = std::size_t{1} << 18; // a GiB of pages

std::atomic<Moment> moments{0};

// --- the room ----------------------------------------------------------------

struct Room {
  std::uintptr_t begin = 0;
  std::size_t size = 0;
  std::size_t used = 0;
  std::size_t writable = 0;
  Block** owners = nullptr; // by page
};

// Read by the handler of the signal: written once, before that is there.
Room room;
std::mutex room_mutex;
std::size_t small_blocks = 0; // that are taken
std::size_t free_memory = 0; // of free blocks that the system has not back

void* reserve(std::size_t size, int protection) {
  void* found = mmap(
      nullptr,
      size,
      protection,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
      -1,
      0);
  return found == MAP_FAILED ? nullptr : found;
}

void make_room() {
  for (std::size_t size = kMostRoom; size >= kLeastRoom; size /= 2) {
    void* begin = reserve(size, PROT_NONE);
    void* owners = begin == nullptr
        ? nullptr
        : reserve(size / kPage * sizeof(Block*), PROT_READ | PROT_WRITE);
    if (owners != nullptr) {
      room.begin = reinterpret_cast<std::uintptr_t>(begin);
      room.size = size;
      room.owners = static_cast<Block**>(owners);
      pyharness_watched_memory[0] = room.begin;
      pyharness_watched_memory[1] = room.size;
      return;
    }
    if (begin != nullptr) {
      munmap(begin, size);
    }
  }
  throw std::runtime_error(
      "the system has no room for the addresses of watched tensors");
}

// Sizes for which free blocks are kept: at most an eighth is wasted.
std::size_t rounded(std::size_t bytes) {
  const auto pages = std::max<std::size_t>((bytes + kPage - 1) / kPage, 1);
  const auto step = std::max<std::size_t>(std::bit_floor(pages) / 8, 1);
  return (pages + step - 1) / step * step * kPage;
}

// --- blocks ------------------------------------------------------------------

// Never freed: whose address a handler of the signal has may be free by then.
std::unordered_map<std::size_t, std::vector<Block*>>& free_blocks() {
  static auto* blocks =
      new std::unordered_map<std::size_t, std::vector<Block*>>();
  return *blocks;
}

bool set_writable(std::uintptr_t begin, std::size_t size, bool writable) {
  return mprotect(
             reinterpret_cast<void*>(begin),
             size,
             writable ? PROT_READ | PROT_WRITE : PROT_READ) == 0;
}

// With the mutex. Null where there is no memory.
Block* new_block(std::size_t size) {
  if (size > room.size - room.used) {
    return nullptr;
  }
  const auto end = room.used + size;
  if (end > room.writable) {
    const auto grown =
        std::min(room.size, (end + kGrowth - 1) / kGrowth * kGrowth);
    if (!set_writable(
            room.begin + room.writable, grown - room.writable, true)) {
      return nullptr;
    }
    room.writable = grown;
  }
  auto* block = new Block;
  block->begin = room.begin + room.used;
  block->size = size;
  std::fill_n(room.owners + room.used / kPage, size / kPage, block);
  room.used = end;
  return block;
}

std::size_t physical_memory() {
  static const auto size =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * kPage;
  return size;
}

// Null where there is no room; for what no memory holds, which is an error
// sooner than the program's end; and for one of a million numbers: pages of its
// own for each would be a program's memory.
Block* take_block(std::size_t bytes) {
  if (bytes > physical_memory()) {
    return nullptr;
  }
  const auto size = rounded(bytes);
  const std::size_t small = size == kPage ? 1 : 0;
  const std::lock_guard<std::mutex> lock(room_mutex);
  if (small_blocks + small > kMostSmall) {
    return nullptr;
  }
  auto& unused = free_blocks()[size];
  auto* block = unused.empty() ? new_block(size) : unused.back();
  if (!unused.empty()) {
    unused.pop_back();
    free_memory -= block->kept ? size : 0;
  }
  small_blocks += block != nullptr ? small : 0;
  return block;
}

void give_back(void* address) {
  auto* block = block_at(address);
  unwatch(*block);
  block->use.fetch_add(1, std::memory_order_release);
  const std::lock_guard<std::mutex> lock(room_mutex);
  block->kept = free_memory + block->size <= kMostFree;
  if (block->kept) {
    free_memory += block->size;
  } else {
    madvise(address, block->size, MADV_DONTNEED);
  }
  small_blocks -= block->size == kPage ? 1 : 0;
  free_blocks()[block->size].push_back(block);
}

// Whose the CPU's memory was.
c10::Allocator* other = nullptr;

void free_any(void* address) {
  if (block_at(address) != nullptr) {
    give_back(address);
  } else if (address != nullptr) {
    other->raw_deallocate(address);
  }
}

class BlockAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    auto* block = bytes > 0 ? take_block(bytes) : nullptr;
    void* data = block != nullptr
        ? reinterpret_cast<void*>(block->begin)
        : other->raw_allocate(bytes); // which says so where there is no memory
    return {data, data, &free_any, c10::Device(c10::DeviceType::CPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override {
    return &free_any;
  }

  void copy_data(void* to, const void* from, std::size_t count) const override {
    default_copy_data(to, from, count);
  }
};

// --- watched -----------------------------------------------------------------

// A read-only block among writable ones takes three of the mappings that a
// process may have. Where there are no more left, no block can be made writable
// again, either.
std::size_t find_most_watched() {
  std::size_t most = 65530;
  std::ifstream("/proc/sys/vm/max_map_count") >> most;
  return most / 4;
}

std::atomic<std::size_t> watched_blocks{0};
std::size_t most_watched = 0;

// --- the signal --------------------------------------------------------------

struct sigaction behind{}; // whose the signal was: all else is theirs
std::atomic<long> passing{0}; // the thread that they are told of

// A handler that was set after ours may give the signal back to us in its end;
// and who ignores a fault would meet it for ever.
void pass_on(int number, siginfo_t* information, void* context) {
  const auto thread = syscall(SYS_gettid);
  const bool ignored =
      (behind.sa_flags & SA_SIGINFO) == 0 && behind.sa_handler == SIG_IGN;
  auto next = behind;
  if (ignored || passing.load() == thread) {
    next = {};
    next.sa_handler = SIG_DFL;
  }
  const bool sent = information->si_code <= 0;
  passing.store(thread);
  pyharness::pass_on(next, number, information, context, /*again=*/sent);
  passing.store(0);
}

void on_fault(int number, siginfo_t* information, void* context) {
  const int error = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(information->si_addr);
  auto* block = block_at(information->si_addr);
  if (block == nullptr || information->si_code != SEGV_ACCERR) {
    pass_on(number, information, context);
    errno = error;
    return;
  }
  if (block->watched.exchange(false)) {
    --watched_blocks;
    note_write(*block, address, context);
  }
  // Also where another thread is just doing so.
  set_writable(block->begin, block->size, true);
  errno = error;
}

// Who sets a handler of the signal, sets the one behind ours: theirs would take
// a write for a crash.
std::atomic<decltype(&sigaction)> original_sigaction = nullptr;

int set_behind(
    int number,
    const struct sigaction* wanted,
    struct sigaction* before) noexcept {
  if (number != SIGSEGV) {
    return original_sigaction.load(std::memory_order_relaxed)(
        number, wanted, before);
  }
  const auto old = behind;
  if (wanted != nullptr) {
    behind = *wanted;
  }
  if (before != nullptr) {
    *before = old;
  }
  return 0;
}

bool handle() {
  struct sigaction now{};
  if (sigaction(SIGSEGV, nullptr, &now) != 0) {
    return false;
  }
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == &on_fault) {
    return true;
  }
  struct sigaction ours{};
  ours.sa_sigaction = &on_fault;
  ours.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&ours.sa_mask);
  behind = now; // also of a library that is loaded later, whose calls we miss
  return sigaction(SIGSEGV, &ours, nullptr) == 0;
}

} // namespace

Moment next_moment() {
  return moments.fetch_add(1) + 1;
}

void allocate_in_blocks() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (sysconf(_SC_PAGESIZE) != static_cast<long>(kPage)) {
      throw std::runtime_error("pages of memory have not 4 KiB here");
    }
    make_room();
    most_watched = find_most_watched();
    prepare_notes();
    pthread_atfork(
        [] { room_mutex.lock(); },
        [] { room_mutex.unlock(); },
        [] { room_mutex.unlock(); });
    static Interposition calls("sigaction");
    if (!handle()) {
      throw std::runtime_error("the system refuses a handler of SIGSEGV");
    }
    if (calls.possible()) {
      calls.lead(original_sigaction, &set_behind);
    }
    lead_reading_calls();
    other = c10::GetCPUAllocator();
    c10::SetCPUAllocator(new BlockAllocator, /*priority=*/UINT8_MAX);
  });
}

Block* block_at(const void* address) {
  const auto offset = reinterpret_cast<std::uintptr_t>(address) - room.begin;
  return offset < room.size ? room.owners[offset / kPage] : nullptr;
}

void unwatch(Block& block) {
  if (block.watched.exchange(false)) {
    --watched_blocks;
    set_writable(block.begin, block.size, true);
  }
}

bool watch(Block& block) {
  if (!handle()) {
    return false;
  }
  if (block.watched.load()) {
    return true;
  }
  if (watched_blocks.load() >= most_watched) {
    return false;
  }
  ++watched_blocks;
  block.watched.store(true);
  if (set_writable(block.begin, block.size, false)) {
    return true;
  }
  unwatch(block);
  return false;
}

} // namespace pyharness::engine
