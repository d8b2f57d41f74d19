// See nan_finding.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/nan/finding.h>

#include <csrc/engine/op_values.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/profiler/unwind/unwind.h>

namespace pyharness::engine {

namespace {

void add_origin(Finding& finding, const torch::autograd::Node& node) {
  const auto origin = origin_of_node(node.thread_id(), node.sequence_nr());
  finding.origin = origin.chain;
  finding.approximate = origin.approximate;
}

} // namespace

CheckedTensor facts_of(
    std::string name,
    std::size_t position,
    const at::Tensor& tensor,
    const WantedValues& wanted) {
  CheckedTensor facts;
  facts.name = std::move(name);
  facts.position = position;
  facts.tensor = tensor;
  facts.shape = has_sizes(tensor) ? tensor.sizes().vec()
                                  : std::vector<std::int64_t>(tensor.dim(), -1);
  facts.dtype = tensor.scalar_type();
  facts.device = tensor.device().str();
  facts.kinds = kinds_of(tensor, wanted);
  facts.statistics = statistics_of(tensor, wanted);
  return facts;
}

Finding finding_here(bool native) {
  Finding finding;
  finding.chain = current_chain();
  finding.graph_task = torch::autograd::get_current_graph_task_id();
  finding.thread = syscall(SYS_gettid);
  if (const auto node = torch::autograd::get_current_node()) {
    finding.node = node->name();
    add_origin(finding, *node);
  }
  if (native) {
    finding.native = torch::unwind::unwind();
  }
  return finding;
}

void describe_node(Finding& finding, const torch::autograd::Node& node) {
  finding.is_node = true;
  finding.name = node.name();
  finding.node.clear();
  add_origin(finding, node);
}

} // namespace pyharness::engine
