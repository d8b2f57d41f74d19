// Runs inside of malloc(): without malloc(), locks or calls into Python. What
// it reads of a thread's Python is that thread's own, and it is in a call.
#include <csrc/sanitized/call_stacks.h>

#include <sys/mman.h>
#include <unwind.h>

#include <algorithm>
#include <atomic>

namespace pyharness::sanitized {
namespace {

constexpr uint32_t kProbes = 16;
constexpr uint32_t kEmpty = 0;
constexpr uint32_t kWriting = 1;
constexpr uint32_t kShort = 1u << 31; // in the numbers of short stacks
constexpr uint64_t kTags = 3; // 3.14 keeps some in a reference

struct Python {
  PythonLayout layout;
  void* (*this_state)();
};

Python python;
std::atomic<bool> watches_python{false};

// What malloc() notes: there are many, of which Python's own are most.
constexpr uint32_t kShortFrames = 4;
struct ShortStack {
  uint32_t count = 0;
  PythonFrame python[kShortFrames] = {};

  bool operator==(const ShortStack&) const = default;
};

// Stacks by what they hold. None is ever dropped: a number stays what it is.
template <typename Stack, uint32_t kSlots>
class Depot {
 public:
  // 1 and more; 0 where there is no room.
  uint32_t kept(const Stack& stack, uint32_t hash) {
    Slot* all = slots();
    for (uint32_t i = 0; all != nullptr && i < kProbes; ++i) {
      const uint32_t index = (hash + i) % kSlots;
      Slot& slot = all[index];
      uint32_t state = slot.hash.load(std::memory_order_acquire);
      if (state == kEmpty &&
          slot.hash.compare_exchange_strong(state, kWriting)) {
        slot.stack = stack;
        slot.hash.store(hash, std::memory_order_release);
        return index + 1;
      }
      if (state == hash && slot.stack == stack) {
        return index + 1;
      }
    }
    return 0;
  }

  const Stack& at(uint32_t number) {
    return slots()[number - 1].stack;
  }

 private:
  struct Slot {
    std::atomic<uint32_t> hash; // or kEmpty, kWriting
    Stack stack;
  };

  // Pages that are touched when they are used.
  static Slot* made() {
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
    Slot* now = slots_.load(std::memory_order_acquire);
    if (now != nullptr) {
      return now;
    }
    Slot* mine = made();
    if (mine == nullptr || slots_.compare_exchange_strong(now, mine)) {
      return mine;
    }
    munmap(mine, sizeof(Slot) * kSlots);
    return now;
  }

  std::atomic<Slot*> slots_{nullptr};
};

Depot<CallStack, 1 << 17> whole_stacks;
Depot<ShortStack, 1 << 20> short_stacks;

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

// Frames of this thread's Python, innermost first; how many.
uint32_t python_frames(PythonFrame* frames, uint32_t most) {
  const PythonLayout& layout = python.layout;
  if (!watches_python.load(std::memory_order_acquire)) {
    return 0;
  }
  auto holder = reinterpret_cast<uint64_t>(python.this_state());
  if (holder != 0 && layout.loop >= 0) {
    holder = word(holder, layout.loop);
  }
  uint64_t frame = holder == 0 ? 0 : word(holder, layout.frame);
  uint32_t count = 0;
  while (frame != 0 && count < most) {
    frames[count++] = {
        word(frame, layout.code) & ~kTags, instruction_of(layout, frame)};
    frame = word(frame, layout.previous);
  }
  return count;
}

_Unwind_Reason_Code add_native(_Unwind_Context* context, void* data) {
  auto* stack = static_cast<CallStack*>(data);
  stack->native[stack->native_count++] = _Unwind_GetIP(context);
  return stack->native_count < kNativeFrames ? _URC_NO_REASON
                                             : _URC_END_OF_STACK;
}

// FNV-1a, by words, folded to what is no state of a slot.
class Hash {
 public:
  void add(const PythonFrame* frames, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      add(frames[i].code);
      add(frames[i].instruction);
    }
  }
  void add(uint64_t value) {
    value_ = (value_ ^ value) * 1099511628211u;
    value_ ^= value_ >> 29;
  }
  uint32_t folded() const {
    const auto folded = static_cast<uint32_t>(value_ ^ value_ >> 32);
    return folded > kWriting ? folded : folded + 2;
  }

 private:
  uint64_t value_ = 1469598103934665603u;
};

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

uint32_t this_stack() {
  CallStack stack;
  stack.python_count = python_frames(stack.python, kPythonFrames);
  _Unwind_Backtrace(&add_native, &stack);
  Hash hash;
  hash.add(stack.python, stack.python_count);
  for (uint32_t i = 0; i < stack.native_count; ++i) {
    hash.add(stack.native[i]);
  }
  return whole_stacks.kept(stack, hash.folded());
}

uint32_t this_short_stack() {
  ShortStack stack;
  stack.count = python_frames(stack.python, kShortFrames);
  if (stack.count == 0) {
    return 0;
  }
  Hash hash;
  hash.add(stack.python, stack.count);
  const uint32_t number = short_stacks.kept(stack, hash.folded());
  return number == 0 ? 0 : number | kShort;
}

bool is_short(uint32_t number) {
  return (number & kShort) != 0;
}

CallStack stack_of(uint32_t number) {
  if (number == 0) {
    return {};
  }
  if (!is_short(number)) {
    return whole_stacks.at(number);
  }
  const ShortStack& known = short_stacks.at(number & ~kShort);
  CallStack stack;
  stack.python_count = known.count;
  std::copy(known.python, known.python + known.count, stack.python);
  return stack;
}

} // namespace pyharness::sanitized
