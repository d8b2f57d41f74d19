// One thread writes a ring while others copy it: no race, and every copy is
// whole. Arguments: how many to write.
#include <csrc/engine/record/ring.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

using Words = std::array<std::uint64_t, 8>;
using pyharness::engine::Ring;

static Words words_of(std::uint64_t number) {
  Words words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = number * 0x9E3779B97F4A7C15U + i;
  }
  return words;
}

// Whether they are one after another, none missing.
static bool is_whole(const std::vector<Words>& copy, std::uint64_t end) {
  const auto first = end - copy.size();
  for (std::size_t i = 0; i < copy.size(); ++i) {
    if (copy[i] != words_of(first + i)) {
      return false;
    }
  }
  return true;
}

int main(int, char** arguments) {
  const auto count = std::strtoull(arguments[1], nullptr, 10);
  Ring<Words> ring(1000);
  std::atomic<bool> torn{false};
  std::atomic<std::uint64_t> copies{0};
  const auto read = [&] {
    std::uint64_t end = 0;
    while (end < count) {
      end = ring.written();
      const auto copy = ring.read(0, end);
      copies += !copy.empty();
      torn = torn || !is_whole(copy, end);
    }
  };
  std::thread first(read), second(read);
  for (std::uint64_t number = 0; number < count; ++number) {
    ring.write(words_of(number));
    torn = torn || ring.own(number) != words_of(number);
  }
  first.join();
  second.join();
  const auto kept = ring.read(0, count).size();
  std::printf(
      "%llu copies, %zu kept, %llu lost\n",
      static_cast<unsigned long long>(copies.load()),
      kept,
      static_cast<unsigned long long>(count - kept));
  return torn || ring.capacity() != 1024 || kept != 1024 ? 1 : 0;
}
