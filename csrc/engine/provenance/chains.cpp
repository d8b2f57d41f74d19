// See provenance.h.
#include <csrc/engine/provenance/provenance.h>

#include <csrc/engine/bind.h>
#include <csrc/engine/python_frames.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace pyharness::engine {

namespace {

constexpr std::size_t kMostFrames = 128; // the innermost; a chain ends there
constexpr std::size_t kRemembered = 1024; // chains, by each thread

struct Link {
  PyCodeObject* code;
  PyObject* module; // null but for the frame of a module's call
  std::int64_t instruction;

  bool operator==(const Link&) const = default;
};

struct Links {
  std::array<Link, kMostFrames> links;
  std::size_t count = 0;
  std::uint64_t hash = 0;
};

struct StoredChain {
  std::vector<Link> links;
  Chain number;

  bool is(const Links& other) const {
    return links.size() == other.count &&
        std::equal(links.begin(), links.end(), other.links.begin());
  }
};

// All chains since the first user came; they hold a reference to each code
// object and module, so that no other can come to lie at the same address.
struct Store {
  std::deque<StoredChain> chains; // a deque: threads remember addresses
  std::unordered_multimap<std::uint64_t, const StoredChain*> by_hash;
  bool closed = false;
};

std::mutex mutex; // of the store; who holds it never waits for the GIL
std::shared_ptr<Store> store;
std::atomic<const Store*> current_store{nullptr};
std::atomic<std::uint32_t> epoch{0};
std::size_t users = 0;
std::atomic<PyCodeObject*> module_call{nullptr}; // nn.Module._wrapped_call_impl

// What a thread remembers, of one store that it keeps from going.
struct Memory {
  std::shared_ptr<Store> of;
  std::array<const StoredChain*, kRemembered> chains{};
};

thread_local std::unique_ptr<Memory> memory;
// The same without a guard: a thread's first look at `memory` runs code.
thread_local Memory* remembered = nullptr;
thread_local const Store* remembered_of = nullptr;

void gather(Links& found) {
  const auto* call = module_call.load(std::memory_order_relaxed);
  std::uint64_t hash = 0;
  each_python_frame([&](const PythonFrame& frame) {
    auto* module = frame.code == call ? frame.first_local : nullptr;
    found.links[found.count] = {frame.code, module, frame.instruction};
    // The products of the frames do not wait for one another.
    hash = std::rotl(hash, 7) ^
        (reinterpret_cast<std::uintptr_t>(frame.code) ^
         reinterpret_cast<std::uintptr_t>(module) ^
         static_cast<std::uint64_t>(frame.instruction) << 40) *
            0x9E3779B97F4A7C15U;
    return ++found.count < kMostFrames;
  });
  found.hash = hash ^ (hash >> 32);
}

class Gil {
 public:
  Gil() : state_(PyGILState_Ensure()) {}
  ~Gil() {
    PyGILState_Release(state_);
  }
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  PyGILState_STATE state_;
};

const StoredChain* add(Store& to, const Links& links) {
  StoredChain chain;
  chain.links.assign(links.links.begin(), links.links.begin() + links.count);
  chain.number = static_cast<Chain>(to.chains.size() + 1);
  for (const auto& link : chain.links) {
    Py_INCREF(reinterpret_cast<PyObject*>(link.code));
    Py_XINCREF(link.module);
  }
  to.chains.push_back(std::move(chain));
  to.by_hash.emplace(links.hash, &to.chains.back());
  return &to.chains.back();
}

// With the GIL, taken before the mutex: nobody who has the mutex waits for it.
const StoredChain* intern(Store& in, const Links& links) {
  const Gil gil;
  const std::lock_guard<std::mutex> lock(mutex);
  if (in.closed) {
    return nullptr;
  }
  const auto [first, last] = in.by_hash.equal_range(links.hash);
  for (auto each = first; each != last; ++each) {
    if (each->second->is(links)) {
      return each->second;
    }
  }
  return add(in, links);
}

Memory& memory_of(const Store* wanted) {
  if (remembered == nullptr || remembered_of != wanted) {
    const std::lock_guard<std::mutex> lock(mutex);
    memory = std::make_unique<Memory>();
    memory->of = store;
    remembered = memory.get();
    remembered_of = store.get();
  }
  return *remembered;
}

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

} // namespace

Chain current_chain() {
  const auto* wanted = current_store.load(std::memory_order_acquire);
  if (wanted == nullptr) {
    return 0;
  }
  Links links;
  gather(links);
  if (links.count == 0) {
    return 0;
  }
  auto& known = memory_of(wanted);
  auto& slot = known.chains[links.hash % kRemembered];
  if (slot != nullptr && slot->is(links)) {
    return slot->number;
  }
  if (!known.of || is_finalizing()) {
    return 0;
  }
  const auto* found = intern(*known.of, links);
  if (found == nullptr) {
    return 0;
  }
  slot = found;
  return found->number;
}

void acquire_chains() {
  const std::lock_guard<std::mutex> lock(mutex);
  if (users++ == 0) {
    store = std::make_shared<Store>();
    epoch.fetch_add(1);
    current_store.store(store.get(), std::memory_order_release);
  }
}

std::uint32_t chain_epoch() {
  return epoch.load(std::memory_order_relaxed);
}

void release_chains() {
  std::shared_ptr<Store> old;
  const Gil gil;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    users -= users > 0 ? 1 : 0;
    if (users > 0 || !store) {
      return;
    }
    current_store.store(nullptr, std::memory_order_release);
    old = std::move(store);
    old->closed = true;
  }
  // Not under the mutex: what goes may run any Python.
  for (const auto& chain : old->chains) {
    for (const auto& link : chain.links) {
      Py_DECREF(reinterpret_cast<PyObject*>(link.code));
      Py_XDECREF(link.module);
    }
  }
}

namespace {

std::vector<Link> links_of(Chain number) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (!store || number == 0 || number > store->chains.size()) {
    return {};
  }
  return store->chains[number - 1].links;
}

// [(code, instruction, module or None)], innermost first. Without the mutex:
// making a list may collect garbage, and that may run any Python.
pybind11::list chain_links(Chain number) {
  pybind11::list found;
  for (const auto& link : links_of(number)) {
    const auto module = link.module != nullptr ? pybind11::handle(link.module)
                                               : Py_None;
    found.append(
        pybind11::make_tuple(
            pybind11::handle(reinterpret_cast<PyObject*>(link.code)),
            link.instruction,
            module));
  }
  return found;
}

} // namespace

void bind_chains(pybind11::module_& m) {
  m.def(
      "set_module_call",
      [](const pybind11::object& code) {
        // Held for ever: its address is compared with that of other code.
        module_call.store(
            reinterpret_cast<PyCodeObject*>(code.inc_ref().ptr()));
      },
      "Name the code object whose frames are calls of the nn.Module in self.");
  m.def("acquire_chains", &acquire_chains);
  m.def("release_chains", &release_chains);
  m.def("current_chain", &current_chain, "Number of the calling chain.");
  m.def("chain_links", &chain_links, "Code objects, instructions, modules.");
}

} // namespace pyharness::engine
