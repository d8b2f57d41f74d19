// A library whose functions have a variable of every kind of C++23, to be
// looked at wherever a step leads, at each level of optimization
// (tests/debugger/test_every_variable.py): many are not made yet there, some
// are in registers, some in pieces.
#include <immintrin.h>
#include <any>
#include <array>
#include <atomic>
#include <bitset>
#include <chrono>
#include <complex>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <expected>
#include <filesystem>
#include <forward_list>
#include <fstream>
#include <functional>
#include <future>
#include <initializer_list>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <ranges>
#include <regex>
#include <set>
#include <source_location>
#include <span>
#include <sstream>
#include <stack>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <typeindex>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <valarray>
#include <variant>
#include <vector>

namespace {

struct Bits {
  unsigned a : 3;
  signed b : 5;
  bool c : 1;
  std::uint64_t d : 40;
};
union Either {
  float f;
  std::uint32_t bits;
  char bytes[4];
};
struct Anonymous {
  union {
    int i;
    float f;
  };
  struct {
    short low, high;
  };
  int tail;
};
enum class Colour : std::uint8_t { red = 1, green, blue };
enum Flags { none = 0, first = 1, second = 2, third = 4 };
struct Base {
  virtual ~Base() = default;
  virtual int id() const {
    return 1;
  }
  int base = 11;
};
struct Left : virtual Base {
  int left = 22;
};
struct Right : virtual Base {
  int right = 33;
};
struct Diamond : Left, Right {
  int id() const override {
    return 4;
  }
  int own = 44;
};
struct Node {
  int value;
  Node* next;
  std::unique_ptr<Node> owned;
};
struct Flexible {
  std::size_t count;
  int values[];
};
struct Empty {};
struct Tagged : Empty {
  [[no_unique_address]] Empty e;
  int x = 5;
};
template <class... Types>
struct Pack {
  std::tuple<Types...> values;
};
struct Reffed {
  const int& number;
  std::string&& text;
};
template <class T>
[[gnu::noinline]] void used(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

[[gnu::noinline]] double
plain(const std::vector<double>& numbers, double scale, const char* name) {
  double sum = 0;
  int count = 0;
  for (auto&& each : numbers) {
    const double scaled = each * scale;
    if (scaled > 1) {
      sum += scaled;
      ++count;
    }
    used(count);
  }
  std::string text = std::string(name) + std::to_string(sum);
  used(text);
  return sum / (count ? count : 1); // @plain
}

[[gnu::noinline]] double captured(
    const std::vector<double>& numbers,
    int offset) {
  double total = 0;
  std::map<std::string, int> seen;
  auto add = [&total, &seen, offset, &numbers](double value) mutable {
    offset += 1;
    total += value * offset;
    seen[std::to_string(offset)] += static_cast<int>(numbers.size());
    return total;
  };
  std::function<double(double)> erased = add;
  for (double each : numbers)
    total += erased(each);
  auto nested = [add, &erased](auto&&... values) mutable {
    return (erased(values) + ... + add(0));
  };
  total += nested(1.0, 2.0f, 3);
  used(seen);
  return total; // @captured
}

[[gnu::noinline]] int containers(int n) {
  std::vector<bool> flags(n, true);
  std::deque<int> deque(n, 3);
  std::list<std::string> names{"a", "bb"};
  std::forward_list<double> forward{1.5, 2.5};
  std::map<int, std::vector<int>> nested{{1, {1, 2}}, {2, {}}};
  std::multimap<std::string, double> multi{{"x", 1}, {"x", 2}};
  std::unordered_map<std::string, std::pair<int, float>> table{
      {"one", {1, 1.f}}};
  std::unordered_set<int> some{1, 2, 3};
  std::set<std::string_view> views{"v", "w"};
  std::priority_queue<int> heap({}, {3, 1, 2});
  std::stack<int> stack({1, 2});
  std::queue<int> queue({1, 2});
  std::array<std::array<int, 2>, 3> grid{{{1, 2}, {3, 4}, {5, 6}}};
  std::valarray<float> values{1, 2, 3};
  std::bitset<70> bits(5);
  std::span<int> dynamic(grid[0]);
  std::span<int, 2> fixed(grid[1]);
  std::initializer_list<int> list{7, 8};
  std::string_view view = "view";
  std::wstring wide = L"wide";
  std::u16string sixteen = u"sixteen";
  auto position = nested.begin();
  auto end = table.end();
  auto element = deque.begin();
  int sum = 0;
  for (auto& [key, entries] : nested) {
    sum += key + static_cast<int>(entries.size());
    used(entries);
  }
  for (auto v : some | std::views::filter([](int x) { return x > 1; }) |
           std::views::transform([&](int x) { return x * n; })) {
    sum += v;
    used(sum);
  }
  used(flags);
  used(names);
  used(forward);
  used(multi);
  used(views);
  used(heap);
  used(stack);
  used(queue);
  used(values);
  used(bits);
  used(dynamic);
  used(fixed);
  used(list);
  used(view);
  used(wide);
  used(sixteen);
  used(position);
  used(end);
  used(element);
  return sum; // @containers
}

[[gnu::noinline]] int wrapped(int n) {
  std::optional<std::string> some = "text", nothing;
  std::variant<std::monostate, int, std::string> choice = "chosen";
  std::any any = std::vector<int>{1, 2};
  std::any none;
  std::expected<int, std::string> good = 5, bad = std::unexpected("why");
  std::tuple<int, std::string, double> tuple{1, "two", 3.};
  std::pair<Colour, Flags> pair{
      Colour::green, static_cast<Flags>(first | third)};
  auto unique = std::make_unique<Diamond>();
  Base* base = unique.get();
  Left& left = *unique;
  auto shared = std::make_shared<std::vector<int>>(3, n);
  std::weak_ptr<std::vector<int>> weak = shared;
  std::unique_ptr<int[]> array(new int[3]{1, 2, 3});
  std::unique_ptr<FILE, int (*)(FILE*)> file(nullptr, &fclose);
  std::complex<double> complex{1, -2};
  std::reference_wrapper<int> wrapper = n;
  int (*function)(int) = nullptr;
  int Left::* member = &Left::left;
  int (Base::*method)() const = &Base::id;
  std::exception_ptr exception =
      std::make_exception_ptr(std::runtime_error("no"));
  std::chrono::milliseconds milliseconds(1500);
  auto now = std::chrono::system_clock::now();
  auto steady = std::chrono::steady_clock::now();
  std::filesystem::path path = "some/where";
  std::atomic<int> atomic = 4;
  std::atomic<std::shared_ptr<int>> atomic_shared;
  std::mutex mutex;
  std::unique_lock<std::mutex> lock(mutex);
  std::condition_variable condition;
  std::future<int> future =
      std::async(std::launch::deferred, [n] { return n; });
  std::promise<int> promise;
  std::thread::id id = std::this_thread::get_id();
  std::mt19937 engine(1);
  std::normal_distribution<float> normal(0, 2);
  std::regex regex("a+b");
  std::ostringstream stream;
  stream << "streamed " << n;
  std::source_location where = std::source_location::current();
  std::type_index type = typeid(n);
  std::error_code code = std::make_error_code(std::errc::timed_out);
  std::string text(200, 'x');
  Pack<int, std::string> pack{{1, "pack"}};
  Reffed reffed{n, std::move(text)};
  used(some);
  used(nothing);
  used(choice);
  used(any);
  used(none);
  used(good);
  used(bad);
  used(tuple);
  used(pair);
  used(base);
  used(left);
  used(weak);
  used(array);
  used(file);
  used(complex);
  used(wrapper);
  used(function);
  used(member);
  used(method);
  used(exception);
  used(milliseconds);
  used(now);
  used(steady);
  used(path);
  used(atomic);
  used(atomic_shared);
  used(lock);
  used(condition);
  used(future);
  used(promise);
  used(id);
  used(engine);
  used(normal);
  used(regex);
  used(stream);
  used(where);
  used(type);
  used(code);
  used(pack);
  used(reffed);
  return static_cast<int>(shared->size()) + base->id(); // @wrapped
}

[[gnu::noinline]] double raw(int n, const double* data) {
  Bits bits{5, -3, true, 1234567};
  Either either{1.5f};
  Anonymous anonymous{{7}, {1, 2}, 3};
  Node last{2, nullptr, nullptr};
  Node node{1, &last, std::make_unique<Node>()};
  last.next = &node;
  Tagged tagged;
  int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
  char text[16] = "characters";
  const char* words[] = {"one", "two", nullptr};
  __int128 large = static_cast<__int128>(1) << 100;
  long double longer = 1.25L;
  _Float16 half = 1.5;
  volatile int flag = n;
  wchar_t letter = L'x';
  char8_t eight = u8'e';
  bool truth = n > 1;
  unsigned char byte = 200;
  std::byte typed{7};
  std::nullptr_t null = nullptr;
  void* opaque = &node;
  void (*erased)(const int&) = &used<int>;
  double variable[n];
  for (int i = 0; i < n; ++i)
    variable[i] = data[i] * 2;
  auto* flexible =
      static_cast<Flexible*>(std::malloc(sizeof(Flexible) + 2 * sizeof(int)));
  flexible->count = 2;
  flexible->values[0] = flexible->values[1] = 9;
  __m128 four = _mm_set1_ps(static_cast<float>(n));
  __m128d two = _mm_set1_pd(data[0]);
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    double here = variable[i];
    sum += here * here;
    four = _mm_add_ps(four, _mm_set1_ps(static_cast<float>(here)));
    used(sum);
  }
  used(bits);
  used(either);
  used(anonymous);
  used(node);
  used(tagged);
  used(grid);
  used(text);
  used(words);
  used(large);
  used(longer);
  used(half);
  used(flag);
  used(letter);
  used(eight);
  used(truth);
  used(byte);
  used(typed);
  used(null);
  used(opaque);
  used(erased);
  used(four);
  used(two);
  std::free(flexible); // @raw
  return sum;
}

[[gnu::noinline]] int thrown(int n) {
  try {
    std::string kept = "kept";
    if (n > 2)
      throw std::out_of_range("too many: " + std::to_string(n));
    used(kept);
  } catch (const std::exception& error) {
    const char* what = error.what();
    used(what);
    return static_cast<int>(std::strlen(what)); // @thrown
  }
  return 0;
}

} // namespace

extern "C" int look() {
  int n = 5;
  std::vector<double> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 1.0);
  double result = plain(numbers, 0.75, "sum ");
  result += captured(numbers, 2);
  int sum = containers(n);
  sum += wrapped(n);
  result += raw(n, numbers.data());
  sum += thrown(n);
  std::thread worker([&numbers, sum] {
    double local = numbers.back();
    used(local);
    used(sum);
  });
  worker.join();
  used(result);
  return sum + static_cast<int>(result);
}
