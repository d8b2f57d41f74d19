// Which tensors autograd saved for backward, and whether somebody wrote into
// one before backward took it.
#pragma once

#include <csrc/engine/provenance/provenance.h>
#include <csrc/engine/saved/changed.h>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pyharness::engine {

struct Overwritten {
  std::string node; // that took it
  Chain saved; // who called the op that saved it
  Chain run; // who runs the backward
  std::vector<std::int64_t> shape;
  at::ScalarType dtype;
  // Whether torch says so itself: the write counted up the tensor's version.
  bool counted;
  std::optional<Changed> changed; // where the tensor's memory tells
  bool inside; // the write began within the tensor, not beside it
  const Write* write;
  int graph_task;
};

// Told on the thread that takes the tensor.
using TakeOverwritten = void (*)(const Overwritten& found);

// Looks from here on. Throws std::runtime_error where it cannot; false where it
// looks already.
bool start_watching_saves(TakeOverwritten take);

void stop_watching_saves();

struct SaveCounts {
  std::uint64_t watched = 0;
  std::uint64_t elsewhere = 0; // their memory is not the blocks'
};

SaveCounts count_saves();

} // namespace pyharness::engine
