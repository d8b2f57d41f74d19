// What SWIG, cffi and ctypes call.
#include "own.h"

double scaled(double number, int by) {
  double product = number * by; // @scaled
  return product + 1; // @returns
}

int twice(int (*function)(int), int number) {
  int once = function(number); // @twice
  return function(once); // @again
}
