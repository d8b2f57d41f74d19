// See recorder.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/record/recorder.h>

#include <csrc/engine/nodes/nodes.h>
#include <csrc/engine/op_values.h>
#include <csrc/engine/provenance/overload.h>
#include <csrc/engine/provenance/provenance.h>
#include <csrc/engine/record/recorded.h>

#include <ATen/SequenceNumber.h>
#include <c10/core/GradMode.h>
#include <c10/util/ApproximateClock.h>

#include <atomic>
#include <memory>
#include <string_view>

namespace pyharness::engine {

namespace {

std::atomic<bool> records_inner_ops{false};
// Another number each time that forward ops begin to be seen.
std::atomic<std::uint64_t> sees_ops_since{0};

// --- what runs ---------------------------------------------------------------

// Each node that was made since the last time anything began or ended belongs
// to the innermost op that ran meanwhile. One that was made outside of any (a
// C++ autograd Function that Python called directly) is said to come from the
// op that follows: the function's own, most likely.
void note_new_nodes(Recorded& to, std::uint64_t now, const NodeOrigin& origin) {
  if (now != to.noted_until) {
    if (now > to.noted_until) {
      note_nodes(to.noted_until, now, origin);
    }
    to.noted_until = now;
  }
}

// What a thread made before anybody looked was made by nobody knows which op.
void begin_to_note(Recorded& to) {
  const auto since = sees_ops_since.load(std::memory_order_relaxed);
  if (to.noted_since != since) {
    to.noted_since = since;
    to.noted_until = at::sequence_number::peek();
  }
}

NodeOrigin origin_in(const Open& op) {
  return {
      op.event.chain,
      static_cast<std::uint32_t>(op.event.order),
      /*approximate=*/false};
}

// Who calls an op: the same as the one that it runs inside of, mostly.
Chain chain_below(Open& op, const Open* outer) {
  op.called_at = python_position();
  return outer != nullptr && outer->called_at == op.called_at
      ? outer->event.chain
      : current_chain();
}

// The engine announces each node as an op, to those who look by RecordFunction.
bool is_announcement(const at::RecordFunction& fn) {
  constexpr std::string_view kBeginning = "autograd::engine::evaluate_function";
  return std::string_view(fn.name()).substr(0, kBeginning.size()) == kBeginning;
}

// An op of the backward's own arithmetic; mostly not even shown, see nodes.h.
bool is_inner() {
  return !c10::GradMode::is_enabled() &&
      !records_inner_ops.load(std::memory_order_relaxed);
}

template <bool kTensors>
std::unique_ptr<at::ObserverContext> op_begins(const at::RecordFunction& fn) {
  auto* to = join_recorded();
  if (to == nullptr) {
    return nullptr;
  }
  const int graph_task = torch::autograd::get_current_graph_task_id();
  const bool in_backward = graph_task >= 0;
  // Two callbacks are there while one takes the place of the other.
  if ((in_backward && (is_inner() || is_announcement(fn))) ||
      to->is_open(&fn) || to->is_too_deep()) {
    return nullptr;
  }
  begin_to_note(*to);
  const auto* outer = to->innermost_op();
  const auto sequence = at::sequence_number::peek();
  if (outer != nullptr) {
    note_new_nodes(*to, sequence, origin_in(*outer));
  }
  auto& event = to->begin(&fn, Kind::kOp, graph_task);
  event.name = to->names.of_op(fn.name(), overload_of(fn));
  event.chain = chain_below(to->open[event.depth], outer);
  event.reentrant = to->reentrant;
  event.sequence = sequence;
  if (outer == nullptr) {
    note_new_nodes(
        *to,
        sequence,
        {event.chain,
         static_cast<std::uint32_t>(event.order),
         /*approximate=*/true});
  }
  if constexpr (kTensors) {
    event.inputs = to->notes.add_inputs(inputs_of(fn));
  }
  event.start = static_cast<std::uint64_t>(c10::getApproximateTime());
  return nullptr;
}

template <bool kTensors>
void op_ends(const at::RecordFunction& fn, at::ObserverContext* /*unused*/) {
  auto* of = recorded_here();
  auto* event = of != nullptr ? of->end(&fn) : nullptr;
  if (event == nullptr) {
    return;
  }
  note_new_nodes(
      *of, at::sequence_number::peek(), origin_in(of->open[of->depth]));
  if constexpr (kTensors) {
    event->outputs = of->notes.add_outputs(outputs_of(fn), event->inputs);
  }
  of->ring.write(words_of(*event));
}

class Nodes final : public NodeObserver {
 public:
  void before(const NodeRun& run) override {
    auto* to = join_recorded();
    if (to == nullptr || to->is_too_deep()) {
      return;
    }
    if (run.graph_task != to->last_graph_task) {
      note_graph_task(*to, run.graph_task);
    }
    auto& event = to->begin(&run.node, Kind::kNode, run.graph_task);
    event.name = to->names.of_node(run.node);
    event.reentrant = ++to->reentrant;
    event.sequence = run.node.sequence_nr();
    event.forward_thread = static_cast<std::uint32_t>(run.node.thread_id());
    const auto origin =
        origin_of_node(run.node.thread_id(), run.node.sequence_nr());
    event.chain = origin.chain;
    event.forward_order = origin.order;
    event.approximate = origin.approximate ? 1 : 0;
    event.start = static_cast<std::uint64_t>(c10::getApproximateTime());
  }

