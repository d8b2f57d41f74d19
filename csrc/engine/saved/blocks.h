// The memory of tensors on the CPU, each in pages of its own. Pages can be
// watched: the first write into them ends in a signal, which notes who writes,
// makes them writable, and has the write done again.
//
// So a debug allocator like Electric Fence sees who writes where nobody should,
// in any code and without a price for those who only read.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pyharness::engine {

// Saves and writes in the order in which they happened, from 1 on.
using Moment = std::uint64_t;

Moment next_moment();

// Who wrote first into a block since it was watched last. Noted in a handler of
// a signal: fixed sizes, nothing to free.
struct Write {
  static constexpr std::size_t kMostNative = 64;
  static constexpr std::size_t kMostPython = 16;
  static constexpr std::size_t kPage = 4096;

  struct PythonLine {
    std::array<char, 400> file; // UTF-8, ended by 0
    std::array<char, 120> function;
    int line; // 0 where it is not known yet, see line_of
    void* code;
    int instruction; // in bytes
    int first_line; // of the code
  };

  std::atomic<Moment> moment; // 0 while it is being written
  const void* block;
  const Write* previous; // into the same block, if it still is
  std::uintptr_t address;
  long thread; // the kernel's number
  std::size_t native_count;
  std::array<void*, kMostNative> native; // innermost first; the first is exact
  long python_thread; // whose lines these are: another's if not `thread`
  std::size_t python_count;
  std::array<PythonLine, kMostPython> python; // innermost first
  std::uintptr_t page; // where `before` was
  std::array<unsigned char, kPage> before;
};

// The thread that saved a tensor last, if it runs Python.
struct Saver {
  std::atomic<void*> state{nullptr}; // a PyThreadState
  std::atomic<long> thread{0}; // the kernel's number
};

struct Block {
  std::uintptr_t begin = 0;
  std::size_t size = 0; // of whole pages
  std::atomic<std::uint64_t> use{0}; // which tensor's: another after each free
  std::atomic<bool> watched{false};
  std::atomic<const Write*> last_write{nullptr};
  Saver saver;
  bool kept = true; // of a free one: its memory, from the system
};

// Gives the tensors of the CPU such memory from here on, for the process's
// life. Throws std::runtime_error where the system has no room for addresses.
void allocate_in_blocks();

// The block in which this lies; null for all other memory.
Block* block_at(const void* address);

// Notes the next write. False where the system refuses.
bool watch(Block& block);

// Notes no write.
void unwatch(Block& block);

// The first write into the block behind `moment`; null where there is none, or
// where it is too long ago.
const Write* first_write_behind(const Block& block, Moment moment);

} // namespace pyharness::engine
