// The sanitizer's runtime that is loaded into this process.
//
// The runtimes' interfaces: sanitizer/asan_interface.h,
// sanitizer/common_interface_defs.h; ubsan_monitor.h and tsan_debugging.cpp of
// LLVM's compiler-rt, which GCC's libsanitizer is a copy of. What a runtime
// lacks is null.
#pragma once

#include <csrc/guard/dynamic_loader.h>

namespace pyharness::sanitized {

template <typename Function>
Function runtime(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

} // namespace pyharness::sanitized
