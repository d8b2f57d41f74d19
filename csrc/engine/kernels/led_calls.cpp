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

  // Code that calls pyharness_led_call with this in r11.
  bool enter_by(std::uint8_t* code);

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

#ifdef __x86_64__

// pyharness_led_call is entered as the function was, with the LedFunction in
// r11. It keeps all that arguments may be in, and has C++ do the rest.
// pyharness_call_as_led(function, registers, arguments, words) calls with them.
// Both can be unwound, so that the function may throw.
asm(R"(
  .text
  .p2align 4
  .hidden pyharness_led_call
  .globl pyharness_led_call
  .type pyharness_led_call, @function
pyharness_led_call:
  .cfi_startproc
  endbr64
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $176, %rsp
  movq %rdi, (%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movups %xmm0, 48(%rsp)
  movups %xmm1, 64(%rsp)
  movups %xmm2, 80(%rsp)
  movups %xmm3, 96(%rsp)
  movups %xmm4, 112(%rsp)
  movups %xmm5, 128(%rsp)
  movups %xmm6, 144(%rsp)
  movups %xmm7, 160(%rsp)
  movq %r11, %rdi
  movq %rsp, %rsi
  leaq 8(%rbp), %rdx
  call pyharness_on_led_call
  leave
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size pyharness_led_call, . - pyharness_led_call

  .p2align 4
  .hidden pyharness_call_as_led
  .globl pyharness_call_as_led
  .type pyharness_call_as_led, @function
pyharness_call_as_led:
  .cfi_startproc
  endbr64
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  movq %rdi, %r10
  movq %rsi, %r11
  leaq 1(%rcx), %rax
  andq $-2, %rax
  shlq $3, %rax
  subq %rax, %rsp
  movq %rsp, %rdi
  movq %rdx, %rsi
  cld
  rep movsq
  movups 48(%r11), %xmm0
  movups 64(%r11), %xmm1
  movups 80(%r11), %xmm2
  movups 96(%r11), %xmm3
  movups 112(%r11), %xmm4
  movups 128(%r11), %xmm5
  movups 144(%r11), %xmm6
  movups 160(%r11), %xmm7
  movq (%r11), %rdi
  movq 8(%r11), %rsi
  movq 16(%r11), %rdx
  movq 24(%r11), %rcx
  movq 32(%r11), %r8
  movq 40(%r11), %r9
  call *%r10
  leave
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size pyharness_call_as_led, . - pyharness_call_as_led
)");

static_assert(sizeof(ArgumentRegisters) == 176, "as the code above has it");

extern "C" void pyharness_led_call();
extern "C" void pyharness_call_as_led(
    void* function,
    const ArgumentRegisters* registers,
    const std::uint64_t* arguments,
    std::size_t words);

extern "C" __attribute__((used, visibility("hidden"))) void
pyharness_on_led_call(
    const LedFunction& function,
    const ArgumentRegisters& registers,
    const CallerStack& stack) {
  const auto observers = function.observers();
  LedCall(function, registers, stack, *observers, 0).proceed();
}

namespace {

constexpr std::size_t kEntry = 32; // bytes that an entry has room in

void append(std::uint8_t*& at, std::initializer_list<std::uint8_t> code) {
  at = std::copy(code.begin(), code.end(), at);
}

void append(std::uint8_t*& at, const void* address) {
  const auto number = reinterpret_cast<std::uint64_t>(address);
  std::memcpy(at, &number, sizeof number);
  at += sizeof number;
}

} // namespace

bool LedFunction::enter_by(std::uint8_t* code) {
  entry_ = code;
  append(code, {0xF3, 0x0F, 0x1E, 0xFA}); // endbr64
  append(code, {0x49, 0xBB}); // movabs this, %r11
  append(code, this);
  append(code, {0x49, 0xBA}); // movabs pyharness_led_call, %r10
  append(code, reinterpret_cast<const void*>(&pyharness_led_call));
  append(code, {0x41, 0xFF, 0xE2}); // jmp *%r10
  return true;
}

void LedCall::proceed() const {
  if (next_ < observers_.size()) {
    observers_[next_]->around(
        LedCall(function_, registers_, stack_, observers_, next_ + 1));
    return;
  }
  pyharness_call_as_led(
      function_.original(), &registers_, stack_.arguments, function_.words());
}

#else

namespace {

constexpr std::size_t kEntry = 1;

} // namespace

bool LedFunction::enter_by(std::uint8_t* /*code*/) {
  return false;
}

void LedCall::proceed() const {}

#endif

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
      functions * kEntry,
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
    if (!made.back()->enter_by(code + (made.size() - 1) * kEntry)) {
      return;
    }
  }
  if (mprotect(code, fresh.size() * kEntry, PROT_READ | PROT_EXEC) == 0) {
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
