// Code that stands for a function and is entered as that is, whatever it takes:
// it keeps what the caller has passed and calls on_led_call. x86-64 only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace pyharness::engine {

// Registers that a caller passes arguments in, in their order: System V ABI for
// x86-64, 3.2.3.
struct ArgumentRegisters {
  static constexpr std::size_t kIntegers = 6;
  std::array<std::uint64_t, kIntegers> integers;
  std::array<std::array<std::uint64_t, 2>, 8> vectors;
};

// What a caller has pushed.
struct CallerStack {
  std::uint64_t back; // the address behind the call
  std::uint64_t arguments[1]; // those that the registers had no room for
};

// Bytes that an entry has room in.
constexpr std::size_t kEntrySize = 32;

// Writes an entry that calls on_led_call with `argument`. False on other
// processors.
bool write_entry(std::uint8_t* code, const void* argument);

// Is called by entries.
void on_led_call(
    const void* argument,
    const ArgumentRegisters& registers,
    const CallerStack& stack);

// Calls a function as an entry was, with so many words of the stack.
void call_as_led(
    void* function,
    const ArgumentRegisters& registers,
    const std::uint64_t* arguments,
    std::size_t words);

} // namespace pyharness::engine
