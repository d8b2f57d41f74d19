// What is kept of one op or node that ran: 64 bytes, a cache line.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace pyharness::engine {

enum class Kind : std::uint8_t {
  kOp = 0,
  kNode = 1,
  // A run of the engine has reached a thread: `chain` is who started it.
  kGraphTask = 2,
};

struct Event {
  std::uint64_t start; // c10::getApproximateTime(); nanoseconds once drained
  std::uint64_t end;
  // A node's own number; for an op the number that its first node gets.
  std::uint64_t sequence;
  // Its place among the starts of this thread, from 1.
  std::uint64_t order;
  // For a node: `order` of the op that made it, 0 where it was not seen.
  std::uint32_t forward_order;
  // For a node: RecordFunction's number of the thread that made it.
  std::uint32_t forward_thread;
  std::uint32_t name;
  std::uint32_t chain;
  std::int32_t graph_task; // -1 outside of the engine
  // Where the tensors are noted, in the thread's Notes; 0 where they are not.
  std::uint32_t inputs;
  std::uint32_t outputs;
  std::uint16_t depth;
  Kind kind;
  std::uint8_t reentrant : 7;
  // The op is the one that was next, not one that was seen to make the node.
  std::uint8_t approximate : 1;
};

static_assert(sizeof(Event) == 64);

using EventWords = std::array<std::uint64_t, sizeof(Event) / 8>;

inline EventWords words_of(const Event& event) {
  EventWords words;
  std::memcpy(words.data(), &event, sizeof(event));
  return words;
}

inline Event event_of(const EventWords& words) {
  Event event;
  std::memcpy(&event, words.data(), sizeof(event));
  return event;
}

} // namespace pyharness::engine
