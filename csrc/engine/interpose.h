// Leads the calls that loaded libraries make to one exported function through
// another function, by the slots in which they keep its address (their PLT).
//
// As memray does for malloc. Only calls between exported functions have such
// slots; where a library was linked so that it has none, there is nothing to
// lead, and the caller does without.
#pragma once

#include <atomic>
#include <vector>

namespace pyharness::engine {

class Interposition {
 public:
  // Finds the slots of the function with this mangled name; changes nothing.
  explicit Interposition(const char* symbol);

  // The function itself; null where no loaded library has it.
  void* original() const {
    return original_;
  }

  bool possible() const {
    return original_ != nullptr && !slots_.empty();
  }

  // Lead calls to `replacement`, which has the original's signature; null
  // leads them back. Threads that are in the replacement by then go on in it.
  void lead_to(void* replacement);

 private:
  struct Slot {
    std::atomic<void*>* address;
    bool read_only; // relocated once and protected (RELRO)
  };

  void* original_;
  std::vector<Slot> slots_;
};

} // namespace pyharness::engine
