// See interpose.h; the layout is that of the ELF specification, "Dynamic
// Section" and "Relocation".
#include <csrc/engine/interpose.h>

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace pyharness::engine {

namespace {

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  bool has(std::uintptr_t address) const {
    return begin <= address && address < end;
  }
};

// One loaded library, as its dynamic section describes it.
class Object {
 public:
  explicit Object(const dl_phdr_info& info) : base_(info.dlpi_addr) {
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const auto& segment = info.dlpi_phdr[i];
      const auto start = base_ + segment.p_vaddr;
      if (segment.p_type == PT_DYNAMIC) {
        read(reinterpret_cast<const ElfW(Dyn)*>(start));
      } else if (segment.p_type == PT_GNU_RELRO) {
        read_only_ = {start, start + segment.p_memsz};
      } else if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
        code_ = {start, start + segment.p_memsz};
      }
    }
  }

  bool is_ours() const {
    return code_.has(reinterpret_cast<std::uintptr_t>(&dl_iterate_phdr_anchor));
  }

  // Calls `found(slot, read_only)` for each slot of the symbol.
  template <typename Found>
  void slots(const char* symbol, Found found) const {
    if (relocations_ == nullptr || symbols_ == nullptr || names_ == nullptr) {
      return;
    }
    for (std::size_t i = 0; i < count_; ++i) {
      const auto& each = relocations_[i];
      const char* name = names_ + symbols_[ELF64_R_SYM(each.r_info)].st_name;
      if (std::strcmp(name, symbol) == 0) {
        const auto slot = base_ + each.r_offset;
        found(
            reinterpret_cast<std::atomic<void*>*>(slot), read_only_.has(slot));
      }
    }
  }

 private:
  static void dl_iterate_phdr_anchor() {}

  void read(const ElfW(Dyn) * entry) {
    for (; entry->d_tag != DT_NULL; ++entry) {
      const auto pointer = entry->d_un.d_ptr;
      switch (entry->d_tag) {
        case DT_JMPREL:
          relocations_ = reinterpret_cast<const ElfW(Rela)*>(pointer);
          break;
        case DT_PLTRELSZ:
          count_ = entry->d_un.d_val / sizeof(ElfW(Rela));
          break;
        case DT_SYMTAB:
          symbols_ = reinterpret_cast<const ElfW(Sym)*>(pointer);
          break;
        case DT_STRTAB:
          names_ = reinterpret_cast<const char*>(pointer);
          break;
        default:
          break;
      }
    }
  }

  std::uintptr_t base_;
  Range read_only_;
  Range code_;
  const ElfW(Rela) * relocations_ = nullptr;
  std::size_t count_ = 0;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* names_ = nullptr;
};

void protect(std::atomic<void*>* slot, int protection) {
  const auto size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto page = reinterpret_cast<std::uintptr_t>(slot) & ~(size - 1);
  mprotect(reinterpret_cast<void*>(page), size, protection);
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
        const Object object(*info);
        // The kernel's own object keeps addresses that are not relocated.
        if (info->dlpi_addr != 0 && info->dlpi_name[0] != '\0' &&
            std::strstr(info->dlpi_name, "vdso") == nullptr &&
            !object.is_ours()) {
          object.slots(
              wanted.symbol, [&](std::atomic<void*>* slot, bool read_only) {
                wanted.slots->push_back({slot, read_only});
              });
        }
        return 0;
      },
      &search);
}

void Interposition::lead_to(void* replacement) {
  void* target = replacement != nullptr ? replacement : original_;
  for (const auto& slot : slots_) {
    if (slot.read_only) {
      protect(slot.address, PROT_READ | PROT_WRITE);
    }
    slot.address->store(target, std::memory_order_release);
    if (slot.read_only) {
      protect(slot.address, PROT_READ);
    }
  }
}

} // namespace pyharness::engine
