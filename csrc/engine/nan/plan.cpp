// See plan.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/nan/plan.h>

#include <csrc/engine/provenance/overload.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include <ATen/core/function_schema.h>

namespace pyharness::engine {

namespace {

template <std::size_t kCount>
using Names = std::array<std::string_view, kCount>;

// Memory that nobody wrote yet; and views of an input that are the input.
constexpr Names<23> kMakesNothing = {
    "aten::empty",
    "aten::empty_like",
    "aten::empty_strided",
    "aten::empty_permuted",
    "aten::new_empty",
    "aten::new_empty_strided",
    "aten::empty_quantized",
    "aten::_efficientzerotensor",
    "aten::resize",
    "aten::resize_",
    "aten::resize_as_",
    "aten::_resize_output_",
    "aten::set_",
    "aten::set_data",
    "aten::detach_",
    "aten::requires_grad_",
    "aten::as_strided_",
    "aten::squeeze_",
    "aten::unsqueeze_",
    "aten::t_",
    "aten::transpose_",
    "aten::swapaxes_",
    "aten::swapdims_",
};

constexpr Names<8> kMoves = {
    "aten::clone",
    "aten::copy_",
    "aten::_to_copy",
    "aten::_copy_from",
    "aten::cat",
    "aten::stack",
    "aten::lift_fresh",
    "aten::lift_fresh_copy",
};

constexpr Names<10> kOverwrites = {
    "aten::copy_",
    "aten::fill_",
    "aten::zero_",
    "aten::normal_",
    "aten::uniform_",
    "aten::random_",
    "aten::bernoulli_",
    "aten::exponential_",
    "aten::_foreach_copy_",
    "aten::_foreach_zero_",
};

constexpr Names<6> kPlaced = {
    "value",
    "fill_value",
    "s", // scalar_tensor
    "nan", // nan_to_num
    "posinf",
    "neginf",
};

template <std::size_t kCount>
bool is_one_of(const Names<kCount>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool writes(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

bool is_view(const c10::Argument& result) {
  return result.alias_info() != nullptr && !result.alias_info()->isWrite();
}

bool all_views(const std::vector<c10::Argument>& results) {
  return !results.empty() &&
      std::all_of(results.begin(), results.end(), is_view);
}

// Where `value` is a factor it is no value that the op places: addcmul,
// addcdiv.
bool places(const std::string& op, const std::string& argument) {
  return (is_one_of(kPlaced, argument) && op.find("addc") == op.npos) ||
      op == "aten::where";
}

// Whether it writes to any in place.
bool plan_arguments(OpPlan& plan, const c10::FunctionSchema& schema) {
  bool any = false;
  for (const auto& argument : schema.arguments()) {
    const bool out = writes(argument) && argument.is_out();
    const bool written = writes(argument) && !out;
    plan.arguments.push_back(
        {argument.name(), written, out, places(plan.name, argument.name())});
    any = any || written;
    plan.writes = plan.writes || written || out;
  }
  return any;
}

std::unique_ptr<OpPlan> make_plan(const c10::FunctionSchema& schema) {
  auto plan = std::make_unique<OpPlan>();
  plan->name = schema.name();
  plan->overload = schema.overload_name();
  const auto& results = schema.returns();
  plan->makes_nothing = is_one_of(kMakesNothing, plan->name) ||
      all_views(results);
  plan->moves = is_one_of(kMoves, plan->name);
  plan->overwrites = is_one_of(kOverwrites, plan->name);
  plan->collective = plan->name.rfind("c10d::", 0) == 0;
  plan->reduces =
      plan->collective && plan->name.find("reduce") != std::string::npos;
  // A private op of torch's, called by a public one.
  plan->first_output_only =
      results.size() > 1 && plan->name.rfind("aten::_", 0) == 0;
  plan->results_are_arguments = plan_arguments(*plan, schema) &&
      std::none_of(results.begin(), results.end(), writes);
  return plan;
}

std::mutex plans_mutex;
std::unordered_map<std::string, std::unique_ptr<OpPlan>>& plans() {
  static auto* all =
      new std::unordered_map<std::string, std::unique_ptr<OpPlan>>;
  return *all;
}

const OpPlan* find_plan(const at::RecordFunction& fn) {
  if (!fn.operator_name()) {
    return nullptr; // a range that the program named
  }
  const auto schema = fn.operator_schema();
  if (!schema) {
    return nullptr;
  }
  // The whole schema: a program may define, drop and define an op again.
  const std::string key = c10::toString(*schema);
  const std::lock_guard<std::mutex> lock(plans_mutex);
  auto& plan = plans()[key];
  if (!plan) {
    plan = make_plan(*schema);
  }
  return plan.get();
}

struct Remembered {
  const char* name = nullptr; // where the schema has it
  const OpPlan* plan = nullptr;
};

// Each op's schema is where it is for as long as the op is defined.
thread_local std::array<Remembered, 1024> remembered;

} // namespace

const OpPlan* plan_of(const at::RecordFunction& fn) {
  const char* name = fn.name();
  auto& slot = remembered[(reinterpret_cast<std::uintptr_t>(name) >> 4) % 1024];
  if (slot.name != name || slot.plan->name != name ||
      slot.plan->overload != overload_of(fn)) {
    const auto* plan = find_plan(fn);
    if (plan == nullptr) {
      return nullptr;
    }
    slot = {name, plan};
  }
  return slot.plan;
}

} // namespace pyharness::engine
