// See notes.h.
#include <csrc/torch_headers.h>

#include <csrc/engine/record/notes.h>

#include <csrc/engine/op_values.h>

#include <algorithm>

namespace pyharness::engine {

namespace {

constexpr std::size_t kMostTensors = 255; // of one op

const void* storage_of(const at::Tensor& tensor) {
  return tensor.has_storage() ? tensor.storage().unsafeGetStorageImpl()
                              : nullptr;
}

void describe(const at::Tensor& tensor, std::vector<std::uint64_t>& words) {
  const auto dimensions = static_cast<std::uint64_t>(tensor.dim());
  const auto device = tensor.device();
  words.push_back(
      static_cast<std::uint8_t>(tensor.scalar_type()) |
      (std::uint64_t{static_cast<std::uint8_t>(device.type())} << 8) |
      (std::uint64_t{static_cast<std::uint8_t>(device.index())} << 16) |
      (dimensions << 24));
  words.push_back(reinterpret_cast<std::uintptr_t>(storage_of(tensor)));
  for (std::uint64_t i = 0; i < dimensions; ++i) {
    words.push_back(
        has_sizes(tensor) ? static_cast<std::uint64_t>(tensor.sizes()[i])
                          : ~std::uint64_t{0});
  }
}

// Calls `take` with each defined tensor of the values, also those in lists.
template <typename Values, typename Take>
void each_tensor(const Values& values, Take take) {
  std::size_t count = 0;
  const auto take_one = [&](const at::Tensor& tensor) {
    if (tensor.defined() && count < kMostTensors) {
      ++count;
      take(tensor);
    }
  };
  for (const c10::IValue& value : values) {
    if (value.isTensor()) {
      take_one(value.toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorList()) {
        take_one(tensor);
      }
    }
  }
}

std::uint64_t bytes_of(const at::Tensor& tensor) {
  const auto bytes = tensor.storage().unsafeGetStorageImpl()->sym_nbytes();
  const bool is_symbolic = bytes.is_heap_allocated(); // it has no number
  return is_symbolic ? 0 : static_cast<std::uint64_t>(bytes.as_int_unchecked());
}

} // namespace

std::uint32_t Notes::add(const std::vector<std::uint64_t>& words) {
  const auto first = ring_.written();
  for (const auto word : words) {
    ring_.write({word});
  }
  return static_cast<std::uint32_t>(first) + 1;
}

std::uint32_t Notes::add_inputs(c10::ArrayRef<c10::IValue> values) {
  words_.assign({0, 0});
  each_tensor(values, [&](const at::Tensor& tensor) {
    ++words_[0];
    describe(tensor, words_);
  });
  return add(words_);
}

std::uint32_t Notes::add_outputs(
    c10::ArrayRef<const c10::IValue> values,
    std::uint32_t inputs) {
  storages_.clear();
  const auto tensors = ring_.own(inputs - 1)[0];
  auto at = inputs + 1;
  for (std::uint64_t i = 0; i < tensors; ++i) {
    const auto dimensions = (ring_.own(at)[0] >> 24) & 0xFF;
    storages_.push_back(reinterpret_cast<const void*>(ring_.own(at + 1)[0]));
    at += 2 + static_cast<std::uint32_t>(dimensions);
  }
  words_.assign({0, 0});
  each_tensor(values, [&](const at::Tensor& tensor) {
    ++words_[0];
    describe(tensor, words_);
    const auto* storage = storage_of(tensor);
    if (storage != nullptr &&
        std::find(storages_.begin(), storages_.end(), storage) ==
            storages_.end()) {
      storages_.push_back(storage);
      words_[1] += bytes_of(tensor);
    }
  });
  return add(words_);
}

std::vector<std::uint64_t> Notes::all(std::uint64_t& first) const {
  const auto end = ring_.written();
  const auto read = ring_.read(0, end);
  first = end - read.size();
  std::vector<std::uint64_t> words;
  words.reserve(read.size());
  for (const auto& word : read) {
    words.push_back(word[0]);
  }
  return words;
}

} // namespace pyharness::engine
