// See nan_search.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/nan/search.h>

#include <ATen/SequenceNumber.h>

namespace pyharness::engine {

ThreadLevels* own_levels() {
  if (!searching.load(std::memory_order_acquire)) {
    return nullptr;
  }
  auto& levels = levels_of_thread();
  if (levels.busy) {
    return nullptr;
  }
  const auto current = search_number.load(std::memory_order_relaxed);
  if (levels.search != current) {
    levels.search = current;
    levels.count = 0;
    levels.noted_until = at::sequence_number::peek();
  }
  return &levels;
}

Verdict judge(ValueKinds out, ValueKinds in, bool moves) {
  const ValueKinds made = out & static_cast<ValueKinds>(~in);
  if (made != 0) {
    return {true, made};
  }
  return {false, static_cast<ValueKinds>(moves ? 0 : out & in & kNan)};
}

void forget(ThreadLevels& levels, std::size_t from) {
  const auto first = static_cast<std::ptrdiff_t>(from);
  levels.findings.erase(levels.findings.begin() + first, levels.findings.end());
}

void tell_first(Finding& finding, bool may_throw) {
  // Nobody else is to be told meanwhile.
  bool yes = true;
  if (!searching.compare_exchange_strong(yes, false)) {
    return;
  }
  if (!take_finding.load()(finding, may_throw)) {
    resume_search();
  }
}

void take_first(ThreadLevels& levels, const Level& level) {
  if (levels.findings.size() <= level.first_finding) {
    return;
  }
  Finding first = std::move(levels.findings[level.first_finding]);
  forget(levels, level.first_finding);
  tell_first(first, /*may_throw=*/level.plan == nullptr);
}

} // namespace pyharness::engine
