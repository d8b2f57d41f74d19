// See sites.h.
#include <csrc/torch_headers.h>

#include <csrc/breakpoints/sites.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>

#include <elf.h>
#include <link.h>

namespace pyharness::breakpoints {

namespace {

constexpr const char* kSection = "pyharness_sites";
constexpr std::size_t kMostSections = 65'536;

// --- finding -----------------------------------------------------------------

template <typename T>
bool read_at(std::ifstream& file, std::uint64_t offset, T* to, std::size_t n) {
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(
      reinterpret_cast<char*>(to), static_cast<std::streamsize>(n * sizeof(T)));
  return file.good();
}

// The section's address and size in the file at `path`; (0, 0) without one.
std::pair<std::uint64_t, std::uint64_t> section_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header;
  if (!file || !read_at(file, 0, &header, 1) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_shentsize != sizeof(Elf64_Shdr) ||
      header.e_shstrndx >= header.e_shnum || header.e_shnum > kMostSections) {
    return {0, 0};
  }
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!read_at(file, header.e_shoff, sections.data(), sections.size())) {
    return {0, 0};
  }
  const std::uint64_t names = sections[header.e_shstrndx].sh_offset;
  for (const auto& each : sections) {
    char name[sizeof("pyharness_sites")] = {};
    if (each.sh_type == SHT_PROGBITS && (each.sh_flags & SHF_ALLOC) != 0 &&
        read_at(file, names + each.sh_name, name, sizeof name) &&
        std::memcmp(name, kSection, sizeof name) == 0) {
      return {each.sh_addr, each.sh_size};
    }
    file.clear();
  }
  return {0, 0};
}

// A file that was replaced since it was loaded may say anything.
bool is_mapped(const dl_phdr_info& library, std::uint64_t at, std::uint64_t n) {
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    const auto& segment = library.dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0 &&
        at >= segment.p_vaddr && at + n <= segment.p_vaddr + segment.p_memsz) {
      return true;
    }
  }
  return false;
}

int collect(dl_phdr_info* library, std::size_t /*size*/, void* to) {
  const char* path = library->dlpi_name;
  const bool main = path == nullptr || *path == '\0';
  const auto [at, size] = section_of(main ? "/proc/self/exe" : path);
  if (size == 0 || size % sizeof(Site) != 0 || !is_mapped(*library, at, size)) {
    return 0;
  }
  auto* sites = reinterpret_cast<Site*>(library->dlpi_addr + at);
  for (std::size_t i = 0; i < size / sizeof(Site); ++i) {
    if (sites[i].layout == breakpoint::kLayout) {
      static_cast<std::vector<Site*>*>(to)->push_back(&sites[i]);
    }
  }
  return 0;
}

// --- arming ------------------------------------------------------------------

// The breakpoints at one place: never changed, another takes its place, and
// never destroyed, as a thread may be reading it.
struct Armed {
  explicit Armed(std::vector<Breakpoint*> those)
      : breakpoints(std::move(those)) {
    if (breakpoints.size() == 1) {
      const auto& condition = breakpoints.front()->condition;
      only = condition ? &*condition : nullptr;
    }
  }

  std::vector<Breakpoint*> breakpoints;
  const Condition* only = nullptr; // of a place with one breakpoint
};

std::mutex sites_mutex; // of what follows
std::vector<std::unique_ptr<const Armed>>& all_armed() {
  static auto* made = new std::vector<std::unique_ptr<const Armed>>();
  return *made;
}
std::map<Site*, std::vector<Breakpoint*>>& armed_sites() {
  static auto* sites = new std::map<Site*, std::vector<Breakpoint*>>();
  return *sites;
}

[[gnu::noinline]] void check_each(
    const Armed& armed,
    const Site* site,
    const double* values,
    std::uint64_t count) {
  for (Breakpoint* each : armed.breakpoints) {
    const auto& condition = each->condition;
    if (condition &&
        (condition->variables() > static_cast<int>(count) ||
         !condition->holds({{}, {}, values}))) {
      continue;
    }
    if (Busy::here()) {
      return;
    }
    each->meet(
        {Kind::kSite,
         site->name,
         "",
         /*before=*/true,
         {{}, {}, values},
         count,
         site},
        0);
  }
}

// What an armed place calls. Most checks end in the first comparison: they need
// no frame of their own, everything else is called.
void check(const Site* site, const double* values, std::uint64_t count) {
  const auto* armed = static_cast<const Armed*>(
      __atomic_load_n(&site->armed, __ATOMIC_ACQUIRE));
  if (armed == nullptr ||
      (armed->only != nullptr &&
       (armed->only->variables() > static_cast<int>(count) ||
        armed->only->fails_at_once(values)))) {
    return;
  }
  check_each(*armed, site, values, count);
}

void put(Site& site, const std::vector<Breakpoint*>& breakpoints) {
  auto next = std::make_unique<Armed>(breakpoints);
  if (breakpoints.empty()) { // a thread that is past its test finds the old one
    __atomic_store_n(&site.check, nullptr, __ATOMIC_RELEASE);
    return;
  }
  __atomic_store_n(
      &site.armed, const_cast<Armed*>(next.get()), __ATOMIC_RELEASE);
  __atomic_store_n(&site.check, &check, __ATOMIC_RELEASE);
  all_armed().push_back(std::move(next));
}

} // namespace

std::vector<Site*> all_sites() {
  std::vector<Site*> found;
  dl_iterate_phdr(&collect, &found);
  return found;
}

void arm(Site& site, Breakpoint& breakpoint) {
  const std::lock_guard<std::mutex> lock(sites_mutex);
  auto& there = armed_sites()[&site];
  there.push_back(&breakpoint);
  put(site, there);
}

void disarm(Breakpoint& breakpoint) {
  const std::lock_guard<std::mutex> lock(sites_mutex);
  breakpoint.removed.store(true);
  for (auto& [site, there] : armed_sites()) {
    const auto end = std::remove(there.begin(), there.end(), &breakpoint);
    if (end != there.end()) {
      there.erase(end, there.end());
      put(*site, there);
    }
  }
}

} // namespace pyharness::breakpoints
