// See saves.h. The functions of torch that save a tensor and take it again are
// led through ours: hooks for saved tensors would be seen by the program, and
// with them torch does not look at versions.
#include <Python.h>

#include <csrc/torch_headers.h>

#include <csrc/engine/saved/saves.h>

#include <csrc/engine/interpose.h>
#include <csrc/engine/op_values.h>

#include <ATen/SequenceNumber.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/version.h>

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <unordered_map>

namespace pyharness::engine {

namespace {

using torch::autograd::SavedVariable;
// A std::shared_ptr up to torch 2.12.
using HeldNode = decltype(torch::autograd::get_current_node());

constexpr std::size_t kMostSaves = 64; // of one tensor, the last ones

struct Save {
  Moment moment;
  std::uint64_t use; // of the block: of which tensor it is
  std::uint64_t thread;
  std::uint64_t sequence; // of the node that is made next
  Chain chain;
  bool told;
};

std::atomic<bool> watching{false};
std::atomic<TakeOverwritten> take_overwritten{nullptr};
std::atomic<std::uint64_t> watched_saves{0};
std::atomic<std::uint64_t> saves_elsewhere{0};
std::mutex saves_mutex;

// The last time that a node saved anything: results, when its op is done. By a
// hash of the node's numbers; a node that two share has the later one's.
struct LastSave {
  std::uint64_t thread = 0;
  std::uint64_t sequence = 0;
  Moment moment = 0;
};

std::array<LastSave, std::size_t{1} << 16> last_saves;

LastSave& last_save_of(std::uint64_t thread, std::uint64_t sequence) {
  return last_saves[(sequence + thread * 0x9E3779B1U) % last_saves.size()];
}

struct Saves {
  std::vector<Save> last;
  std::size_t waiting = 0; // for a backward that takes them, or for nobody
};

std::unordered_map<const Block*, Saves>& saves() {
  static auto* all = new std::unordered_map<const Block*, Saves>();
  return *all;
}

// What we ask of torch is not the program's.
thread_local bool busy = false;

class Busy {
 public:
  Busy() {
    busy = true;
  }
  ~Busy() {
    busy = false;
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
};

// Null where there is none, as for a fake tensor.
const void* memory_of(const at::Tensor& tensor) {
  const auto* implementation = tensor.unsafeGetTensorImpl();
  if (!tensor.defined() || !implementation->has_storage()) {
    return nullptr;
  }
  auto* storage = implementation->unsafe_storage().unsafeGetStorageImpl();
  return storage->_mutable_data_ptr_no_checks().get();
}

// --- saved -------------------------------------------------------------------

void note_save(const at::Tensor& tensor) {
  const auto* memory = memory_of(tensor);
  auto* block = block_at(memory);
  if (block == nullptr) {
    saves_elsewhere += memory != nullptr ? 1 : 0;
    return;
  }
  const auto chain = current_chain(); // may wait for the GIL
  const std::lock_guard<std::mutex> lock(saves_mutex);
  block->saver.state.store(PyGILState_GetThisThreadState());
  block->saver.thread.store(syscall(SYS_gettid));
  if (!watch(*block)) {
    ++saves_elsewhere;
    return;
  }
  ++watched_saves;
  const Save save{
      next_moment(),
      block->use.load(std::memory_order_acquire),
      at::RecordFunction::currentThreadId(),
      at::sequence_number::peek(),
      chain,
      false};
  auto& of_block = saves()[block];
  auto& last = of_block.last;
  if (!last.empty() && last.front().use != save.use) {
    of_block = {};
  }
  if (!last.empty() &&
      first_write_behind(*block, last.back().moment) != nullptr) {
    of_block.waiting = 0; // what they saved is gone, and so may they be
  }
  if (last.size() == kMostSaves) {
    last.erase(last.begin());
  }
  last.push_back(save);
  ++of_block.waiting;
  last_save_of(save.thread, save.sequence) = {
      save.thread, save.sequence, save.moment};
}

using Construct = void (*)(SavedVariable*, const at::Tensor&, bool, bool);
std::atomic<Construct> original_construct = nullptr;

void construct(
    SavedVariable* self,
    const at::Tensor& tensor,
    bool is_output,
    bool is_inplace_on_view) {
  original_construct.load(std::memory_order_relaxed)(
      self, tensor, is_output, is_inplace_on_view);
  if (watching.load(std::memory_order_relaxed) && !busy) {
    const Busy here;
    note_save(tensor);
  }
}

// --- taken -------------------------------------------------------------------

// When the node saved this: by its number, else the last time that anyone did.
Save* save_of(const Block& block, const torch::autograd::Node& node) {
  const auto found = saves().find(&block);
  if (found == saves().end()) {
    return nullptr;
  }
  auto& all = found->second.last;
  const auto use = block.use.load(std::memory_order_acquire);
  const auto fits = [&](const Save& save) {
    return save.use == use && save.thread == node.thread_id() &&
        save.sequence == node.sequence_nr() + 1;
  };
  if (auto own = std::ranges::find_if(all, fits); own != all.end()) {
    return &*own;
  }
  return !all.empty() && all.back().use == use ? &all.back() : nullptr;
}

// Whether the op for which this was saved has written, before it saved its
// results: batch norm counts its running statistics so.
bool is_of_op_itself(const Save& save, const Write& write) {
  const auto& last = last_save_of(save.thread, save.sequence);
  return last.thread == save.thread && last.sequence == save.sequence &&
      last.moment > write.moment.load(std::memory_order_acquire);
}

// The write behind the save, once for each; with who saved.
const Write* write_into(
    const Block& block,
    const torch::autograd::Node& node,
    Chain& saved) {
  const std::lock_guard<std::mutex> lock(saves_mutex);
  auto* save = save_of(block, node);
  if (save == nullptr || save->told) {
    return nullptr;
  }
  const auto* write = first_write_behind(block, save->moment);
  if (write == nullptr || is_of_op_itself(*save, *write)) {
    return nullptr;
  }
  save->told = true;
  saved = save->chain;
  return write;
}

void look_at(const at::Tensor& tensor, bool counted) {
  const auto node = torch::autograd::get_current_node();
  const auto* block = node ? block_at(memory_of(tensor)) : nullptr;
  if (block == nullptr) {
    return;
  }
  Chain saved = 0;
  const auto* write = write_into(*block, *node, saved);
  if (write == nullptr) {
    return;
  }
  auto changed = changed_in(tensor, *write);
  const auto take = take_overwritten.load(std::memory_order_acquire);
  if ((changed || counted) && take != nullptr) {
    take(
        {node->name(),
         saved,
         current_chain(),
         has_sizes(tensor) ? tensor.sizes().vec()
                           : std::vector<std::int64_t>(tensor.dim(), -1),
         tensor.scalar_type(),
         counted,
         std::move(changed),
         is_inside(tensor, write->address),
         write,
         torch::autograd::get_current_graph_task_id()});
  }
}

// What is saved: a secret of older torches, which an explicit instantiation may
// name.
template <at::Tensor SavedVariable::* Data>
struct Reach {
  friend const at::Tensor& data_in(const SavedVariable& saved) {
    return saved.*Data;
  }
};
const at::Tensor& data_in(const SavedVariable& saved);
#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 13
template struct Reach<&SavedVariable::data_>;
#endif

template <typename Saved>
at::Tensor saved_by(const Saved& saved) {
  if constexpr (requires { saved.get_raw_data(); }) {
    return saved.get_raw_data().value_or(at::Tensor());
  } else {
    return data_in(saved);
  }
}

// --- let go ------------------------------------------------------------------

void note_release(const at::Tensor& tensor) {
  auto* block = block_at(memory_of(tensor));
  if (block == nullptr) {
    return;
  }
  const std::lock_guard<std::mutex> lock(saves_mutex);
  const auto found = saves().find(block);
  if (found == saves().end() || found->second.last.empty() ||
      found->second.last.front().use != block->use.load()) {
    return;
  }
  auto& waiting = found->second.waiting;
  waiting -= waiting > 0 ? 1 : 0;
  if (waiting == 0) { // an optimizer may write now, for all we know
    unwatch(*block);
  }
}

using Reset = void (*)(SavedVariable*);
std::atomic<Reset> original_reset = nullptr;

void reset(SavedVariable* self) {
  if (watching.load(std::memory_order_relaxed) && !busy) {
    const Busy here;
    note_release(saved_by(*self));
  }
  original_reset.load(std::memory_order_relaxed)(self);
}

// --- taken, by whom torch asks -----------------------------------------------

using Unpack = at::Tensor (*)(const SavedVariable*, HeldNode);
std::atomic<Unpack> original_unpack = nullptr;

at::Tensor unpack(const SavedVariable* self, HeldNode saved_for) {
  const auto original = original_unpack.load(std::memory_order_relaxed);
  if (!watching.load(std::memory_order_relaxed) || busy) {
    return original(self, std::move(saved_for));
  }
  at::Tensor tensor;
  try {
    tensor = original(self, std::move(saved_for));
  } catch (...) { // torch's own check of versions, which says the rest
    const Busy here;
    look_at(saved_by(*self), /*counted=*/true);
    throw;
  }
  const Busy here;
  look_at(tensor, /*counted=*/false);
  return tensor;
}

Interposition& constructor() {
  static Interposition found(
      "_ZN5torch8autograd13SavedVariableC1ERKN2at6TensorEbb");
  return found;
}

Interposition& resetting() {
  static Interposition found("_ZN5torch8autograd13SavedVariable10reset_dataEv");
  return found;
}

// What it is given is a std::shared_ptr up to torch 2.12.
Interposition& unpacking() {
  static Interposition found(
      std::is_same_v<HeldNode, std::shared_ptr<torch::autograd::Node>>
          ? "_ZNK5torch8autograd13SavedVariable6unpackESt10shared_ptrINS0_"
            "4NodeEE"
          : "_ZNK5torch8autograd13SavedVariable6unpackEN3c1013intrusive_ptr"
            "INS0_4NodeENS2_6detail34intrusive_target_default_null_typeIS4_"
            "EEEE");
  return found;
}

} // namespace

bool start_watching_saves(TakeOverwritten take) {
  static std::once_flag once;
  if (watching.load()) {
    return false;
  }
  std::call_once(once, [] {
    pthread_atfork(
        [] { saves_mutex.lock(); },
        [] { saves_mutex.unlock(); },
        [] { saves_mutex.unlock(); });
  });
  if (!constructor().possible() || !unpacking().possible()) {
    throw std::runtime_error("this torch's saved tensors cannot be observed");
  }
  allocate_in_blocks();
  acquire_chains();
  take_overwritten.store(take);
  constructor().lead(original_construct, Construct{&construct});
  unpacking().lead(original_unpack, Unpack{&unpack});
  if (resetting().possible()) {
    resetting().lead(original_reset, Reset{&reset});
  }
  watching.store(true);
  return true;
}

void stop_watching_saves() {
  watching.store(false);
  take_overwritten.store(nullptr);
  constructor().lead_to(nullptr);
  unpacking().lead_to(nullptr);
  resetting().lead_to(nullptr);
  release_chains();
}

SaveCounts count_saves() {
  return {watched_saves.load(), saves_elsewhere.load()};
}

} // namespace pyharness::engine
