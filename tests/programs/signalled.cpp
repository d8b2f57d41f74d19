// The module `signalled`: handlers of signals in C++, and what they come into.
#include <pybind11/pybind11.h>

#include <csignal>
#include <sys/time.h>

namespace signalled {

volatile long rings = 0;
alignas(64) char handler_stack[1 << 16];

void on_alarm(int) {
  rings = rings + 1; // @alarm
}

void on_user_signal(int) {
  rings = rings + 100; // @handler
}

void ring_every(long microseconds) {
  struct sigaction action{};
  action.sa_handler = &on_alarm;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval timer{{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

long count(long numbers) {
  long sum = 0; // @count
  for (long number = 0; number < numbers; ++number) { // @loop
    sum += number;
  }
  return sum;
}

long send() {
  const stack_t own{handler_stack, 0, sizeof(handler_stack)};
  sigaltstack(&own, nullptr);
  struct sigaction action{};
  action.sa_handler = &on_user_signal;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1); // @send
  return rings; // @sent
}

} // namespace signalled

PYBIND11_MODULE(signalled, m) {
  m.def("ring_every", &signalled::ring_every);
  m.def("count", &signalled::count);
  m.def("send", &signalled::send);
}
