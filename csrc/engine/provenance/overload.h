// The overload of an op that torch tells of.
#pragma once

#include <ATen/record_function.h>

#include <string>
#include <string_view>

namespace pyharness::engine {

// Its text; empty where there is none. torch 2.6 gives it with the whole name
// only, and as a copy.
template <typename RecordFunction>
auto overload_of(const RecordFunction& fn) {
  if constexpr (requires { fn.overload_name(); }) {
    return std::string_view{fn.overload_name()};
  } else {
    const auto name = fn.operator_name();
    return name ? name->overload_name : std::string{};
  }
}

} // namespace pyharness::engine
