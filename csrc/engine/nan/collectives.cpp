// See collectives.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/nan/collectives.h>

#include <csrc/engine/nan/search.h>
#include <csrc/engine/op_values.h>

#include <memory>
#include <utility>

#include <ATen/core/ivalue_inl.h>
#include <torch/csrc/distributed/c10d/Work.hpp>

namespace pyharness::engine {

namespace {

// What is to be looked at when the work is done, by whatever thread ends it.
struct Given {
  Finding finding; // as much of it as is known before
  std::vector<at::Tensor> tensors;
  ValueKinds own; // of this rank's part
  bool reduces;
  std::uint64_t search;
};

using Holder = c10::intrusive_ptr<torch::CustomClassHolder>;
using Watched = c10::weak_intrusive_ptr<torch::CustomClassHolder>;

// Those that tell nobody when they are done, this many at most. Whoever waited
// for one drops it then.
constexpr std::size_t kMostAsked = 64;
thread_local std::vector<std::pair<Watched, std::shared_ptr<Given>>> asked;

c10d::Work& work_of(const Holder& holder) {
  return *static_cast<c10d::Work*>(holder.get());
}

// The work behind an output; null where it is none. By the name of its class:
// its type is not in a torch without distributed.
Holder work_in(const c10::IValue& value) {
  if (!value.isObject()) {
    return {};
  }
  const auto object = value.toObject();
  const auto name = object->type()->name();
  const bool is_work = name && name->name() == "Work" &&
      !object->slots().empty() && object->getSlot(0).isCapsule();
  return is_work ? object->getSlot(0).toCapsule() : Holder();
}

c10::intrusive_ptr<c10::ivalue::Future> future_of(const Holder& work) {
  try {
    return work_of(work).getFuture();
  } catch (const std::exception&) {
    return {}; // this kind of work has none
  }
}

// Whether it is bad, and as what: a sum is made here, any other value was sent.
Verdict judge_given(const Given& given, ValueKinds out) {
  const auto made = given.reduces ? out & static_cast<ValueKinds>(~given.own)
                                  : static_cast<ValueKinds>(0);
  if (made != 0) {
    return {true, static_cast<ValueKinds>(made)};
  }
  return {false, static_cast<ValueKinds>(out & kNan)};
}

void look_at(Given& given) {
  auto& levels = levels_of_thread();
  if (levels.busy || !searching.load(std::memory_order_acquire) ||
      given.search != search_number.load()) {
    return;
  }
  const Busy busy(levels);
  ValueKinds out = 0;
  for (const auto& tensor : given.tensors) {
    out |= kinds_of(tensor, wanted());
  }
  const auto verdict = judge_given(given, out);
  if (verdict.kinds == 0) {
    return;
  }
  auto& finding = given.finding;
  finding.made = verdict.made;
  finding.kinds = verdict.kinds;
  finding.why = verdict.made ? "this rank's part had none" : "";
  for (const auto& tensor : given.tensors) {
    const auto position = finding.outputs.size();
    finding.outputs.push_back(
        facts_of(std::to_string(position), position, tensor, wanted()));
  }
  tell_first(finding, /*may_throw=*/false);
}

Finding begun(const ThreadLevels& levels, const Level& level) {
  Finding finding = finding_here(/*native=*/false);
  finding.name = level.plan->name;
  finding.overload = level.plan->overload;
  finding.within = levels.ops_around();
  finding.number = levels.count;
  finding.of_all_ranks = true;
  return finding;
}

// Those that give nothing.
bool is_one_sided(const std::string& name) {
  return name == "c10d::send" || name == "c10d::barrier" ||
      name == "c10d::monitored_barrier_";
}

// What it gives: some, as `recv`, have that in their first argument alone.
std::vector<at::Tensor> given_by(
    const ThreadLevels& levels,
    const Level& level,
    const at::RecordFunction& fn) {
  std::vector<at::Tensor> tensors;
  for (const auto& output : outputs_of(fn)) {
    each_tensor(
        output, [&](const at::Tensor& tensor) { tensors.push_back(tensor); });
  }
  if (!tensors.empty() || is_one_sided(level.plan->name)) {
    return tensors;
  }
  for (auto i = level.first_input; i < levels.inputs.size(); ++i) {
    if (levels.inputs[i].argument == 0) {
      tensors.push_back(levels.inputs[i].tensor);
    }
  }
  return tensors;
}

void ask_later(const Holder& work, std::shared_ptr<Given> given) {
  if (asked.size() == kMostAsked) {
    asked.erase(asked.begin());
  }
  asked.emplace_back(Watched(work), std::move(given));
}

} // namespace

bool check_when_done(
    const ThreadLevels& levels,
    const Level& level,
    const at::RecordFunction& fn) {
  Holder work;
  for (const auto& output : outputs_of(fn)) {
    work = work ? work : work_in(output);
  }
  auto tensors = given_by(levels, level, fn);
  if (!work || tensors.empty()) {
    return false;
  }
  auto given = std::make_shared<Given>(Given{
      begun(levels, level),
      std::move(tensors),
      level.before,
      level.plan->reduces,
      levels.search});
  if (const auto future = future_of(work)) {
    future->addCallback([given](c10::ivalue::Future& done) {
      if (!done.hasError()) {
        look_at(*given);
      }
    });
  } else {
    ask_later(work, std::move(given));
  }
  return true;
}

void check_those_done() {
  for (std::size_t i = 0; i < asked.size();) {
    const auto work = asked[i].first.lock();
    if (work && !work_of(work).isCompleted()) {
      ++i;
      continue;
    }
    const auto given = asked[i].second;
    asked.erase(asked.begin() + static_cast<std::ptrdiff_t>(i));
    look_at(*given);
  }
}

} // namespace pyharness::engine
