// A library whose frames are hard to unwind, and (with -DMAIN) the program that calls it. For the test of the unwinder.
#include <signal.h>
#include <stdlib.h>
#include <string.h>

void here(void);
void enter(int depth);

#ifdef MAIN

int reached;

void here(void) {
  ++reached; // @here
}

int main(void) {
  enter(3);
  return 0;
}

#else

// No call frame information at all: an unwinder has to look at the instructions.
void without_information(void (*call)(void));
__asm__(
    ".text\n.globl without_information\n.type without_information, @function\nwithout_information:\n"
    "push %rbp\nmov %rsp, %rbp\ncall *%rdi\npop %rbp\nret\n"
    ".size without_information, . - without_information\n");

// The call is the last instruction: its return address is in the next function.
__attribute__((noreturn, noinline)) static void never_returns(void) {
  here();
  exit(0);
}

__attribute__((noinline)) static void ends_with_a_call(void) {
  never_returns();
}

static void on_signal(int number) {
  (void)number;
  without_information(ends_with_a_call);
}

static int compare(const void* left, const void* right) {
  raise(SIGUSR1);
  return *(const char*)left - *(const char*)right;
}

void enter(int depth) {
  char* letters = __builtin_alloca((size_t)depth * 16);
  memset(letters, 'x', (size_t)depth * 16);
  if (depth > 0) {
    enter(depth - 1);
    return;
  }
  signal(SIGUSR1, on_signal);
  char pair[2] = {'b', 'a'};
  qsort(pair, 2, 1, compare);
}

#endif
