// What one thread has recorded, and what runs on it now.
#pragma once

#include <csrc/engine/provenance/names.h>
#include <csrc/engine/python_frames.h>
#include <csrc/engine/record/event.h>
#include <csrc/engine/record/notes.h>
#include <csrc/engine/record/ring.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace pyharness::engine {

constexpr std::size_t kDeepest = 512; // ops and nodes inside of one another

// One that has begun and not ended.
struct Open {
  const void* what; // its RecordFunction or its node
  PythonPosition called_at;
  Event event;
};

// Written by its thread; the rings may be read by another.
struct Recorded {
  // `last_order`: of the thread's last event in recordings before.
  Recorded(
      std::size_t capacity,
      std::uint64_t generation,
      std::uint32_t last_order);

  const std::uint64_t generation;
  const std::uint64_t thread; // of the kernel
  const std::uint64_t number; // RecordFunction's
  Ring<EventWords> ring;
  Notes notes;
  SeenNames names;

  std::array<Open, kDeepest> open;
  std::size_t depth = 0;
  std::atomic<std::uint64_t> too_deep{0}; // not recorded for that
  std::uint8_t reentrant = 0; // how many of them are nodes
  std::uint32_t last_order; // goes on over all recordings
  std::int64_t last_graph_task = -1;
  std::uint64_t noted_until = 0; // whose nodes' origin is noted
  std::uint64_t noted_since = 0; // since which of observe()'s changes

  // Null where there is none.
  const Open* innermost_op() const;

  // Whether it is the innermost.
  bool is_open(const void* what) const;

  // Whether there is no room for one more; counted.
  bool is_too_deep();

  // The times and what is not given here are the caller's to fill in.
  Event& begin(const void* what, Kind kind, int graph_task);

  // Ends the innermost that is `what`, and forgets what was in it and never
  // ended; null where it began before the recording.
  Event* end(const void* what);
};

// The calling thread's part of what is recorded now, null where nothing is.
Recorded* join_recorded();

// The same without joining: null too where it has not joined yet.
Recorded* recorded_here();

// Whoever joins from here on gets a buffer of its own, of `capacity` events.
void begin_generation(std::size_t capacity);

// Nobody joins from here on, and what was recorded is let go.
void end_generation();

// Of all threads that joined.
std::vector<std::shared_ptr<Recorded>> all_recorded();

} // namespace pyharness::engine
