// See unchanged_state.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/unchanged_state.h>

#include <csrc/engine/interpose.h>

#include <ATen/record_function.h>

#include <atomic>

namespace pyharness::engine {

namespace {

// Written again, with the same, by whoever begins to observe while others run.
std::atomic<decltype(&at::set_record_function_tls_)> original = nullptr;

Interposition& calls() {
  static Interposition found(
      "_ZN2at24set_record_function_tls_ERKNS_17RecordFunctionTLSE");
  return found;
}

void set_where_it_changes(const at::RecordFunctionTLS& state) {
  const auto& now = at::get_record_function_tls_();
  const bool same =
      state.tls_record_function_enabled_ == now.tls_record_function_enabled_ &&
      state.sorted_tls_callbacks_.empty() && now.sorted_tls_callbacks_.empty();
  if (!same) {
    original.load(std::memory_order_relaxed)(state);
  }
}

} // namespace

void keep_unchanged_state() {
  if (calls().possible()) {
    calls().lead(original, &set_where_it_changes);
  }
}

void set_every_state() {
  calls().lead_to(nullptr);
}

} // namespace pyharness::engine
