// What made each of the last nodes of each thread: see provenance.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/provenance/provenance.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>

namespace pyharness::engine {

namespace {

constexpr std::uint64_t kNodes = 1 << 17; // of each thread: 2 MiB at most
constexpr std::uint64_t kThreads = 4096; // RecordFunction numbers them from 1

// Written by one thread and read by those that run its backward.
struct Entry {
  std::atomic<std::uint64_t> sequence; // + 1, so that 0 is none
  std::atomic<std::uint64_t> made; // chain, and order above it
  std::atomic<std::uint64_t> approximate; // and the epoch of the chain above it
};

struct OriginTable {
  std::array<Entry, kNodes> entries;
};

// Never freed: a graph may be run long after the thread that built it.
std::array<std::atomic<OriginTable*>, kThreads> tables{};

thread_local OriginTable* own = nullptr;

OriginTable* own_table() {
  if (own == nullptr) {
    // Zeroed pages of the system's: what is never written takes no memory.
    own = static_cast<OriginTable*>(std::calloc(1, sizeof(OriginTable)));
    const auto thread = at::RecordFunction::currentThreadId();
    tables[thread % kThreads].store(own, std::memory_order_release);
  }
  return own;
}

} // namespace

void note_nodes(
    std::uint64_t first,
    std::uint64_t end,
    const NodeOrigin& origin) {
  auto* table = own_table();
  if (table == nullptr) {
    return;
  }
  const std::uint64_t epoch = chain_epoch();
  first = end - std::min(end - first, kNodes);
  for (auto sequence = first; sequence < end; ++sequence) {
    auto& entry = table->entries[sequence % kNodes];
    entry.sequence.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    entry.made.store(
        (static_cast<std::uint64_t>(origin.order) << 32) | origin.chain,
        std::memory_order_relaxed);
    entry.approximate.store(
        (epoch << 32) | (origin.approximate ? 1 : 0),
        std::memory_order_relaxed);
    entry.sequence.store(sequence + 1, std::memory_order_release);
  }
}

NodeOrigin origin_of_node(std::uint64_t thread, std::uint64_t sequence) {
  const auto* table = tables[thread % kThreads].load(std::memory_order_acquire);
  // AccumulateGrad has the last of all numbers: no op made it.
  if (table == nullptr || sequence + 1 == 0) {
    return {};
  }
  const auto& entry = table->entries[sequence % kNodes];
  if (entry.sequence.load(std::memory_order_acquire) != sequence + 1) {
    return {};
  }
  const auto made = entry.made.load(std::memory_order_relaxed);
  const auto approximate = entry.approximate.load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (entry.sequence.load(std::memory_order_relaxed) != sequence + 1 ||
      approximate >> 32 != chain_epoch()) {
    return {};
  }
  return {
      static_cast<Chain>(made),
      static_cast<std::uint32_t>(made >> 32),
      (approximate & 1) != 0};
}

} // namespace pyharness::engine
