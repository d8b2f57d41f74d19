// Which file backs an address of this process. Async-signal-safe and without
// libc: see system_call.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pyharness::inspect {

// One executable mapping of a file.
struct Mapping {
  uintptr_t start;
  uintptr_t end;
  uint64_t file_offset;
  char path[4096];
};

// Fills `mapping` with the executable file mapping that holds `address`; false
// where there is none (anonymous memory, vdso, a path too long to be one).
bool find_mapping(uintptr_t address, Mapping* mapping);

// The byte at `address` as the file has it; false where the file cannot tell,
// for example because it was deleted.
bool byte_in_file(const Mapping& mapping, uintptr_t address, uint8_t* byte);

} // namespace pyharness::inspect
