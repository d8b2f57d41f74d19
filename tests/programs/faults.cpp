// Faults of native code, each at a line with its name. No torch is needed.
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace {

volatile int sink;
std::mutex held;

int deeper(int depth) {
  volatile char room[4096];
  room[0] = static_cast<char>(depth);
  return deeper(depth + 1) + room[0]; // @overflow
}

} // namespace

extern "C" {

void null_pointer(double* values, int index) {
  values[index] = 1.0; // @null_pointer
}

void wild_pointer() {
  sink = *reinterpret_cast<int*>(uintptr_t{0x123456789000}); // @wild_pointer
}

void calls_nothing(void (*function)(int)) {
  function(0); // @calls_nothing
}

int divides(int by) {
  return 7 / by; // @divides
}

void traps() {
  __builtin_trap(); // @traps
}

void aborts() {
  std::abort(); // @aborts
}

void double_free() {
  char* memory = static_cast<char*>(std::malloc(64));
  std::free(memory);
  std::free(memory); // @double_free
}

void terminates() {
  std::thread([] {
    throw std::out_of_range("index 7 of 3"); // @terminates
  }).join();
}

int overflow() {
  return deeper(0);
}

void in_native_thread() {
  std::thread([] {
    null_pointer(nullptr, 3); // @in_native_thread
  }).join();
}

void overflow_in_native_thread() {
  std::thread(overflow).join();
}

void locks_twice() {
  held.lock();
  held.lock(); // @locks_twice
}

void spins() {
  for (;;) {
    sink = 1; // @spins
  }
}

int harmless(int value) {
  return value + 1; // @harmless
}
}
