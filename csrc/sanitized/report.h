// What a sanitizer has found, as whoever reads this program finds it in memory:
// pyharness/reading/sanitized/report.py has the same fields in the same order.
#pragma once

#include <csrc/sanitized/call_stacks.h>

#include <cstddef>
#include <cstdint>

namespace pyharness::sanitized {

enum Sanitizer : uint32_t { kAddress = 1, kUndefined = 2, kThread = 3 };

enum Role : uint32_t {
  kMade = 1, // the block's allocation
  kFreed = 2,
  kOtherAccess = 3, // of a race
  kStarted = 4, // a thread of a race
};

constexpr size_t kTraces = 8;
constexpr size_t kName = 128;

struct Trace {
  uint32_t role;
  uint32_t is_write; // of an access
  uint64_t thread; // the kernel's id of it, 0 where that is not known
  CallStack stack;
};

struct Report {
  uint32_t sanitizer;
  uint32_t trace_count;
  const char* text; // what the sanitizer prints, and how much of it
  uint64_t text_size;
  const char* what; // "heap-buffer-overflow": null where that is not known
  const char* message; // UBSan's sentence, or null
  uint64_t address; // 0 for none
  uint64_t size; // in bytes, 0 where nothing was accessed
  uint64_t is_write;
  uint64_t region; // the block that the address lies in or beside
  uint64_t region_size;
  uint64_t size_asked_for; // of the block, as it was made; 0 if unknown
  char region_kind[32]; // "heap", "stack", "global"
  char region_name[kName]; // the variable's
  Trace traces[kTraces];
};

} // namespace pyharness::sanitized
