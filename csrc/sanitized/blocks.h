// Who has made and who has freed each block of memory, as far as there is room.
#pragma once

#include <csrc/sanitized/call_stacks.h>

#include <cstdint>

namespace pyharness::sanitized {

// A block as it was when it was asked for; the numbers of call_stacks.h.
struct Block {
  uint64_t address = 0;
  uint64_t size = 0;
  uint32_t made = 0;
  uint32_t freed = 0;
};

// Hear of all blocks from now on, from the sanitizer's allocator.
void watch_blocks();

// The block that begins at an address, or the one that was there last; one
// without stacks where nothing is known.
Block block_at(uint64_t address);

} // namespace pyharness::sanitized
