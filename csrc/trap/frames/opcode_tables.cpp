// See opcode_tables.h.
#include <csrc/trap/frames/opcode_tables.h>

#include <csrc/trap/frames/frame_api.h>

#include <cstddef>

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

using pyharness::breakpoints::OpcodeTables;

constexpr int kOpcodes = OpcodeTables::kOpcodes;
constexpr int kFewestForms = 100; // opcodes that are no form of another
constexpr int kFewestFree = 8;

struct Part {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;

  [[nodiscard]] bool has(const void* address) const {
    return address >= begin && address < end;
  }
};

// The file of which the interpreter's loop is a part.
struct Image {
  static constexpr int kMost = 16;
  const void* loop = nullptr;
  Part code[kMost];
  int codes = 0;
  Part data[kMost]; // no page of it is code: whether it may be written or not
  int datas = 0;

  [[nodiscard]] bool is_code(const void* address) const {
    for (int index = 0; index < codes; ++index) {
      if (code[index].has(address)) {
        return true;
      }
    }
    return false;
  }
};

int look_at(dl_phdr_info* info, std::size_t, void* passed) {
  auto* image = static_cast<Image*>(passed);
  image->codes = image->datas = 0;
  for (int index = 0; index < info->dlpi_phnum; ++index) {
    const auto& header = info->dlpi_phdr[index];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_R) == 0) {
      continue;
    }
    const auto* begin =
        reinterpret_cast<const std::byte*>(info->dlpi_addr + header.p_vaddr);
    const Part part{begin, begin + header.p_memsz};
    if ((header.p_flags & PF_X) != 0 && image->codes < Image::kMost) {
      image->code[image->codes++] = part;
    } else if ((header.p_flags & PF_X) == 0 && image->datas < Image::kMost) {
      image->data[image->datas++] = part;
    }
  }
  return image->is_code(image->loop) ? 1 : 0;
}

bool are_forms(const std::uint8_t* forms) {
  constexpr int kPopTop = 1, kReturnValue = 83, kCall = 171;
  if (forms[0] != 0 || forms[kPopTop] != kPopTop ||
      forms[OpcodeTables::kResume] != OpcodeTables::kResume ||
      forms[kReturnValue] != kReturnValue || forms[kCall] != kCall ||
      forms[OpcodeTables::kTraced] != 0) {
    return false;
  }
  int bases = 0, unused = 0, resumes = 0;
  for (int opcode = 1; opcode < kOpcodes; ++opcode) {
    const int form = forms[opcode];
    if (form != 0 && forms[form] != form) {
      return false;
    }
    bases += form == opcode ? 1 : 0;
    unused += form == 0 ? 1 : 0;
    resumes += form == OpcodeTables::kResume ? 1 : 0;
  }
  constexpr int kResumeAndQuick = 2;
  return bases >= kFewestForms && unused > kFewestFree &&
      resumes == kResumeAndQuick;
}

// All that are free lead to one place, and no other does.
bool are_handlers(
    const void* const* handlers,
    const std::uint8_t* forms,
    const Image& image) {
  const void* unknown = handlers[OpcodeTables::kTraced - 1];
  for (int opcode = 1; opcode < kOpcodes; ++opcode) {
    const bool is_free = forms[opcode] == 0 && opcode != OpcodeTables::kTraced;
    if ((handlers[opcode] == unknown) != is_free ||
        !image.is_code(handlers[opcode])) {
      return false;
    }
  }
  return true;
}

// Calls `is_one(address)` in steps of `Each`: the only address that is one, or
// null.
template <typename Each, typename IsOne>
const Each* only(const Image& image, IsOne is_one) {
  const Each* found = nullptr;
  for (int index = 0; index < image.datas; ++index) {
    const auto* each = reinterpret_cast<const Each*>(image.data[index].begin);
    const auto* end = reinterpret_cast<const Each*>(image.data[index].end);
    for (; end - each >= kOpcodes; ++each) {
      if (is_one(each)) {
        if (found != nullptr) {
          return nullptr;
        }
        found = each;
      }
    }
  }
  return found;
}

bool make_writable(const void* begin, std::size_t size) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(begin) & ~(page - 1);
  const auto last = reinterpret_cast<std::uintptr_t>(begin) + size;
  return mprotect(
             reinterpret_cast<void*>(first),
             last - first,
             PROT_READ | PROT_WRITE) == 0;
}

bool find_opcodes(OpcodeTables& tables) {
  int found = 0;
  for (int opcode = 1; opcode < OpcodeTables::kTraced; ++opcode) {
    if (tables.forms[opcode] == 0 && found < 2) {
      tables.free[found++] = opcode;
    }
    if (opcode != OpcodeTables::kResume &&
        tables.forms[opcode] == OpcodeTables::kResume) {
      tables.resume_quick = opcode;
    }
  }
  const void* resume = tables.handlers[OpcodeTables::kResume];
  const void* quick = tables.handlers[tables.resume_quick];
  const void* traced = tables.handlers[OpcodeTables::kTraced];
  return resume != quick && resume != traced && quick != traced;
}

} // namespace

OpcodeTables pyharness::breakpoints::find_opcode_tables() {
  OpcodeTables tables;
  Image image;
  image.loop = reinterpret_cast<const void*>(&_PyEval_EvalFrameDefault);
  if (dl_iterate_phdr(look_at, &image) == 0) {
    return {};
  }
  const auto* forms = only<std::uint8_t>(image, are_forms);
  if (forms == nullptr) {
    return {};
  }
  const auto* handlers = only<const void*>(image, [&](const void* const* each) {
    return are_handlers(each, forms, image);
  });
  if (handlers == nullptr) {
    return {};
  }
  tables.forms = const_cast<std::uint8_t*>(forms);
  tables.handlers = const_cast<const void**>(handlers);
  constexpr std::size_t kSize = sizeof(void*) * kOpcodes;
  if (!find_opcodes(tables) || !make_writable(forms, kOpcodes) ||
      !make_writable(static_cast<const void*>(handlers), kSize)) {
    return {};
  }
  return tables;
}
