// What _trap takes of Python beyond the limited API, so that one file serves
// every CPython from 3.9 on. CPython exports these functions and keeps their
// signatures; the structs that are read are those of 3.9 and 3.10, which change
// no more.
#pragma once

#include <csrc/trap/frames/frame_api.h>

#include <cstddef>

#ifndef Py_LIMITED_API
#error "compile with -DPy_LIMITED_API=0x030a0000"
#endif

extern "C" {

// NOLINTBEGIN(readability-identifier-naming): the names are CPython's.

// Include/cpython/pymem.h, since 3.5.
enum PyMemAllocatorDomain : unsigned {
  PYMEM_DOMAIN_RAW,
  PYMEM_DOMAIN_MEM,
  PYMEM_DOMAIN_OBJ,
};

struct PyMemAllocatorEx {
  void* ctx;
  void* (*malloc)(void* ctx, std::size_t size);
  void* (*calloc)(void* ctx, std::size_t count, std::size_t size);
  void* (*realloc)(void* ctx, void* memory, std::size_t size);
  void (*free)(void* ctx, void* memory);
};

void PyMem_GetAllocator(
    PyMemAllocatorDomain domain,
    PyMemAllocatorEx* allocator);
void PyMem_SetAllocator(
    PyMemAllocatorDomain domain,
    PyMemAllocatorEx* allocator);

// Include/cpython/pystate.h, since 3.4.
int PyGILState_Check();

// NOLINTEND(readability-identifier-naming)
}

namespace pyharness::breakpoints {

// How the thread state of 3.9 begins (`struct _ts` there).
struct ThreadState39 {
  void* prev;
  void* next;
  void* interp;
  void* frame;
  int recursion_depth;
  char overflowed;
  int stackcheck_counter;
  int tracing;
  int use_tracing;
  void* c_profilefunc;
  void* c_tracefunc;
};

// And that of 3.10.
struct ThreadState310 {
  void* prev;
  void* next;
  void* interp;
  void* frame;
  int recursion_depth;
  int recursion_headroom;
  int stackcheck_counter;
  int tracing;
  struct {
    int use_tracing;
  }* cframe;
  void* c_profilefunc;
  void* c_tracefunc;
};

static_assert(offsetof(ThreadState39, use_tracing) == 48);
static_assert(offsetof(ThreadState39, c_tracefunc) == 64);
static_assert(offsetof(ThreadState310, c_tracefunc) == 64);

} // namespace pyharness::breakpoints
