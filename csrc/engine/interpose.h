// Leads the calls that loaded libraries make to one exported function through
// another function, by the slots in which they keep its address (their PLT).
//
// As memray does for malloc. Only calls between exported functions have such
// slots; where a library was linked so that it has none, there is nothing to
// lead, and the caller does without.
#pragma once

#include <csrc/loaded_library.h>

#include <atomic>
#include <vector>

namespace pyharness::engine {

class Interposition {
 public:
  // Finds the slots of the function with this mangled name; changes nothing.
  explicit Interposition(const char* symbol);

  bool possible() const {
    return original_ != nullptr && !slots_.empty();
  }

  // Lead calls to `replacement`, which has the original's signature; null
  // leads them back. Threads that are in the replacement by then go on in it.
  void lead_to(void* replacement);

  // The same where the replacement calls the original, which is known to it
  // before the first call gets there.
  template <typename Function>
  void lead(std::atomic<Function>& original, Function replacement) {
    original = reinterpret_cast<Function>(original_);
    lead_to(reinterpret_cast<void*>(replacement));
  }

 private:
  void* original_;
  std::vector<Slot> slots_;
};

} // namespace pyharness::engine
