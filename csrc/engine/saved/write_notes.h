// What a handler of a signal notes of a write.
#pragma once

#include <csrc/engine/saved/blocks.h>

namespace pyharness::engine {

// Before the first write can be noted.
void prepare_notes();

// `context`: a ucontext_t.
void note_write(Block& block, std::uintptr_t address, const void* context);

} // namespace pyharness::engine
