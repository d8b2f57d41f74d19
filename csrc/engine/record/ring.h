// A buffer that one thread writes and never waits for: when it is full, the
// newest overwrite the oldest, and the number of all that were written tells
// how many are lost. Another thread may copy it at any time.
#pragma once

#include <csrc/engine/record/zeroed_memory.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pyharness::engine {

// `Words` is a std::array of std::uint64_t. Knows nothing of torch, so that it
// can be tested under ThreadSanitizer.
template <typename Words>
class Ring {
 public:
  // `capacity` is rounded up to a power of two.
  explicit Ring(std::size_t capacity)
      : mask_(std::bit_ceil(capacity) - 1),
        memory_((mask_ + 1) * sizeof(Slot)),
        slots_(static_cast<Slot*>(memory_.begin())) {}

  std::size_t capacity() const {
    return mask_ + 1;
  }

  // How many were written since the beginning.
  std::uint64_t written() const {
    return written_.load(std::memory_order_acquire);
  }

  // Only by the thread that it belongs to.
  void write(const Words& words) {
    const auto number = written_.load(std::memory_order_relaxed);
    // A reader that sees any of the new words sees that the old are gone.
    begun_.store(number + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    auto& slot = slots_[number & mask_];
    for (std::size_t i = 0; i < words.size(); ++i) {
      slot.words[i].store(words[i], std::memory_order_relaxed);
    }
    written_.store(number + 1, std::memory_order_release);
  }

  // What was written under this number, or what overwrote it; only by the
  // thread that it belongs to. Numbers may be cut to 32 bits.
  Words own(std::uint64_t number) const {
    Words words;
    const auto& slot = slots_[number & mask_];
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] = slot.words[i].load(std::memory_order_relaxed);
    }
    return words;
  }

  // A copy of what was written from number `first` to number `end`, without
  // what is overwritten by now.
  std::vector<Words> read(std::uint64_t first, std::uint64_t end) const {
    const auto oldest = end > capacity() ? end - capacity() : 0;
    first = std::max(first, oldest);
    std::vector<Words> copy(end > first ? end - first : 0);
    for (auto number = first; number < end; ++number) {
      const auto& slot = slots_[number & mask_];
      auto& words = copy[number - first];
      for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] = slot.words[i].load(std::memory_order_relaxed);
      }
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    const auto begun = begun_.load(std::memory_order_relaxed);
    const auto whole = begun > capacity() ? begun - capacity() : 0;
    if (whole > first) {
      copy.erase(
          copy.begin(),
          copy.begin() +
              static_cast<std::ptrdiff_t>(
                  std::min<std::uint64_t>(whole - first, copy.size())));
    }
    return copy;
  }

 private:
  struct Slot {
    std::array<std::atomic<std::uint64_t>, std::tuple_size_v<Words>> words;
  };

  std::size_t mask_;
  ZeroedMemory memory_;
  Slot* slots_;
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<std::uint64_t> written_{0};
};

} // namespace pyharness::engine
