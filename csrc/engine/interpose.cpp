#include <csrc/engine/interpose.h>

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstring>

namespace pyharness::engine {

namespace {

void anchor() {} // lies in this library

// Appends each slot of calls to the symbol.
void find(
    const LoadedLibrary& library,
    const char* symbol,
    std::vector<Slot>& slots) {
  for (const auto& call : library.calls()) {
    const auto number = static_cast<std::uint32_t>(ELF64_R_SYM(call.r_info));
    if (std::strcmp(library.name(number), symbol) == 0) {
      slots.push_back(library.slot(call));
    }
  }
}

} // namespace

Interposition::Interposition(const char* symbol)
    : original_(dlsym(RTLD_DEFAULT, symbol)) {
  struct Search {
    const char* symbol;
    std::vector<Slot>* slots;
  } search{symbol, &slots_};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        const auto& wanted = *static_cast<Search*>(data);
        const LoadedLibrary library(*info);
        if (library.is_readable() &&
            !library.has_code_at(reinterpret_cast<const void*>(&anchor))) {
          find(library, wanted.symbol, *wanted.slots);
        }
        return 0;
      },
      &search);
}

void Interposition::lead_to(void* replacement) {
  void* target = replacement != nullptr ? replacement : original_;
  for (const auto& slot : slots_) {
    slot.lead_to(target);
  }
}

} // namespace pyharness::engine
