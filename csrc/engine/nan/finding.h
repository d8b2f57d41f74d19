// What is kept of an op or a node that has a bad value, without Python.
#pragma once

#include <csrc/engine/provenance/provenance.h>
#include <csrc/engine/values/values.h>

#include <string>
#include <vector>

#include <torch/csrc/autograd/function.h>

namespace pyharness::engine {

struct CheckedTensor {
  std::string name; // of the argument, or a number
  std::size_t position; // of the argument or the result
  at::Tensor tensor; // kept until whoever is told has gone on
  std::vector<std::int64_t> shape;
  at::ScalarType dtype;
  std::string device;
  ValueKinds kinds; // of the wanted ones
  ValueStatistics statistics;
};

CheckedTensor facts_of(
    std::string name,
    std::size_t position,
    const at::Tensor& tensor,
    const WantedValues& wanted);

struct Finding {
  bool is_node = false;
  bool made = true; // else it was given the value
  ValueKinds kinds = 0; // that it made, or was given
  std::string name;
  std::string overload;
  std::vector<std::string> within; // the ops that it ran in, innermost first
  std::string node; // that it ran in
  std::string why; // what else is known of where the value came from
  Chain chain = 0; // who called it; for a node, who runs the backward
  Chain origin = 0; // for a node: who called what made it
  bool approximate = false; // that is the op that was next, see NodeOrigin
  bool of_all_ranks = false; // a collective gave it, looked at when it was done
  int graph_task = -1;
  long thread = 0; // the kernel's number
  std::uint64_t number = 0; // how many ops and nodes that thread ran until then
  std::vector<CheckedTensor> inputs;
  std::vector<CheckedTensor> outputs;
  std::vector<void*> native; // return addresses, innermost first
};

// What is known of the place where this thread stands; `native`: its native
// frames, too, which take some time.
Finding finding_here(bool native = true);

// A node that was made earlier: its name and who made it.
void describe_node(Finding& finding, const torch::autograd::Node& node);

} // namespace pyharness::engine
