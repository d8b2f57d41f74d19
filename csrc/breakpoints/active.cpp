// See active.h.
#include <csrc/torch_headers.h>

#include <csrc/breakpoints/active.h>

#include <csrc/breakpoints/node_breakpoints.h>
#include <csrc/breakpoints/node_chains.h>
#include <csrc/breakpoints/op_breakpoints.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>

namespace pyharness::breakpoints {

namespace {

const Active nothing{};

std::atomic<const Active*> current{&nothing};
std::mutex names_mutex;
std::mutex mutex; // of what follows
std::vector<std::unique_ptr<const Active>>& all_sets() {
  static auto* sets = new std::vector<std::unique_ptr<const Active>>();
  return *sets;
}

bool asks_for_module(const Breakpoint* each) {
  return each->in_module != nullptr;
}

void put(std::unique_ptr<Active> next) {
  next->version = active().version + 1;
  next->has_after =
      std::any_of(next->ops.begin(), next->ops.end(), [](const auto* each) {
        return each->after;
      });
  next->has_chains =
      std::any_of(next->nodes.begin(), next->nodes.end(), asks_for_module) ||
      std::any_of(next->ops.begin(), next->ops.end(), [](const auto* each) {
        return !each->within.empty() && asks_for_module(each);
      });
  if (next->has_chains && !active().has_chains) {
    next->chains_since = next->version;
  }
  all_sets().push_back(std::move(next));
  current.store(all_sets().back().get(), std::memory_order_release);
  watch_ops(active());
  watch_nodes(active());
}

std::vector<Breakpoint*>& of_its_kind(Active& set, const Breakpoint& one) {
  return one.kind == Kind::kNode ? set.nodes : set.ops;
}

} // namespace

namespace {

// A pointer: the room that a module's thread-local variables get without a
// detour is small.
thread_local ThisThread* own = nullptr;

struct Freed {
  ~Freed() {
    delete own;
    own = nullptr;
  }
};

} // namespace

ThisThread::~ThisThread() {
  std::free(spare);
}

ThisThread& this_thread() {
  if (own == nullptr) {
    thread_local Freed freed;
    own = new ThisThread();
  }
  return *own;
}

const char* NameCache::Name::kept(Mask mask) const {
  static auto* texts = new std::set<std::string>();
  if (mask == 0 || !may_go) {
    return nullptr;
  }
  const std::lock_guard<std::mutex> lock(names_mutex);
  return texts->insert(name).first->c_str();
}

Mask NameCache::ask(
    const std::vector<Breakpoint*>& candidates,
    const Name& name) {
  Mask mask = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    mask |= static_cast<Mask>(candidates[i]->means(name.name, name.overload))
        << i;
  }
  return mask;
}

const Active& active() {
  return *current.load(std::memory_order_acquire);
}

void add(Breakpoint& breakpoint) {
  const std::lock_guard<std::mutex> lock(mutex);
  auto next = std::make_unique<Active>(active());
  auto& own = of_its_kind(*next, breakpoint);
  if (own.size() == kMostOfAKind) {
    throw std::invalid_argument(
        "there are " + std::to_string(kMostOfAKind) +
        " native breakpoints of this kind already");
  }
  own.push_back(&breakpoint);
  put(std::move(next));
  if (active().has_chains) { // the first node may come before the first op
    begin_node_chains(active().chains_since);
  }
}

void remove(Breakpoint& breakpoint) {
  const std::lock_guard<std::mutex> lock(mutex);
  breakpoint.removed.store(true);
  auto next = std::make_unique<Active>(active());
  auto& own = of_its_kind(*next, breakpoint);
  own.erase(std::remove(own.begin(), own.end(), &breakpoint), own.end());
  put(std::move(next));
}

} // namespace pyharness::breakpoints
