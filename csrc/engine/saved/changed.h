// What a write has changed of a tensor, by the page that was kept of before.
#pragma once

#include <csrc/engine/saved/blocks.h>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace pyharness::engine {

struct Changed {
  std::vector<std::int64_t> index;
  at::Tensor was; // one element
  at::Tensor is;
};

// The first element, in order of address, whose bytes in the page that was kept
// are others now.
std::optional<Changed> changed_in(const at::Tensor& tensor, const Write& write);

// Whether an address lies within the tensor, and not beside it in its memory.
bool is_inside(const at::Tensor& tensor, std::uintptr_t address);

} // namespace pyharness::engine
