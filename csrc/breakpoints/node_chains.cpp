// See node_chains.h. Apart from the recorder's own account, which knows more of
// each node and must not be written over.
#include <csrc/torch_headers.h>

#include <csrc/breakpoints/node_chains.h>

#include <ATen/SequenceNumber.h>

#include <array>
#include <atomic>

namespace pyharness::breakpoints {

namespace {

constexpr std::size_t kRemembered = 1 << 16;

struct Slot {
  std::atomic<std::uint64_t> node{0};
  std::atomic<std::uint64_t> made{0}; // chain, and `since` above it
};

std::array<Slot, kRemembered> slots;

std::uint64_t number_of(std::uint64_t thread, std::uint64_t sequence) {
  return thread << 44 ^ sequence;
}

Slot& slot_of(std::uint64_t node) {
  return slots[(node ^ node >> 44) % kRemembered];
}

// How far this thread's nodes are noted, and for whom.
thread_local std::uint64_t noted = 0;
thread_local std::uint32_t noted_for = 0;

} // namespace

void begin_node_chains(std::uint32_t since) {
  if (noted_for != since) {
    noted_for = since;
    noted = at::sequence_number::peek();
  }
}

void note_node_chains(std::uint32_t since) {
  const auto now = at::sequence_number::peek();
  if (now == noted || noted_for != since) {
    return;
  }
  const auto made =
      static_cast<std::uint64_t>(since) << 32 | engine::current_chain();
  const auto thread = at::RecordFunction::currentThreadId();
  const auto first = std::max(noted, now - std::min<std::uint64_t>(now, 256));
  for (auto sequence = first; sequence < now; ++sequence) {
    const auto node = number_of(thread, sequence);
    Slot& slot = slot_of(node);
    slot.made.store(made, std::memory_order_relaxed);
    slot.node.store(node, std::memory_order_release);
  }
  noted = now;
}

engine::Chain
chain_of(std::uint64_t thread, std::uint64_t sequence, std::uint32_t since) {
  const auto node = number_of(thread, sequence);
  const Slot& slot = slot_of(node);
  if (slot.node.load(std::memory_order_acquire) != node) {
    return 0;
  }
  const auto made = slot.made.load(std::memory_order_relaxed);
  return made >> 32 == since ? static_cast<engine::Chain>(made) : 0;
}

} // namespace pyharness::breakpoints
