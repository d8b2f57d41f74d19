// What of an op's arguments and outputs is to be checked: found out once an op,
// from its schema.
#pragma once

#include <csrc/torch_headers.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pyharness::engine {

struct OpPlan {
  std::string name;
  std::string overload;
  // Its outputs hold nothing that it made: views of its inputs, memory that
  // nobody wrote yet.
  bool makes_nothing = false;
  // It copies values from one place to another: those that it was given are no
  // news, only what the change of dtype makes of them.
  bool moves = false;
  // It writes to arguments, in place or as `out=`.
  bool writes = false;
  // What was in the arguments that it writes to does not matter.
  bool overwrites = false;
  // The other outputs are workspace for its backward.
  bool first_output_only = false;
  // It gives what other ranks have a part in, some time after its call.
  bool collective = false;
  // It computes something of the ranks' parts, as a sum.
  bool reduces = false;
  // The arguments that it writes to are not among its outputs.
  bool results_are_arguments = false;
  struct Argument {
    std::string name;
    bool written; // in place
    bool out; // `out=`: what was in it does not matter
    bool placed; // a number that the op puts where it is told: masked_fill
  };
  std::vector<Argument> arguments;
};

// Null for what is no op. The plan is never destroyed.
const OpPlan* plan_of(const at::RecordFunction& fn);

} // namespace pyharness::engine
