// See led_calls.h.
#include <csrc/engine/kernels/led_calls.h>

#include <csrc/loaded_library.h>

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

namespace pyharness::engine {

// One that calls are led of. It stays for ever: a thread may be on its way to
// it. Without observers its slots lead to the function itself.
class LedFunction {
 public:
  LedFunction(std::string name, void* original, const Slot& slot)
      : name_(std::move(name)), original_(original), slot_(slot) {}

  const std::string& name() const {
    return name_;
  }

  bool is(const std::string& name, const void* original) const {
    return name_ == name && original_ == original;
  }

  void* original() const {
    return original_;
  }

  std::size_t words() const {
    return words_.load(std::memory_order_relaxed);
  }

  void add(const std::shared_ptr<CallObserver>& observer, std::size_t words) {
    const std::lock_guard<std::mutex> lock(mutex_);
    words_ = std::max(words_.load(), words);
    auto observers = std::make_shared<CallObservers>(*observers_);
    observers->push_back(observer);
    observers_ = std::move(observers);
    slot_.lead_to(entry_);
  }

  void remove(const std::shared_ptr<CallObserver>& observer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto observers = std::make_shared<CallObservers>(*observers_);
    const auto found =
        std::find(observers->begin(), observers->end(), observer);
    if (found != observers->end()) {
      observers->erase(found);
    }
    if (observers->empty()) {
      slot_.lead_to(original_);
    }
    observers_ = std::move(observers);
  }

  std::shared_ptr<const CallObservers> observers() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return observers_;
  }

  // Where calls are led to.
  bool enter_by(std::uint8_t* code) {
    entry_ = code;
    return write_entry(code, this);
  }

 private:
  const std::string name_;
  void* const original_;
  const Slot slot_;
  void* entry_ = nullptr;
  std::atomic<std::size_t> words_{0};
  mutable std::mutex mutex_; // of what follows
  std::shared_ptr<const CallObservers> observers_ =
      std::make_shared<CallObservers>();
};

void on_led_call(
    const void* argument,
    const ArgumentRegisters& registers,
    const CallerStack& stack) {
  const auto& function = *static_cast<const LedFunction*>(argument);
  const auto observers = function.observers();
  LedCall(function, registers, stack, *observers, 0).proceed();
}

void LedCall::proceed() const {
  if (next_ < observers_.size()) {
    observers_[next_]->around(
        LedCall(function_, registers_, stack_, observers_, next_ + 1));
    return;
  }
  call_as_led(
      function_.original(), registers_, stack_.arguments, function_.words());
}

const std::string& LedCall::name() const {
  return function_.name();
}

std::vector<std::uint64_t> LedCall::arguments(std::size_t count) const {
  std::vector<std::uint64_t> found;
  found.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    found.push_back(
        i < ArgumentRegisters::kIntegers
            ? registers_.integers[i]
            : stack_.arguments[i - ArgumentRegisters::kIntegers]);
  }
  return found;
}

namespace {

struct Called {
  std::string name;
  Slot slot;

  void* function(void* library) const {
    return dlsym(library, name.c_str());
  }
};

// The slots of calls that a library makes to functions of its own.
std::vector<Called> calls_within(void* library, const char* prefix) {
  struct Search {
    std::uintptr_t base;
    const char* prefix;
    std::vector<Called> found;
  } search{0, prefix, {}};
  const link_map* linked = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&linked)) != 0) {
    return {};
  }
  search.base = linked->l_addr;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        if (info->dlpi_addr != wanted.base) {
          return 0;
        }
        const LoadedLibrary loaded(*info);
        for (const auto& call : loaded.calls()) {
          const auto symbol =
              static_cast<std::uint32_t>(ELF64_R_SYM(call.r_info));
          const char* name = loaded.name(symbol);
          if (!loaded.is_undefined(symbol) &&
              std::strncmp(name, wanted.prefix, std::strlen(wanted.prefix)) ==
                  0) {
            wanted.found.push_back({name, loaded.slot(call)});
          }
        }
        return 1;
      },
      &search);
  return std::move(search.found);
}

// By slot. Libraries come and go: another one may have a slot there later.
struct LedFunctions {
  std::mutex mutex; // of what follows, and of the slots
  std::map<const void*, LedFunction*> by_slot;

  LedFunction* of(const Called& call, const void* original) const {
    const auto found = by_slot.find(call.slot.address);
    return found != by_slot.end() && found->second->is(call.name, original)
        ? found->second
        : nullptr;
  }
};

LedFunctions& led() {
  static auto& functions = *new LedFunctions; // threads may outlive statics
  return functions;
}

std::uint8_t* room_for(std::size_t functions) {
  void* memory = mmap(
      nullptr,
      functions * kEntrySize,
      PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS,
      -1,
      0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(memory);
}

// Makes those that are not there yet; all of them or none.
void make(void* library, const std::vector<Called>& calls, LedFunctions& to) {
  std::vector<const Called*> fresh;
  for (const auto& call : calls) {
    if (to.of(call, call.function(library)) == nullptr) {
      fresh.push_back(&call);
    }
  }
  auto* code = fresh.empty() ? nullptr : room_for(fresh.size());
  if (code == nullptr) {
    return;
  }
  std::vector<LedFunction*> made;
  made.reserve(fresh.size());
  for (const auto* call : fresh) {
    made.push_back(
        new LedFunction(call->name, call->function(library), call->slot));
    if (!made.back()->enter_by(code + (made.size() - 1) * kEntrySize)) {
      return;
    }
  }
  if (mprotect(code, fresh.size() * kEntrySize, PROT_READ | PROT_EXEC) == 0) {
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      to.by_slot[fresh[i]->slot.address] = made[i];
    }
  }
}

} // namespace

std::map<std::string, std::uint64_t> functions_called_within(
    const char* library,
    const char* prefix) {
  std::map<std::string, std::uint64_t> found;
  void* opened = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (opened == nullptr) {
    return found;
  }
  for (const auto& call : calls_within(opened, prefix)) {
    found[call.name] = reinterpret_cast<std::uint64_t>(call.function(opened));
  }
  dlclose(opened);
  return found;
}

LedCalls::LedCalls(
    const char* library,
    const char* prefix,
    std::size_t words,
    std::shared_ptr<CallObserver> observer)
    : library_(dlopen(library, RTLD_LAZY | RTLD_NOLOAD)),
      observer_(std::move(observer)) {
  if (library_ == nullptr) {
    return;
  }
  const auto calls = calls_within(library_, prefix);
  auto& functions = led();
  const std::lock_guard<std::mutex> lock(functions.mutex);
  make(library_, calls, functions);
  for (const auto& call : calls) {
    auto* function = functions.of(call, call.function(library_));
    if (function != nullptr) {
      function->add(observer_, words);
      functions_.push_back(function);
    }
  }
}

LedCalls::~LedCalls() {
  {
    const std::lock_guard<std::mutex> lock(led().mutex);
    for (auto* function : functions_) {
      function->remove(observer_);
    }
  }
  if (library_ != nullptr) {
    dlclose(library_);
  }
}

} // namespace pyharness::engine
