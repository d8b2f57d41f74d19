// A program with a variable of every type of the standard library whose look
// docs/values.md shows (tests/ingdb/test_standard_values.py), and a few that
// nobody has made yet, or that somebody has destroyed.
#include <pthread.h>

#include <any>
#include <array>
#include <atomic>
#include <chrono>
#include <complex>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <typeindex>
#include <unordered_map>
#include <utility>
#include <valarray>
#include <variant>
#include <vector>

namespace zoo {

struct Shape {
  virtual ~Shape() = default;
  int sides = 0;
};

struct Square : Shape {
  double edge = 2.5;
};

int twice(int number) {
  return 2 * number;
}

// The compiler has to keep what is shown to it.
[[gnu::noinline]] void keep(const void* thing) {
  asm volatile("" : : "r"(thing) : "memory");
}

template <typename... Things>
void keep_all(const Things&... things) {
  (keep(&things), ...);
}

// The stop is here: with exceptions in it, look is partly code that GCC takes to
// run seldom, where gdb sets no breakpoint at a line.
[[gnu::noinline]] void pause() {
  asm volatile("");
}

[[gnu::noinline]] void look(int three) {
  std::string text = "hello";
  std::string empty;
  std::string long_text(1000, 'x');
  std::string_view view = text;
  std::wstring wide = L"wide";
  std::vector<int> numbers{1, 2, 3};
  std::vector<bool> flags{true, false};
  std::vector<std::string> words{"one", "two"};
  std::array<double, 3> fixed{1, 2, 3};
  std::map<std::string, int> ages{{"ann", 1}, {"bob", 2}};
  std::unordered_map<int, double> rates{{1, 0.5}};
  std::set<int> some{3, 1};
  std::deque<int> waiting{1, 2};
  std::list<int> chain{4, 5};
  std::pair<int, std::string> pair{1, "one"};
  std::tuple<int, double, std::string> triple{1, 2.5, "three"};
  std::tuple<> no_tuple;
  std::optional<int> maybe = 5;
  std::optional<int> nothing;
  std::variant<int, std::string> either = std::string("text");
  std::any whatever = 42;
  std::function<int(int)> call = twice;
  std::function<int(int)> with_state = [three](int n) { return n + three; };
  std::function<int(int)> no_call;
  std::unique_ptr<Shape> shape = std::make_unique<Square>();
  std::unique_ptr<Shape> no_shape;
  [[maybe_unused]] std::nullptr_t nowhere = nullptr;
  std::shared_ptr<int> shared = std::make_shared<int>(7);
  std::weak_ptr<int> weak = shared;
  std::weak_ptr<int> expired;
  {
    auto gone = std::make_shared<int>(1);
    expired = gone;
  }
  auto reference = std::ref(three);
  std::chrono::milliseconds delay{250};
  std::chrono::duration<double> seconds{1.5};
  std::chrono::system_clock::time_point date{
      std::chrono::seconds(1'000'000'000)};
  std::chrono::steady_clock::time_point since_boot{std::chrono::seconds(2)};
  std::filesystem::path path = "/tmp/file.txt";
  std::atomic<int> count{7};
  std::atomic<bool> done{true};
  std::atomic<double> rate{0.5};
  std::complex<double> turned{1, -2};
  std::mutex mutex, free_mutex;
  std::lock_guard<std::mutex> guard(mutex);
  std::unique_lock<std::mutex> later(free_mutex, std::defer_lock);
  std::recursive_mutex again;
  again.lock();
  again.lock();
  std::shared_mutex readers;
  readers.lock_shared();
  std::mutex ends;
  ends.lock();
  std::thread worker([&ends] {
    pthread_setname_np(pthread_self(), "worker");
    std::lock_guard<std::mutex> until(ends);
  });
  std::thread no_thread;
  std::valarray<float> samples{1, 2, 3};
  std::type_index kind = typeid(Square);
  std::ostringstream written;
  written << "at " << three;
  std::istringstream read_from("12 34");
  std::stringstream both("begun");
  both << "done and more";
  std::out_of_range too_far("too far");
  const std::exception& error = too_far;
  std::exception_ptr failed = std::make_exception_ptr(too_far);
  std::exception_ptr no_error;
  std::promise<int> promised, kept, broken;
  std::promise<void> reached;
  std::future<int> awaited = promised.get_future(), answer = kept.get_future();
  std::future<int> failing = broken.get_future();
  std::shared_future<void> arrived = reached.get_future();
  std::future<int> on_demand =
      std::async(std::launch::deferred, twice, three);
  std::future<int> no_result;
  kept.set_value(42);
  broken.set_exception(failed);
  reached.set_value();
  alignas(8) char memory[64];
  std::memset(memory, 0x41, sizeof memory);
  auto& corrupt = reinterpret_cast<std::string&>(memory);
  auto& corrupt_pointer = reinterpret_cast<std::shared_ptr<int>&>(memory);
  auto& corrupt_vector = reinterpret_cast<std::vector<int>&>(memory);
  auto& corrupt_function = reinterpret_cast<std::function<int(int)>&>(memory);
  keep_all(text, empty, long_text, view, wide, numbers, flags, words, fixed);
  keep_all(ages, rates, some, waiting, chain, pair, triple, no_tuple, maybe);
  keep_all(nothing, either, whatever, call, with_state, no_call, shape);
  keep_all(no_shape, nowhere, shared, weak, expired, reference, delay, seconds, date);
  keep_all(since_boot, path, count, done, rate, turned, mutex, free_mutex);
  keep_all(guard, later, again, readers, ends, worker, no_thread, corrupt);
  keep_all(samples, kind, written, read_from, both, too_far, error, failed);
  keep_all(no_error, promised, awaited, answer, failing, arrived, on_demand);
  keep_all(no_result, kept, broken, reached);
  keep_all(corrupt_pointer, corrupt_vector, corrupt_function);
  pause();
  ends.unlock();
  worker.join();
  keep_all(text, numbers, shape, shared, weak, call, with_state, worker);
}

} // namespace zoo

int main() {
  zoo::look(3);
}
