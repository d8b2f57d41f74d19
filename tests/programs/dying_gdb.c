// Preloaded into gdb: it is killed between two of the changes that it makes to
// what it debugs.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/ptrace.h>
#include <unistd.h>

typedef long Ptrace(int request, int process, void* address, void* data);
typedef ssize_t
Pwrite(int descriptor, const void* data, size_t size, off_t offset);

static long counts = 0;
static long dies_at = 0;
long changes = 0;

// Counts from now on; killed before the change of that number, 0 for never.
void die_at(long change) {
  dies_at = change;
  changes = 0;
  counts = 1;
}

static void count(void) {
  if (counts && ++changes == dies_at) {
    kill(getpid(), SIGKILL);
  }
}

static int only_looks(int request) {
  switch (request) {
    case PTRACE_PEEKTEXT:
    case PTRACE_PEEKDATA:
    case PTRACE_PEEKUSER:
    case PTRACE_GETREGS:
    case PTRACE_GETFPREGS:
    case PTRACE_GETREGSET:
    case PTRACE_GETSIGINFO:
      return 1;
    default:
      return 0;
  }
}

long ptrace(enum __ptrace_request request, ...) {
  va_list rest;
  va_start(rest, request);
  int process = va_arg(rest, int);
  void* address = va_arg(rest, void*);
  void* data = va_arg(rest, void*);
  va_end(rest);
  if (!only_looks(request)) {
    count();
  }
  return ((Ptrace*)dlsym(RTLD_NEXT, "ptrace"))(request, process, address, data);
}

ssize_t pwrite64(int descriptor, const void* data, size_t size, off_t offset) {
  count();
  return ((Pwrite*)dlsym(RTLD_NEXT, "pwrite64"))(
      descriptor, data, size, offset);
}
