// One native breakpoint, and what happens where it matches.
#pragma once

#include <csrc/breakpoints/conditions/condition.h>

#include <csrc/engine/provenance/provenance.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pyharness::breakpoint {
struct Site;
} // namespace pyharness::breakpoint

struct _object; // PyObject, of which this header needs no more

namespace pyharness::breakpoints {

enum class Kind : std::uint8_t { kOp, kNode, kSite };

// What is told of a match.
struct Event {
  Kind kind;
  const char* name; // of the op, the node or the place
  std::string_view overload; // of an op; else empty
  bool before; // it has not run yet
  Values values;
  std::size_t variables = 0; // how many a place has
  const breakpoint::Site* site = nullptr;
};

// What was decided for each chain of callers; read without a lock.
class ChainDecisions {
 public:
  enum Decision : std::uint8_t { kUnknown, kNo, kYes };

  ChainDecisions() = default;
  ~ChainDecisions();
  ChainDecisions(const ChainDecisions&) = delete;
  ChainDecisions& operator=(const ChainDecisions&) = delete;

  Decision of(engine::Chain chain) const;
  void keep(engine::Chain chain, bool yes);

 private:
  static constexpr std::size_t kBlock = 4096;
  static constexpr std::size_t kBlocks = 1024;
  using Block = std::array<std::atomic<std::uint8_t>, kBlock>;
  std::array<std::atomic<Block*>, kBlocks> blocks_{};
};

// Never destroyed once it was added: a thread may be about to test it.
class Breakpoint {
 public:
  Kind kind = Kind::kOp;
  std::string pattern;
  std::string within; // of an op: the node that must run it; empty for any
  std::optional<Condition> condition;
  bool after = false; // its condition asks what came out
  std::int64_t nth = 0; // only this match; 0 for each
  // Takes a chain's number, tells whether it is in the wanted module; null
  // where every caller is wanted.
  _object* in_module = nullptr;
  // Takes the event; returns what the trap shall be called with, None, or False
  // where it is not to be counted.
  _object* on_hit = nullptr;
  std::atomic<bool> removed{false};
  std::atomic<std::int64_t> seen{0}; // how often all but `nth` held
  std::atomic<std::int64_t> hits{0};

  // Whether the name is meant, with its overload or without.
  bool means(const char* name, std::string_view overload) const;

  // Tests and acts. `chain` is of the caller, 0 where that is not known.
  void meet(const Event& event, engine::Chain chain) {
    if (matches(event.values, chain)) {
      act_on(event);
    }
  }

  // The two halves, for who would have to ask for the event's names first.
  bool matches(const Values& values, engine::Chain chain) {
    return !removed.load(std::memory_order_relaxed) &&
        (in_module == nullptr || is_in_module(chain)) &&
        (!condition || condition->holds(values));
  }
  void act_on(const Event& event);

 private:
  bool is_in_module(engine::Chain chain);
  void act(const Event& event);

  ChainDecisions decisions_;
};

// Whether a pattern means a node, by its whole name or by the part of it behind
// the namespaces: torch::autograd::AccumulateGrad.
bool means_node(std::string_view pattern, std::string_view name);

// Not on this thread while this lives: what a breakpoint does is no place for
// another to stop at.
class Busy {
 public:
  Busy();
  ~Busy();
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

  static bool here();
};

// The function of pyharness/_trap that gdb stops on.
using Trap =
    void (*)(const char* file, int line, const char* function, const char* why);
void set_trap(Trap function);

} // namespace pyharness::breakpoints
