// See recorded.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/record/recorded.h>

#include <ATen/record_function.h>
#include <c10/util/ApproximateClock.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <mutex>

namespace pyharness::engine {

namespace {

std::atomic<std::uint64_t> generation{0}; // 0: nothing is recorded
thread_local std::shared_ptr<Recorded> own;
// The same without a guard: a thread's first look at `own` runs code.
thread_local Recorded* here = nullptr;

std::mutex recorded_mutex; // of what follows
std::vector<std::shared_ptr<Recorded>> all;
std::size_t capacity_of_next = 0;
std::uint64_t last_generation = 0;

void join(std::uint64_t current) {
  const std::lock_guard<std::mutex> lock(recorded_mutex);
  own = std::make_shared<Recorded>(
      capacity_of_next, current, here != nullptr ? here->last_order : 0);
  here = own.get();
  all.push_back(own);
}

} // namespace

Recorded::Recorded(
    std::size_t capacity,
    std::uint64_t generation,
    std::uint32_t last_order)
    : generation(generation),
      thread(static_cast<std::uint64_t>(syscall(SYS_gettid))),
      number(at::RecordFunction::currentThreadId()),
      ring(capacity),
      notes(capacity),
      last_order(last_order) {}

const Open* Recorded::innermost_op() const {
  for (auto i = depth; i-- > 0;) {
    if (open[i].event.kind == Kind::kOp) {
      return &open[i];
    }
  }
  return nullptr;
}

bool Recorded::is_open(const void* what) const {
  return depth > 0 && open[depth - 1].what == what;
}

bool Recorded::is_too_deep() {
  if (depth < kDeepest) {
    return false;
  }
  too_deep.fetch_add(1, std::memory_order_relaxed);
  return true;
}

Event& Recorded::begin(const void* what, Kind kind, int graph_task) {
  auto& opened = open[depth];
  opened.what = what;
  auto& event = opened.event;
  event = {};
  event.kind = kind;
  event.order = ++last_order;
  event.depth = static_cast<std::uint16_t>(depth++);
  event.graph_task = graph_task;
  return event;
}

Event* Recorded::end(const void* what) {
  const auto now = c10::getApproximateTime();
  for (auto i = depth; i-- > 0;) {
    if (open[i].what == what) {
      for (auto j = i; j < depth; ++j) {
        reentrant -= open[j].event.kind == Kind::kNode ? 1 : 0;
      }
      depth = i;
      open[i].event.end = static_cast<std::uint64_t>(now);
      return &open[i].event;
    }
  }
  return nullptr;
}

Recorded* join_recorded() {
  const auto current = generation.load(std::memory_order_acquire);
  if (current == 0) {
    return nullptr;
  }
  if (here == nullptr || here->generation != current) {
    join(current);
  }
  return here;
}

Recorded* recorded_here() {
  return here;
}

void begin_generation(std::size_t capacity) {
  const std::lock_guard<std::mutex> lock(recorded_mutex);
  capacity_of_next = capacity;
  generation.store(++last_generation, std::memory_order_release);
}

void end_generation() {
  const std::lock_guard<std::mutex> lock(recorded_mutex);
  generation.store(0, std::memory_order_release);
  all.clear();
}

std::vector<std::shared_ptr<Recorded>> all_recorded() {
  const std::lock_guard<std::mutex> lock(recorded_mutex);
  return all;
}

} // namespace pyharness::engine
