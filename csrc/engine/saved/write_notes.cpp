// See write_notes.h. All of it runs in a handler of a signal, within whatever
// the thread does: it allocates nothing, and takes no lock.
#include <csrc/engine/saved/write_notes.h>

#include <csrc/engine/saved/python_notes.h>

#include <execinfo.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>

namespace pyharness::engine {

namespace {

constexpr std::size_t kWrites = 1024; // the last ones

Write* writes = nullptr;
std::atomic<std::size_t> next_write{0};

void* instruction_of(const ucontext_t& context) {
#if defined(__x86_64__)
  return reinterpret_cast<void*>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<void*>(context.uc_mcontext.pc);
#else
#error "Name the register that has the address of the instruction."
#endif
}

// From the instruction that writes outward: before it come our own frames.
void note_native(Write& write, const ucontext_t& context) {
  std::array<void*, Write::kMostNative> frames;
  const auto count = static_cast<std::size_t>(
      backtrace(frames.data(), static_cast<int>(frames.size())));
  auto* const end = frames.begin() + count;
  auto* const pc = instruction_of(context);
  auto* const first = std::find(frames.begin(), end, pc);
  write.native[0] = pc;
  write.native_count = 1;
  if (first != end) {
    write.native_count = end - first;
    std::copy(first, end, write.native.begin());
  }
}

} // namespace

void prepare_notes() {
  void* memory = mmap(
      nullptr,
      kWrites * sizeof(Write),
      PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
      -1,
      0);
  if (memory == MAP_FAILED) {
    throw std::runtime_error("the system has no memory for notes of writes");
  }
  writes = static_cast<Write*>(memory);
  std::array<void*, 4> frames;
  backtrace(frames.data(), frames.size()); // loads what it needs
}

void note_write(Block& block, std::uintptr_t address, const void* context) {
  auto& write = writes[next_write.fetch_add(1) % kWrites];
  write.moment.store(0, std::memory_order_release);
  write.block = &block;
  write.previous = block.last_write.load();
  write.address = address;
  write.thread = syscall(SYS_gettid);
  write.page = address & ~(Write::kPage - 1);
  std::memcpy(
      write.before.data(),
      reinterpret_cast<const void*>(write.page),
      Write::kPage);
  note_python(write, block.saver);
  note_native(write, *static_cast<const ucontext_t*>(context));
  write.moment.store(next_moment(), std::memory_order_release);
  block.last_write.store(&write, std::memory_order_release);
}

const Write* first_write_behind(const Block& block, Moment moment) {
  const Write* found = nullptr;
  const auto* write = block.last_write.load(std::memory_order_acquire);
  // A note that was used again belongs to another block, or is newer.
  auto newest = next_moment();
  while (write != nullptr && write->block == &block) {
    const auto at = write->moment.load(std::memory_order_acquire);
    if (at <= moment || at >= newest) {
      break;
    }
    found = write;
    newest = at;
    write = write->previous;
  }
  return found;
}

} // namespace pyharness::engine
