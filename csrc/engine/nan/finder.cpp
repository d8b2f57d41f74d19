// See nan_finder.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/nan/finder.h>

#include <csrc/engine/nan/nodes.h>
#include <csrc/engine/nan/ops.h>
#include <csrc/engine/nan/search.h>
#include <csrc/engine/provenance/provenance.h>

namespace pyharness::engine {

namespace {

at::CallbackHandle handle = at::INVALID_CALLBACK_HANDLE;

} // namespace

void start_search(const WantedValues& which, TakeFinding told) {
  add_observer(node_checks()); // first: there may be too many
  const auto* before = wanted_now.load();
  if (before == nullptr || before->kinds != which.kinds ||
      before->limit != which.limit) {
    wanted_now.store(new WantedValues(which)); // for ever: 16 bytes
  }
  take_finding = told;
  acquire_chains();
  search_number.fetch_add(1);
  search_is_open.store(true);
  searching.store(true, std::memory_order_release);
  handle = at::addGlobalCallback(op_checks());
  own_levels(); // this thread's first node may come before its first op
}

void stop_search() {
  search_is_open.store(false);
  searching.store(false, std::memory_order_release);
  at::removeCallback(handle);
  remove_observer(node_checks());
  release_chains();
}

void resume_search() {
  searching.store(search_is_open.load(), std::memory_order_release);
}

std::uint64_t checked_by_thread() {
  return levels_of_thread().count;
}

} // namespace pyharness::engine
