// Where frames of CPython 3.11 begin, without a price for those in which
// nothing can stop.
//
// Whoever stands where frames begin by PEP 523 keeps the interpreter from
// inlining calls. But each function begins with an instruction of its own,
// RESUME, and so does each run of a generator; that instruction is looked up by
// its opcode in a table of addresses, and 74 opcodes are free. So code in which
// something can stop gets an opcode of ours there, which asks us; other code
// gets a second one, which is RESUME_QUICK under another number, once we have
// seen it. Whatever reads an instruction back (`co_code`, `dis`, tracing) goes
// through a table of the interpreter's, in which both of ours are RESUME, too.
#pragma once

#include <Python.h>

#include <cstdint>

namespace pyharness::breakpoints::resume_opcode {

// Is called by the interpreter's loop where a frame begins or goes on, at
// `RESUME`, with the GIL: the innermost of its thread. Returns where the loop
// goes on: `handler_of(instruction)`, `resumed()` or `traced()`.
using Asked = const void* (*)();

// Whether the loop is as this file has it, and asks `asked` from now on about
// all code of which it has not heard. Needs the GIL, as all here.
bool begin(Asked asked);

// Ask no more: every frame begins as without us.
void end();

// What the loop does for the opcode that stands at `instruction`; null where
// that is not a RESUME of anybody's.
const void* handler_of(const std::uint8_t* instruction);

// What it does for any RESUME, at a little more cost.
const void* resumed();

// What it does for a traced frame: the event "call", then RESUME.
const void* traced();

// Ask about `instruction` of `code` each time, or never again: until `forget`.
// `warm` code has been run often enough for the interpreter to be quick there.
void ask_always(PyObject* code, std::uint8_t* instruction);
void ask_never(PyObject* code, std::uint8_t* instruction, bool warm);

// Ask about all code.
void forget();

} // namespace pyharness::breakpoints::resume_opcode
