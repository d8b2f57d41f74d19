// What the parts of a search for a bad value share: whether one runs, what it
// looks for, and how it is told.
#pragma once

#include <csrc/engine/nan/finder.h>
#include <csrc/engine/nan/levels.h>

#include <atomic>

namespace pyharness::engine {

inline std::atomic<bool> searching{false};
inline std::atomic<bool> search_is_open{false}; // from its start to its stop
inline std::atomic<std::uint64_t> search_number{0};
// What is looked for. Each search has its own and none is changed: an op that
// began during the one before may still ask.
inline std::atomic<const WantedValues*> wanted_now{nullptr};
inline std::atomic<TakeFinding> take_finding{nullptr};

inline const WantedValues& wanted() {
  return *wanted_now.load(std::memory_order_acquire);
}

// What this thread runs; null where nothing is searched, or where what runs is
// our own.
ThreadLevels* own_levels();

class Busy {
 public:
  explicit Busy(ThreadLevels& levels) : levels_(levels) {
    levels_.busy = true;
  }
  ~Busy() {
    levels_.busy = false;
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  ThreadLevels& levels_;
};

// Which kinds speak against it, of those that it has: those that it made, else
// a NaN that it was given. An infinity may be meant, as in a mask; one that an
// op was given is of its maker's asking.
struct Verdict {
  bool made;
  ValueKinds kinds;
};

Verdict judge(ValueKinds out, ValueKinds in, bool moves);

// Drops findings of this thread.
void forget(ThreadLevels& levels, std::size_t from);

// Tells of one, where no other was found before.
void tell_first(Finding& finding, bool may_throw);

// Tells of the first that was found inside of this level, and in it.
void take_first(ThreadLevels& levels, const Level& level);

} // namespace pyharness::engine
