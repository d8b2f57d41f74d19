// Leads the calls that a library makes to functions of its own through whoever
// wants to see them: those of a wrapper of inductor's to its kernels, where
// both are C++ and Python sees neither.
//
// Nothing but the slots of the library's PLT changes (interpose.h). A function
// is called as it was, whatever it takes: x86-64 only.
#pragma once

#include <csrc/engine/kernels/call_entry.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace pyharness::engine {

class LedFunction;
struct CallObserver;
using CallObservers = std::vector<std::shared_ptr<CallObserver>>;

// A call that has not reached its function yet.
class LedCall {
 public:
  LedCall(
      const LedFunction& function,
      const ArgumentRegisters& registers,
      const CallerStack& stack,
      const CallObservers& observers,
      std::size_t next)
      : function_(function),
        registers_(registers),
        stack_(stack),
        observers_(observers),
        next_(next) {}

  const std::string& name() const;

  // The address behind the call: which line of the wrapper calls.
  std::uint64_t back() const {
    return stack_.back;
  }

  // The first ones, of a function that takes integers and pointers alone.
  std::vector<std::uint64_t> arguments(std::size_t count) const;

  // By the next observer, or by the function itself.
  void proceed() const;

 private:
  const LedFunction& function_;
  const ArgumentRegisters& registers_;
  const CallerStack& stack_;
  const CallObservers& observers_;
  std::size_t next_;
};

struct CallObserver {
  CallObserver() = default;
  CallObserver(const CallObserver&) = delete;
  CallObserver& operator=(const CallObserver&) = delete;
  virtual ~CallObserver() = default;

  // In place of the call: does call.proceed(), once.
  virtual void around(const LedCall& call) = 0;
};

// The functions that a library defines and calls, whose names begin so, by
// their addresses; empty where it is not loaded, or keeps none in slots.
std::map<std::string, std::uint64_t> functions_called_within(
    const char* library,
    const char* prefix);

// As long as this is there, an observer sees the calls of these functions.
class LedCalls {
 public:
  // `words` is how many words each takes at most on the stack. The library
  // stays loaded meanwhile.
  LedCalls(
      const char* library,
      const char* prefix,
      std::size_t words,
      std::shared_ptr<CallObserver> observer);
  LedCalls(const LedCalls&) = delete;
  LedCalls& operator=(const LedCalls&) = delete;
  ~LedCalls();

 private:
  void* library_;
  std::vector<LedFunction*> functions_;
  std::shared_ptr<CallObserver> observer_;
};

} // namespace pyharness::engine
