// Which native breakpoints are set: read beside every op without a lock.
#pragma once

#include <csrc/breakpoints/breakpoint.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace pyharness::breakpoints {

// A set of these is a number with a bit for each.
constexpr std::size_t kMostOfAKind = 64;
using Mask = std::uint64_t;

// Never destroyed and never changed: another takes its place.
struct Active {
  std::uint32_t version = 0;
  std::vector<Breakpoint*> ops;
  std::vector<Breakpoint*> nodes;
  bool has_after = false; // an op's, see Breakpoint::after
  bool has_chains = false; // one asks for a module
  std::uint32_t chains_since = 0; // the version from which on one does
};

const Active& active();

// Throws std::invalid_argument where there are too many of its kind.
void add(Breakpoint& breakpoint);
void remove(Breakpoint& breakpoint);

// What a thread has found out about names, by their address.
class NameCache {
 public:
  // Which of `candidates` mean this name. `key` is an address that stands for
  // it; null for none that could be remembered. `name` tells it, and whether
  // another name may come to be at this address: it is then compared, where it
  // is one that is meant.
  template <typename Tell>
  Mask meant(
      const void* key,
      std::uint32_t version,
      const std::vector<Breakpoint*>& candidates,
      Tell tell) {
    Entry& entry = entries_[slot_of(key)];
    if (key != nullptr && entry.key == key && entry.version == version &&
        (entry.mask == 0 || entry.name == nullptr ||
         std::strcmp(entry.name, static_cast<const char*>(key)) == 0)) {
      return entry.mask;
    }
    const Mask mask = ask(candidates, tell());
    entry = {key, version, tell().kept(mask), mask};
    return mask;
  }

  struct Name {
    const char* name;
    std::string overload;
    bool may_go;

    // A copy for as long as the process lives, where it must be compared.
    const char* kept(Mask mask) const;
  };

 private:
  struct Entry {
    const void* key = nullptr;
    std::uint32_t version = 0;
    const char* name = nullptr;
    Mask mask = 0;
  };

  static std::size_t slot_of(const void* key) {
    const auto bits = reinterpret_cast<std::uintptr_t>(key);
    return (bits >> 3 ^ bits >> 12) % kEntries;
  }

  static Mask ask(const std::vector<Breakpoint*>& candidates, const Name& name);

  static constexpr std::size_t kEntries = 512;
  std::array<Entry, kEntries> entries_{};
};

// All that a thread has of its own, so that it is looked up once.
struct ThisThread {
  ~ThisThread();

  bool busy = false;
  void* spare = nullptr; // memory for the next that waits for an op's end
  NameCache ops;
  NameCache nodes;
};

ThisThread& this_thread();

} // namespace pyharness::breakpoints
