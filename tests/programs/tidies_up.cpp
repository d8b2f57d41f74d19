// The module `tidies_up`: an object that is destroyed when Python has ended.
#include <pybind11/pybind11.h>

#include <cstdio>

namespace tidies_up {

struct Kept {
  int number = 7;
  ~Kept() {
    number += 1; // @first
    std::printf("kept %d\n", number); // @second
  }
};

Kept kept;

} // namespace tidies_up

PYBIND11_MODULE(tidies_up, m) {
  m.def("number", [] { return tidies_up::kept.number; });
}
