// What runs on one thread, one inside of the other: ops and autograd nodes,
// with what must be kept of them until they end.
#pragma once

#include <csrc/engine/nan/finding.h>
#include <csrc/engine/nan/plan.h>

#include <cstdint>
#include <vector>

namespace pyharness::engine {

constexpr auto kNoNumber = static_cast<std::size_t>(-1);

struct Level {
  const void* what; // its RecordFunction or its node
  const OpPlan* plan; // null for a node
  // What it calls is called by Python, so a bad value there has left the op
  // that made it: the backward of a Function in Python.
  bool runs_python;
  bool inner_ops_seen; // around a node, to be put back after it
  bool had_gradient; // of a leaf, before this one is added
  std::size_t first_input;
  std::size_t first_finding;
  ValueKinds asked; // kinds that an argument names: full(-inf), masked_fill
  std::size_t number; // the argument that is a NaN, not a tensor; or kNoNumber
  ValueKinds before; // kinds in what it writes to, before it did, and numbers
};

// An input is kept until its op has ended: only a bad output makes us look.
struct HeldInput {
  at::Tensor tensor;
  std::uint16_t argument;
  bool written; // in place: its kinds are in Level::before; or as `out=`
  bool shared = false; // with memory that is written: kinds in Level::before
};

struct ThreadLevels {
  std::vector<Level> levels;
  std::vector<HeldInput> inputs;
  // Of ops that ended with a bad value inside of an op that has not ended: it
  // may still be mended there, as softmax over nothing is.
  std::vector<Finding> findings;
  std::uint64_t search = 0; // of which the next two are
  std::uint64_t count = 0; // ops and nodes that began
  std::uint64_t noted_until = 0; // nodes whose origin is noted
  bool busy = false; // what runs now is ours

  Level& begin(const void* what, const OpPlan* plan);

  // The level of `what`, now the innermost; null where it began before us.
  Level* innermost(const void* what);

  void end();

  // Whether what begins now is called by an op.
  bool is_in_op() const {
    return !levels.empty() && levels.back().plan != nullptr;
  }

  // Whether what ends now is called from Python, or by the engine.
  bool is_outermost() const;

  // The ops around the innermost level, within the same node.
  std::vector<std::string> ops_around() const;
};

ThreadLevels& levels_of_thread();

} // namespace pyharness::engine
