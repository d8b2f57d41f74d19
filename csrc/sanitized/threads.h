// Where each thread was started.
#pragma once

#include <cstdint>

namespace pyharness::sanitized {

// The number of the stack that started a thread, by the kernel's id of it; 0
// where nothing is known.
uint32_t start_of(uint64_t thread);

} // namespace pyharness::sanitized
