// See nan_levels.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/nan/levels.h>

namespace pyharness::engine {

Level& ThreadLevels::begin(const void* what, const OpPlan* plan) {
  ++count;
  levels.push_back(
      {what,
       plan,
       /*runs_python=*/false,
       /*inner_ops_seen=*/false,
       /*had_gradient=*/false,
       inputs.size(),
       findings.size(),
       /*asked=*/0,
       /*number=*/kNoNumber,
       /*before=*/0});
  return levels.back();
}

Level* ThreadLevels::innermost(const void* what) {
  for (auto i = levels.size(); i-- > 0;) {
    if (levels[i].what == what) {
      while (levels.size() > i + 1) {
        end();
      }
      return &levels[i];
    }
  }
  return nullptr;
}

void ThreadLevels::end() {
  const auto first_input = levels.back().first_input;
  const auto first_finding = levels.back().first_finding;
  const bool outermost = is_outermost();
  levels.pop_back();
  inputs.erase(inputs.begin() + first_input, inputs.end());
  if (outermost) {
    findings.erase(findings.begin() + first_finding, findings.end());
  }
}

bool ThreadLevels::is_outermost() const {
  return levels.size() == 1 || levels[levels.size() - 2].runs_python;
}

std::vector<std::string> ThreadLevels::ops_around() const {
  std::vector<std::string> names;
  for (auto i = levels.size() - 1; i-- > 0;) {
    if (levels[i].plan == nullptr) {
      break;
    }
    names.push_back(levels[i].plan->name);
  }
  return names;
}

ThreadLevels& levels_of_thread() {
  thread_local ThreadLevels levels;
  return levels;
}

} // namespace pyharness::engine
