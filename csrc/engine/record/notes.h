// Notes shapes, dtypes and devices of what goes into an op and comes out of it,
// never values. Each thread has its own, a ring of words.
//
// A note: the number of tensors, the bytes of storage that are new (outputs
// only), then for each tensor a word dtype | device type << 8 | device index
// << 16 | dimensions << 24, the address of its storage, and its sizes; a size
// that is not a number (symbolic) is -1.
#pragma once

#include <csrc/engine/record/ring.h>

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <vector>

namespace pyharness::engine {

class Notes {
 public:
  // Room for the notes of about as many events.
  explicit Notes(std::size_t events) : ring_(events * kWordsOfEvent) {}

  // Where the note begins: 1 + the number of its first word, in 32 bits.
  std::uint32_t add_inputs(c10::ArrayRef<c10::IValue> values);

  // `inputs`: what add_inputs returned.
  std::uint32_t add_outputs(
      c10::ArrayRef<const c10::IValue> values,
      std::uint32_t inputs);

  // Every word that is still there; `first` gets the number of the first.
  std::vector<std::uint64_t> all(std::uint64_t& first) const;

 private:
  using Word = std::array<std::uint64_t, 1>;
  static constexpr std::size_t kWordsOfEvent = 16;

  std::uint32_t add(const std::vector<std::uint64_t>& words);

  Ring<Word> ring_;
  // Kept from call to call: no allocation once they are large enough.
  std::vector<std::uint64_t> words_;
  std::vector<const void*> storages_;
};

} // namespace pyharness::engine
