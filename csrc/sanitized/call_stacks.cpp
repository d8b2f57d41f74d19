// Runs inside of malloc(): without malloc(), locks or calls into Python. What
// it reads of a thread's Python is that thread's own, and it is in a call.
#include <csrc/sanitized/call_stacks.h>

#include <sys/mman.h>
#include <unwind.h>

#include <atomic>

namespace pyharness::sanitized {
namespace {

constexpr uint32_t kSlots = 1 << 16;
constexpr uint32_t kProbes = 16;
constexpr uint32_t kEmpty = 0;
constexpr uint32_t kWriting = 1;
constexpr uint64_t kTags = 3; // 3.14 keeps some in a reference

struct Slot {
  std::atomic<uint32_t> hash; // or kEmpty, kWriting
  CallStack stack;
};

struct Python {
  PythonLayout layout;
  void* (*this_state)();
};

Python python;
std::atomic<bool> watches_python{false};

// Pages that are touched when they are used.
Slot* make_slots() {
  void* memory = mmap(
      nullptr,
      sizeof(Slot) * kSlots,
      PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
      -1,
      0);
  return memory == MAP_FAILED ? nullptr : static_cast<Slot*>(memory);
}

Slot* slots() {
  static std::atomic<Slot*> made{nullptr};
  Slot* now = made.load(std::memory_order_acquire);
  if (now != nullptr) {
    return now;
  }
  Slot* mine = make_slots();
  if (mine == nullptr || made.compare_exchange_strong(now, mine)) {
    return mine;
  }
  munmap(mine, sizeof(Slot) * kSlots);
  return now;
}

uint64_t word(uint64_t address, int64_t offset) {
  return *reinterpret_cast<const uint64_t*>(
      address + static_cast<uint64_t>(offset));
}

uint64_t instruction_of(const PythonLayout& layout, uint64_t frame) {
  if (layout.last_instruction < 0) {
    return word(frame, layout.instruction);
  }
  return *reinterpret_cast<const uint32_t*>(
      frame + static_cast<uint64_t>(layout.last_instruction));
}

void add_python(CallStack& stack) {
  const PythonLayout& layout = python.layout;
  auto holder = reinterpret_cast<uint64_t>(python.this_state());
  if (holder != 0 && layout.loop >= 0) {
    holder = word(holder, layout.loop);
  }
  uint64_t frame = holder == 0 ? 0 : word(holder, layout.frame);
  while (frame != 0 && stack.python_count < kPythonFrames) {
    stack.python[stack.python_count++] = {
        word(frame, layout.code) & ~kTags, instruction_of(layout, frame)};
    frame = word(frame, layout.previous);
  }
}

_Unwind_Reason_Code add_native(_Unwind_Context* context, void* data) {
  auto* stack = static_cast<CallStack*>(data);
  stack->native[stack->native_count++] = _Unwind_GetIP(context);
  return stack->native_count < kNativeFrames ? _URC_NO_REASON
                                             : _URC_END_OF_STACK;
}

uint32_t hash_of(const CallStack& stack) {
  uint64_t hash = 1469598103934665603u; // FNV-1a, by words
  const auto add = [&](uint64_t value) {
    hash = (hash ^ value) * 1099511628211u;
    hash ^= hash >> 29;
  };
  for (uint32_t i = 0; i < stack.python_count; ++i) {
    add(stack.python[i].code);
    add(stack.python[i].instruction);
  }
  for (uint32_t i = 0; i < stack.native_count; ++i) {
    add(stack.native[i]);
  }
  const auto folded = static_cast<uint32_t>(hash ^ hash >> 32);
  return folded > kWriting ? folded : folded + 2;
}

uint32_t kept(const CallStack& stack) {
  Slot* all = slots();
  if (all == nullptr) {
    return 0;
  }
  const uint32_t hash = hash_of(stack);
  for (uint32_t i = 0; i < kProbes; ++i) {
    const uint32_t number = (hash + i) % kSlots;
    Slot& slot = all[number];
    uint32_t state = slot.hash.load(std::memory_order_acquire);
    if (state == kEmpty && slot.hash.compare_exchange_strong(state, kWriting)) {
      slot.stack = stack;
      slot.hash.store(hash, std::memory_order_release);
      return number + 1;
    }
    if (state == hash && slot.stack == stack) {
      return number + 1;
    }
  }
  return 0;
}

} // namespace

bool CallStack::operator==(const CallStack& other) const {
  if (python_count != other.python_count ||
      native_count != other.native_count) {
    return false;
  }
  for (uint32_t i = 0; i < python_count; ++i) {
    if (python[i] != other.python[i]) {
      return false;
    }
  }
  for (uint32_t i = 0; i < native_count; ++i) {
    if (native[i] != other.native[i]) {
      return false;
    }
  }
  return true;
}

void watch_python(const PythonLayout& layout, void* (*this_state)()) {
  python = {layout, this_state};
  watches_python.store(true, std::memory_order_release);
}

uint32_t this_stack(bool native) {
  CallStack stack;
  if (watches_python.load(std::memory_order_acquire)) {
    add_python(stack);
  }
  if (native) {
    _Unwind_Backtrace(&add_native, &stack);
  }
  return stack.python_count + stack.native_count == 0 ? 0 : kept(stack);
}

const CallStack* stack_of(uint32_t number) {
  Slot* all = number == 0 ? nullptr : slots();
  return all == nullptr ? nullptr : &all[number - 1].stack;
}

} // namespace pyharness::sanitized
