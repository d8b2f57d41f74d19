#include <unistd.h>

// A runtime that gives up as it is loaded.
__attribute__((constructor)) static void end() {
  _exit(7);
}
