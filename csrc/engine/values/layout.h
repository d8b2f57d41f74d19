// Where the numbers of a tensor lie: runs of them, one beside the other.
#pragma once

#include <array>
#include <cstdint>

#include <ATen/core/Tensor.h>

namespace pyharness::engine {

// `runs` runs of `length` numbers; `step` numbers lie from one number of a run
// to the next. Repetitions of an expanded tensor are left out. A complex
// element is two numbers.
class Layout {
 public:
  explicit Layout(const at::Tensor& tensor);

  const char* begin(std::int64_t run) const;

  std::int64_t runs = 1;
  std::int64_t length = 1;
  std::int64_t step = 1;

 private:
  struct Dimension {
    std::int64_t size;
    std::int64_t stride; // in numbers
  };

  void take_dimensions(const at::Tensor& tensor, std::int64_t numbers);
  void join_dimensions();

  const char* data_;
  std::int64_t number_bytes_;
  c10::SmallVector<Dimension, 6> outer_; // the widest stride first
};

} // namespace pyharness::engine
