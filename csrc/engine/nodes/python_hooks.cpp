// See python_hooks.h. The classes of these hooks are libtorch_python's, which
// we do not link: their names tell them.
#include <csrc/torch_headers.h>

#include <csrc/engine/nodes/python_hooks.h>

#include <algorithm>
#include <cstring>
#include <typeinfo>

namespace pyharness::engine {

namespace {

using torch::autograd::Node;

// C++ has hooks, too: those of DistributedDataParallel, for one.
template <typename Hook>
bool is_of_python(const Hook& hook) {
  constexpr auto* kPrefix = "N5torch8autograd";
  const auto& object = *hook;
  const char* name = typeid(object).name();
  return std::strncmp(name, kPrefix, std::strlen(kPrefix)) == 0 &&
      std::strstr(name, "PyFunction") != nullptr;
}

template <typename Hooks>
bool has_one_of_python(const Hooks& hooks) {
  return std::any_of(hooks.begin(), hooks.end(), [](const auto& hook) {
    return is_of_python(hook);
  });
}

} // namespace

bool has_python_hooks_before(Node& node) {
  return has_one_of_python(node.tensor_pre_hooks()) ||
      has_one_of_python(node.pre_hooks());
}

bool has_python_hooks_behind(Node& node) {
  return has_one_of_python(node.post_hooks());
}

bool has_python_hooks_within(Node& node) {
  const auto& hook = node.tensor_post_acc_grad_hooks();
  return hook != nullptr && is_of_python(hook);
}

} // namespace pyharness::engine
