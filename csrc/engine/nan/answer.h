// What Python answers when it is told of a bad value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include <pybind11/pybind11.h>

namespace pyharness::engine {

// File, line and function of Python's that gdb stops at, and why.
using Stop = std::tuple<std::string, int, std::string, std::string>;

struct Answer {
  bool taken = false; // it is what is looked for
  std::optional<Stop> stop;

  // Has gdb stop, where that is the answer. Without the GIL, if that was not
  // held.
  void act() const;
};

// An exception class is raised where Python called what runs now.
Answer read_answer(const pybind11::object& answer);

// The function of pyharness/_trap that gdb stops on.
void set_nan_trap(std::uintptr_t address);

} // namespace pyharness::engine
