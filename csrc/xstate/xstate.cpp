// Has a gdb before 14 write registers where the processor has more than it
// knows of.
//
// Of the extended state (vector registers and what came after) such a gdb
// reads and writes 2,696 bytes. Linux writes all of it or nothing (EFAULT), and
// with AMX, as server processors have it from 2023 on, all of it is 11,008
// bytes. So gdb puts no registers back after a call: "Couldn't write extended
// state status: Bad address". gdb's Python (ingdb/process/extended_state.py)
// loads this library into gdb and has gdb's calls of ptrace come here, by the
// slot in which gdb keeps its address. What gdb does not know stays as it is.
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

constexpr std::size_t kMostBytes = 65536;

using Ptrace = long (*)(int, pid_t, void*, void*);
Ptrace gdbs_ptrace = nullptr;

bool writes_extended_state(int request, const void* set) {
  return request == PTRACE_SETREGSET &&
      reinterpret_cast<std::uintptr_t>(set) == NT_X86_XSTATE;
}

// The whole state as it is now, with what gdb knows of it as gdb wants it.
long write_whole(pid_t thread, void* set, const iovec& wanted) {
  alignas(64) static thread_local unsigned char state[kMostBytes];
  iovec whole{state, sizeof state};
  if (gdbs_ptrace(PTRACE_GETREGSET, thread, set, &whole) != 0) {
    return -1;
  }
  if (whole.iov_len <= wanted.iov_len) {
    errno = EFAULT; // there was another reason
    return -1;
  }
  std::memcpy(state, wanted.iov_base, wanted.iov_len);
  return gdbs_ptrace(PTRACE_SETREGSET, thread, set, &whole);
}

long whole_ptrace(int request, pid_t thread, void* address, void* data) {
  const long result = gdbs_ptrace(request, thread, address, data);
  if (result == -1 && errno == EFAULT &&
      writes_extended_state(request, address)) {
    return write_whole(thread, address, *static_cast<const iovec*>(data));
  }
  return result;
}

// The slot of gdb's own calls of ptrace, and whether it may be written.
struct Slot {
  void** address = nullptr;
  bool read_only = false;
};

template <typename T>
const T* dynamic_entry(const dl_phdr_info& program, ElfW(Sxword) wanted) {
  for (int i = 0; i < program.dlpi_phnum; ++i) {
    const auto& segment = program.dlpi_phdr[i];
    if (segment.p_type != PT_DYNAMIC) {
      continue;
    }
    const auto start = program.dlpi_addr + segment.p_vaddr;
    for (auto* entry = reinterpret_cast<const ElfW(Dyn)*>(start);
         entry->d_tag != DT_NULL;
         ++entry) {
      if (entry->d_tag == wanted) {
        return reinterpret_cast<const T*>(entry->d_un.d_ptr);
      }
    }
  }
  return nullptr;
}

bool is_read_only(const dl_phdr_info& program, std::uintptr_t address) {
  for (int i = 0; i < program.dlpi_phnum; ++i) {
    const auto& segment = program.dlpi_phdr[i];
    const auto start = program.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_GNU_RELRO && address >= start &&
        address < start + segment.p_memsz) {
      return true;
    }
  }
  return false;
}

// The loader names the program itself first.
int find_slot(dl_phdr_info* program, std::size_t, void* data) {
  const auto* relocations = dynamic_entry<ElfW(Rela)>(*program, DT_JMPREL);
  const auto* symbols = dynamic_entry<ElfW(Sym)>(*program, DT_SYMTAB);
  const auto* names = dynamic_entry<char>(*program, DT_STRTAB);
  const auto bytes = reinterpret_cast<std::uintptr_t>(
      dynamic_entry<void>(*program, DT_PLTRELSZ));
  if (relocations == nullptr || symbols == nullptr || names == nullptr) {
    return 1;
  }
  for (std::size_t i = 0; i < bytes / sizeof(ElfW(Rela)); ++i) {
    const auto& symbol = symbols[ELF64_R_SYM(relocations[i].r_info)];
    if (std::strcmp(names + symbol.st_name, "ptrace") == 0) {
      const auto address = program->dlpi_addr + relocations[i].r_offset;
      *static_cast<Slot*>(data) = {
          reinterpret_cast<void**>(address), is_read_only(*program, address)};
      break;
    }
  }
  return 1; // only the first object
}

bool set_protection(void** slot, int protection) {
  const auto size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto page = reinterpret_cast<std::uintptr_t>(slot) & ~(size - 1);
  return mprotect(reinterpret_cast<void*>(page), size, protection) == 0;
}

} // namespace

// Whether the program's calls of ptrace write the whole state from now on.
extern "C" __attribute__((visibility("default"))) int
pyharness_write_whole_xstate() {
  if (gdbs_ptrace != nullptr) {
    return 1;
  }
  Slot slot;
  dl_iterate_phdr(find_slot, &slot);
  if (slot.address == nullptr) {
    return 0;
  }
  if (slot.read_only && !set_protection(slot.address, PROT_READ | PROT_WRITE)) {
    return 0;
  }
  gdbs_ptrace = reinterpret_cast<Ptrace>(&ptrace);
  *slot.address = reinterpret_cast<void*>(&whole_ptrace);
  if (slot.read_only) {
    set_protection(slot.address, PROT_READ);
  }
  return 1;
}
