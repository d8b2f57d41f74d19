// The module `joined`: a thread of C++ that its creator waits for, with the GIL.
#include <pybind11/pybind11.h>

#include <thread>

namespace joined {

void work(long number, long& result) {
  result = number * 2; // @work
  result += 1; // @more
} // @end

long run(long number) {
  long result = 0;
  std::thread thread(work, number, std::ref(result));
  thread.join();
  return result;
}

} // namespace joined

PYBIND11_MODULE(joined, m) {
  m.def("run", &joined::run);
}
