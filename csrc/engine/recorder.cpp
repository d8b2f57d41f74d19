// See recorder.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/recorder.h>

#include <csrc/engine/names.h>
#include <csrc/engine/notes.h>
#include <csrc/engine/provenance.h>
#include <csrc/engine/python_frames.h>
#include <csrc/engine/ring.h>

#include <ATen/SequenceNumber.h>
#include <c10/core/GradMode.h>
#include <c10/util/ApproximateClock.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string_view>

namespace pyharness::engine {

namespace {

constexpr std::size_t kDeepest = 512; // ops and nodes inside of one another

// One that has begun and not ended.
struct Open {
  const void* what; // its RecordFunction or its node
  PythonPosition called_at;
  Event event;
};

// --- one thread --------------------------------------------------------------

// Written by its thread; the rings may be read by another.
struct Recorded {
  Recorded(std::size_t capacity, std::uint64_t generation)
      : generation(generation),
        thread(static_cast<std::uint64_t>(syscall(SYS_gettid))),
        number(at::RecordFunction::currentThreadId()),
        ring(capacity),
        notes(capacity) {}

  const std::uint64_t generation;
  const std::uint64_t thread;
  const std::uint64_t number;
  Ring<EventWords> ring;
  Notes notes;

  std::array<Open, kDeepest> open;
  std::size_t depth = 0;
  std::atomic<std::uint64_t> too_deep{0}; // not recorded for that
  std::uint8_t reentrant = 0; // how many of them are nodes
  std::int64_t last_graph_task = -1;
  std::uint64_t noted_until = 0; // whose nodes' origin is noted
  std::uint64_t noted_since = 0; // since when, see sees_ops_since
};

std::atomic<std::uint64_t> generation{0}; // 0: nothing is recorded
std::atomic<bool> records_inner_ops{false};
// Another number each time that forward ops begin to be seen.
std::atomic<std::uint64_t> sees_ops_since{0};
thread_local std::shared_ptr<Recorded> recorded;
// The same without a guard: a thread's first look at `recorded` runs code.
thread_local Recorded* recorded_here = nullptr;
thread_local std::uint32_t last_order = 0; // goes on over all recordings

std::mutex mutex; // of what follows
std::vector<std::shared_ptr<Recorded>> all_recorded;
std::size_t wanted_capacity = 0;

void join(std::uint64_t current) {
  const std::lock_guard<std::mutex> lock(mutex);
  recorded = std::make_shared<Recorded>(wanted_capacity, current);
  recorded_here = recorded.get();
  all_recorded.push_back(recorded);
}

// This thread's part of what is recorded now, null where nothing is.
Recorded* own() {
  const auto current = generation.load(std::memory_order_acquire);
  if (current == 0) {
    return nullptr;
  }
  if (recorded_here == nullptr || recorded_here->generation != current) {
    join(current);
  }
  return recorded_here;
}

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

const Open* innermost_op(const Recorded& of) {
  for (auto i = of.depth; i-- > 0;) {
    if (of.open[i].event.kind == Kind::kOp) {
      return &of.open[i];
    }
  }
  return nullptr;
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

// Two callbacks are there while one takes the place of the other.
bool is_begun(const Recorded& in, const void* what) {
  return in.depth > 0 && in.open[in.depth - 1].what == what;
}

bool is_too_deep(Recorded& in) {
  if (in.depth < kDeepest) {
    return false;
  }
  in.too_deep.fetch_add(1, std::memory_order_relaxed);
  return true;
}

Event& begin(Recorded& to, const void* what, Kind kind, int graph_task) {
  auto& opened = to.open[to.depth];
  opened.what = what;
  auto& event = opened.event;
  event = {};
  event.kind = kind;
  event.order = ++last_order;
  event.depth = static_cast<std::uint16_t>(to.depth++);
  event.graph_task = graph_task;
  return event;
}

// Ends the innermost that is `what`, and forgets what was in it and never
// ended; null where it began before the recording.
Event* end(Recorded& of, const void* what) {
  const auto now = c10::getApproximateTime();
  for (auto i = of.depth; i-- > 0;) {
    if (of.open[i].what == what) {
      for (auto j = i; j < of.depth; ++j) {
        of.reentrant -= of.open[j].event.kind == Kind::kNode ? 1 : 0;
      }
      of.depth = i;
      of.open[i].event.end = static_cast<std::uint64_t>(now);
      return &of.open[i].event;
    }
  }
  return nullptr;
}

template <bool kTensors>
std::unique_ptr<at::ObserverContext> op_begins(const at::RecordFunction& fn) {
  auto* to = own();
  if (to == nullptr) {
    return nullptr;
  }
  const int graph_task = torch::autograd::get_current_graph_task_id();
  const bool in_backward = graph_task >= 0;
  if ((in_backward && (is_inner() || is_announcement(fn))) ||
      is_begun(*to, &fn) || is_too_deep(*to)) {
    return nullptr;
  }
  begin_to_note(*to);
  const auto* outer = innermost_op(*to);
  const auto sequence = at::sequence_number::peek();
  if (outer != nullptr) {
    note_new_nodes(*to, sequence, origin_in(*outer));
  }
  auto& event = begin(*to, &fn, Kind::kOp, graph_task);
  event.name = name_of_op(fn.name(), fn.overload_name());
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
    event.inputs = to->notes.add_inputs(fn.inputs());
  }
  event.start = static_cast<std::uint64_t>(c10::getApproximateTime());
  return nullptr;
}

template <bool kTensors>
void op_ends(const at::RecordFunction& fn, at::ObserverContext* /*unused*/) {
  auto* of = recorded_here;
  auto* event = of != nullptr ? end(*of, &fn) : nullptr;
  if (event == nullptr) {
    return;
  }
  note_new_nodes(
      *of, at::sequence_number::peek(), origin_in(of->open[of->depth]));
  if constexpr (kTensors) {
    event->outputs = of->notes.add_outputs(fn.outputs(), event->inputs);
  }
  of->ring.write(words_of(*event));
}

class Nodes final : public NodeObserver {
 public:
  void before(const NodeRun& run) override {
    auto* to = own();
    if (to == nullptr || is_too_deep(*to)) {
      return;
    }
    if (run.graph_task != to->last_graph_task) {
      note_graph_task(*to, run.graph_task);
    }
    auto& event = begin(*to, &run.node, Kind::kNode, run.graph_task);
    event.name = name_of_node(run.node);
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
    auto* of = recorded_here;
    if (const auto* event = of != nullptr ? end(*of, &run.node) : nullptr) {
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
    event.order = ++last_order;
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

// --- recordings --------------------------------------------------------------

struct Recording {
  Wanted wanted;
  std::uint64_t start = 0;
  std::map<const Recorded*, std::uint64_t> written; // before it began
};

std::map<std::uint64_t, Recording> recordings;
std::uint64_t last_recording = 0;
std::uint64_t last_generation = 0;
std::unique_ptr<c10::ApproximateClockToUnixTimeConverter> clock;
at::CallbackHandle handle = at::INVALID_CALLBACK_HANDLE;
bool observes_nodes = false;
Wanted observed{false, false}; // by the last observe()

Wanted wanted_by_all() {
  Wanted all{false, false, false, false, true};
  for (const auto& [number, recording] : recordings) {
    all.forward = all.forward || recording.wanted.forward;
    all.backward = all.backward || recording.wanted.backward;
    all.tensors = all.tensors || recording.wanted.tensors;
    all.inner_ops = all.inner_ops || recording.wanted.inner_ops;
    all.interpose = all.interpose && recording.wanted.interpose;
  }
  return all;
}

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

// What others still want is not let go for a moment.
void observe() {
  const auto wanted = wanted_by_all();
  records_inner_ops.store(wanted.inner_ops);
  if (!wanted.forward) {
    observe_ops(wanted);
  }
  observe_nodes(wanted); // before our own callback could look like another's
  observe_ops(wanted);
  observed = wanted;
}

std::string name_of_thread(std::uint64_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

using Convert = std::function<c10::time_t(c10::approx_time_t)>;

std::uint64_t
since(const Convert& convert, std::uint64_t time, std::uint64_t start) {
  const auto nanoseconds = convert(static_cast<c10::approx_time_t>(time)) -
      convert(static_cast<c10::approx_time_t>(start));
  return nanoseconds > 0 ? static_cast<std::uint64_t>(nanoseconds) : 0;
}

bool is_wanted(const Event& event, const Wanted& wanted, std::uint64_t start) {
  return event.start >= start &&
      (event.kind == Kind::kOp ? wanted.forward : wanted.backward);
}

Drained drained(
    const Recorded& from,
    const Recording& recording,
    const Convert& convert) {
  Drained found;
  found.thread = from.thread;
  found.number = from.number;
  found.name = name_of_thread(from.thread);
  const auto before = recording.written.find(&from);
  const auto first = before != recording.written.end() ? before->second
                                                       : std::uint64_t{0};
  const auto end = from.ring.written();
  const auto words = from.ring.read(first, end);
  found.lost = end - first - words.size() + from.too_deep.load();
  found.events.reserve(words.size());
  for (const auto& each : words) {
    auto event = event_of(each);
    if (is_wanted(event, recording.wanted, recording.start)) {
      event.start = since(convert, event.start, recording.start);
      event.end = since(convert, event.end, recording.start);
      found.events.push_back(event);
    }
  }
  found.notes = from.notes.all(found.first_note);
  return found;
}

} // namespace

namespace {

std::uint64_t start(const Wanted& wanted, std::size_t capacity) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (recordings.empty()) {
    wanted_capacity = capacity;
    clock = std::make_unique<c10::ApproximateClockToUnixTimeConverter>();
    generation.store(++last_generation, std::memory_order_release);
  }
  auto& recording = recordings[++last_recording];
  recording.wanted = wanted;
  for (const auto& each : all_recorded) {
    recording.written[each.get()] = each->ring.written();
  }
  recording.start = static_cast<std::uint64_t>(c10::getApproximateTime());
  observe();
  return last_recording;
}

} // namespace

std::uint64_t start_recording(const Wanted& wanted, std::size_t capacity) {
  acquire_chains();
  const auto number = start(wanted, capacity);
  // This thread's first node may come before its first op.
  if (auto* to = wanted.forward ? own() : nullptr) {
    begin_to_note(*to);
  }
  return number;
}

std::vector<Drained> stop_recording(std::uint64_t number) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto recording = recordings.at(number);
  recordings.erase(number);
  observe();
  const auto convert = clock->makeConverter();
  std::vector<Drained> found;
  found.reserve(all_recorded.size());
  for (const auto& each : all_recorded) {
    found.push_back(drained(*each, recording, convert));
  }
  if (recordings.empty()) {
    generation.store(0, std::memory_order_release);
    all_recorded.clear();
  }
  return found;
}

std::uint64_t count_events(std::uint64_t number) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto& recording = recordings.at(number);
  std::uint64_t count = 0;
  for (const auto& each : all_recorded) {
    const auto before = recording.written.find(each.get());
    count += each->ring.written() -
        (before != recording.written.end() ? before->second : 0);
  }
  return count;
}

} // namespace pyharness::engine
