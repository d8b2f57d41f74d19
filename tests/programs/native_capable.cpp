// Does what the letters on its standard input say, for tests of what gdb can
// do for a client (tests/ingdb/test_mi_*.py).
#include <unistd.h>

#include <cassert>
#include <csignal>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace capable {

struct Point {
  int x = 1;
  double y = 0.5;
  const char* name = "origin";
};

struct Scoped {
  explicit Scoped(int* alive) : alive(alive) {
    ++*alive;
  }
  ~Scoped() {
    --*alive;
  }
  int* alive;
};

class Refused : public std::exception {
 public:
  explicit Refused(std::string reason) : reason_(std::move(reason)) {}
  const char* what() const noexcept override {
    return reason_.c_str();
  }

 private:
  std::string reason_;
};

alignas(32) long counters[4] = {10, 20, 30, 40};
double ratio = 1.5;
Point point;
char buffer[100];
int* nowhere = nullptr;

void count(int n) {
  counters[n] += n + 1; // @count
  ratio *= 2; // @count_ratio
}

void in_threads(int number) {
  std::vector<std::thread> threads;
  for (int i = 0; i < number; ++i) {
    threads.emplace_back(count, i);
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

int read_only(int n) {
  return static_cast<int>(counters[n]) + n; // @read_only
}

int steps(int n) {
  int first = n + 1; // @steps_first
  int second = first * 2; // @steps_second
  int third = second + first; // @steps_third
  return third; // @steps_return
}

int scopes(int n) {
  int alive = 0; // @scopes_first
  int result = n; // @scopes_second
  {
    Scoped scoped(&alive); // @scopes_made
    result += alive; // @scopes_inside
    result += 10; // @scopes_inside_second
  }
  result += 100; // @scopes_after
  return result + alive; // @scopes_return
}

void fail(const std::string& message) {
  throw std::runtime_error(message); // @fail
}

void refuse(const std::string& message) {
  throw Refused(message); // @refuse
}

void out_of_range() {
  std::vector<int>().at(7); // @out_of_range
}

void throw_number() {
  throw 42; // @throw_number
}

template <typename Thrown>
bool caught(Thrown thrown) {
  try {
    thrown();
  } catch (...) { // @caught
    return true;
  }
  return false;
}

void crash(int* where) {
  *where = 1; // @crash
}

int overflow(int depth) {
  volatile char filling[4096] = {};
  return filling[0] + overflow(depth + 1) + depth;
}

int divide(int by) {
  return static_cast<int>(counters[3]) / by;
}

const int constant = 7;

void give_up() noexcept {
  refuse("nobody listens"); // @give_up
}

bool obey(char letter) {
  switch (letter) {
    case 'c':
      count(1); // @obey_count
      break;
    case 't':
      in_threads(4);
      break;
    case 'r':
      read_only(2);
      break;
    case 's':
      steps(3); // @obey_steps
      break;
    case 'o':
      std::printf("scopes %d\n", scopes(3));
      break;
    case 'f':
      caught([] { fail("it failed"); });
      break;
    case 'u':
      caught([] { refuse("for a reason"); });
      break;
    case 'g':
      caught(out_of_range);
      break;
    case 'n':
      caught(throw_number);
      break;
    case 'x':
      crash(nowhere);
      break;
    case 'y':
      crash(reinterpret_cast<int*>(0x10));
      break;
    case 'z':
      crash(reinterpret_cast<int*>(0x4141414141414141));
      break;
    case 'w':
      crash(const_cast<int*>(&constant));
      break;
    case 'O':
      std::printf("%d", overflow(0));
      break;
    case '0':
      std::printf("%d", divide(static_cast<int>(counters[0] - 10)));
      break;
    case 'A':
      assert(counters[3] < 0);
      break;
    case 'T':
      give_up();
      break;
    case 'E':
      std::terminate();
    case 'J': {
      std::thread forgotten([] {});
      break;
    }
    case 'U':
      std::raise(SIGUSR1);
      break;
    default:
      return false;
  }
  return true;
}

} // namespace capable

int main() {
  std::signal(SIGUSR1, SIG_IGN);
  std::puts("ready");
  std::fflush(stdout);
  char letter = 0;
  while (read(0, &letter, 1) == 1 && capable::obey(letter)) {
    std::printf("done %c\n", letter);
    std::fflush(stdout);
  }
  return 7;
}
