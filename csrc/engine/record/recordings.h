// Recordings: what ran between their start and their stop.
#pragma once

#include <csrc/engine/record/event.h>
#include <csrc/engine/record/recorder.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pyharness::engine {

// What one thread recorded.
struct Drained {
  std::uint64_t thread = 0; // of the kernel
  std::uint64_t number = 0; // RecordFunction's
  std::string name; // as the kernel has it
  std::vector<Event> events; // in order of their ends, times in ns
  std::uint64_t lost = 0; // overwritten by later ones
  std::vector<std::uint64_t> notes; // see notes.h
  std::uint64_t first_note = 0; // position of notes[0]
};

// Recordings may overlap; each is told what ran between its start and its
// stop. `capacity`: events that a thread's buffer holds, of the first of them.
std::uint64_t start_recording(const Wanted& wanted, std::size_t capacity);

// Stops it and gives what was recorded. Throws std::out_of_range for a
// recording that does not run.
std::vector<Drained> stop_recording(std::uint64_t number);

// Events so far, of all threads; for a progress line.
std::uint64_t count_events(std::uint64_t number);

} // namespace pyharness::engine
