// The slots in which a loaded library keeps the addresses of functions that
// others define, and of its own exported ones: to lead its calls elsewhere, as
// memray does for malloc. The layout is that of the ELF specification, "Dynamic
// Section" and "Relocation". For modules with torch and without.
#pragma once

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pyharness {

struct Slot {
  std::atomic<void*>* address;
  bool read_only; // relocated once and protected (RELRO)

  void lead_to(void* function) const {
    if (read_only) {
      protect(PROT_READ | PROT_WRITE);
    }
    address->store(function, std::memory_order_release);
    if (read_only) {
      protect(PROT_READ);
    }
  }

 private:
  void protect(int protection) const {
    const auto size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto page = reinterpret_cast<std::uintptr_t>(address) & ~(size - 1);
    mprotect(reinterpret_cast<void*>(page), size, protection);
  }
};

struct Relocations {
  const ElfW(Rela) * first = nullptr;
  std::size_t count = 0;

  const ElfW(Rela) * begin() const {
    return first;
  }
  const ElfW(Rela) * end() const {
    return first + count;
  }
};

class LoadedLibrary {
 public:
  explicit LoadedLibrary(const dl_phdr_info& info) : base_(info.dlpi_addr) {
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

  // False for the kernel's own, which keeps addresses that nobody has moved.
  bool is_readable() const {
    return symbols_ != nullptr && names_ != nullptr &&
        reinterpret_cast<std::uintptr_t>(symbols_) >= base_;
  }

  bool has_code_at(const void* address) const {
    return code_.has(reinterpret_cast<std::uintptr_t>(address));
  }

  // Of calls through the PLT.
  Relocations calls() const {
    return calls_;
  }

  // Of calls and addresses without it (-fno-plt).
  Relocations others() const {
    return {others_.first + relative_, others_.count - relative_};
  }

  const char* name(std::uint32_t symbol) const {
    return names_ + symbols_[symbol].st_name;
  }

  // The symbols that others define come first, then those with a hash.
  std::uint32_t count_undefined() const {
    return hashes_ == nullptr ? 0 : hashes_[1];
  }

  bool is_undefined(std::uint32_t symbol) const {
    return symbols_[symbol].st_shndx == SHN_UNDEF;
  }

  Slot slot(const ElfW(Rela) & relocation) const {
    const auto address = base_ + relocation.r_offset;
    return {
        reinterpret_cast<std::atomic<void*>*>(address),
        read_only_.has(address)};
  }

 private:
  struct Range {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;

    bool has(std::uintptr_t address) const {
      return begin <= address && address < end;
    }
  };

  void read(const ElfW(Dyn) * entry) {
    for (; entry->d_tag != DT_NULL; ++entry) {
      const auto value = entry->d_un.d_val;
      switch (entry->d_tag) {
        case DT_SYMTAB:
          symbols_ = reinterpret_cast<const ElfW(Sym)*>(value);
          break;
        case DT_STRTAB:
          names_ = reinterpret_cast<const char*>(value);
          break;
        case DT_GNU_HASH:
          hashes_ = reinterpret_cast<const std::uint32_t*>(value);
          break;
        case DT_JMPREL:
          calls_.first = reinterpret_cast<const ElfW(Rela)*>(value);
          break;
        case DT_PLTRELSZ:
          calls_.count = value / sizeof(ElfW(Rela));
          break;
        case DT_RELA:
          others_.first = reinterpret_cast<const ElfW(Rela)*>(value);
          break;
        case DT_RELASZ:
          others_.count = value / sizeof(ElfW(Rela));
          break;
        case DT_RELACOUNT: // they come first, and have no symbol
          relative_ = value;
          break;
        default:
          break;
      }
    }
  }

  std::uintptr_t base_;
  Range read_only_;
  Range code_;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* names_ = nullptr;
  const std::uint32_t* hashes_ = nullptr;
  Relocations calls_;
  Relocations others_;
  std::size_t relative_ = 0;
};

} // namespace pyharness