  void after(const NodeRun& run) override {
    auto* of = recorded_here();
    if (const auto* event = of != nullptr ? of->end(&run.node) : nullptr) {
      of->ring.write(words_of(*event));
    }
  }

 private:
  // The engine runs nodes on the thread that called it, below the Python frames
  // of that call; its own threads have none.
  static void note_graph_task(Recorded& to, int graph_task) {
    to.last_graph_task = graph_task;
    Event event{};
    event.kind = Kind::kGraphTask;
    event.order = ++to.last_order;
    event.depth = static_cast<std::uint16_t>(to.depth);
    event.reentrant = to.reentrant;
    event.graph_task = graph_task;
    event.chain = current_chain();
    event.start = static_cast<std::uint64_t>(c10::getApproximateTime());
    event.end = event.start;
    to.ring.write(words_of(event));
  }
};

Nodes nodes;

// --- who is called -----------------------------------------------------------

at::CallbackHandle handle = at::INVALID_CALLBACK_HANDLE;
bool observes_nodes = false;
Wanted observed{false, false}; // by the last observe()

at::CallbackHandle add_callback(bool tensors) {
  auto callback = tensors
      ? at::RecordFunctionCallback(&op_begins<true>, &op_ends<true>)
      : at::RecordFunctionCallback(&op_begins<false>, &op_ends<false>);
  return at::addGlobalCallback(
      callback.needsInputs(tensors).needsOutputs(tensors).scopes(
          {at::RecordScope::FUNCTION}));
}

// The new one comes before the old one goes: an op that runs meanwhile is seen.
void observe_ops(const Wanted& wanted) {
  const bool is_there = handle != at::INVALID_CALLBACK_HANDLE;
  if (wanted.forward == is_there &&
      (!is_there || wanted.tensors == observed.tensors)) {
    return;
  }
  if (!is_there) {
    sees_ops_since.fetch_add(1);
  }
  const auto old = handle;
  handle = wanted.forward ? add_callback(wanted.tensors)
                          : at::INVALID_CALLBACK_HANDLE;
  if (is_there) {
    at::removeCallback(old);
  }
}

void observe_nodes(const Wanted& wanted) {
  // Without them the ops inside of nodes could not be told from forward.
  const bool wants = wanted.forward || wanted.backward;
  if (observes_nodes && wants && wanted.interpose == observed.interpose) {
    see_inner_ops(nodes, wanted.inner_ops);
    return;
  }
  if (observes_nodes) {
    remove_observer(nodes);
  }
  if (wants) {
    add_observer(
        nodes,
        /*see_inner_ops=*/wanted.inner_ops || !wanted.forward,
        wanted.interpose ? Means::kInterposed : Means::kRecordFunction);
  }
  observes_nodes = wants;
}

} // namespace

void observe(const Wanted& wanted) {
  records_inner_ops.store(wanted.inner_ops);
  if (!wanted.forward) {
    observe_ops(wanted);
  }
  observe_nodes(wanted); // before our own callback could look like another's
  observe_ops(wanted);
  observed = wanted;
}

void begin_to_note_here() {
  if (auto* to = join_recorded()) {
    begin_to_note(*to);
  }
}

} // namespace pyharness::engine
