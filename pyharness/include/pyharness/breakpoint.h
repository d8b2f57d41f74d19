// Places in a kernel of yours where pyharness can stop, by a condition that is
// tested right there:
//
//     #include <pyharness/breakpoint.h>
//     ...
//     for (int64_t i = 0; i < n; ++i) {
//       PYHARNESS_BREAKPOINT("scan.step", i, x[i]);
//
// and in Python: pyharness.native.breakpoint(site="scan.step", when="i == 3").
// The compiler finds the header by -I with the folder that this prints:
//
//     python -c "import pyharness.native as n; print(n.include_dir())"
//
// The header needs nothing: no torch, no library to link. A place that is not
// armed costs about a nanosecond (one load and one jump).
//
// The name is a string literal; up to 16 variables follow, numbers of any type,
// each a name of its own or any expression (which a condition calls v0, v1, ...
// by its place). Define PYHARNESS_NO_BREAKPOINTS to compile all places away.
#pragma once

#include <cstdint>

namespace pyharness::breakpoint {

// One place. It lies in a section of its own, pyharness_sites, where the
// debugger finds it without a symbol. Written by the macro in assembler: a
// variable in a named section could be in no template and no inline function.
struct Site {
  using Check =
      void (*)(const Site* site, const double* values, std::uint64_t count);
  Check check; // null while nothing is armed here
  void* armed; // whoever armed it
  const char* name;
  const char* file;
  const char* variables; // as they are written, with commas
  std::int32_t line;
  std::int32_t layout; // kLayout
};

constexpr std::int32_t kLayout = 1;

static_assert(sizeof(Site) == 48, "the macro below writes this layout");

struct Hit {
  Hit(Site::Check check, const Site* site) : check(check), site(site) {}

  Site::Check check;
  const Site* site;

  template <typename... Variables>
  [[gnu::noinline]] void operator()(Variables... variables) const {
    const double values[] = {static_cast<double>(variables)..., 0.0};
    check(site, values, sizeof...(variables));
  }
};

} // namespace pyharness::breakpoint

#if defined(__x86_64__) && defined(__ELF__) && \
    !defined(PYHARNESS_NO_BREAKPOINTS)

#define PYHARNESS_BREAKPOINT(site_name, ...)                       \
  do {                                                             \
    const ::pyharness::breakpoint::Site* pyharness_site;           \
    asm volatile(                                                  \
        ".pushsection pyharness_sites,\"aw\",@progbits\n\t"        \
        ".balign 8\n"                                              \
        "990:\n\t"                                                 \
        ".quad 0, 0, %c1, %c2, %c3\n\t"                            \
        ".long %c4, %c5\n\t"                                       \
        ".popsection\n\t"                                          \
        "lea 990b(%%rip), %0"                                      \
        : "=r"(pyharness_site)                                     \
        : "i"(site_name),                                          \
          "i"(__FILE__),                                           \
          "i"(#__VA_ARGS__),                                       \
          "i"(__LINE__),                                           \
          "i"(::pyharness::breakpoint::kLayout));                  \
    const auto pyharness_check =                                   \
        __atomic_load_n(&pyharness_site->check, __ATOMIC_ACQUIRE); \
    if (__builtin_expect(pyharness_check != nullptr, 0)) {         \
      const ::pyharness::breakpoint::Hit pyharness_hit(            \
          pyharness_check, pyharness_site);                        \
      pyharness_hit(__VA_ARGS__);                                  \
    }                                                              \
  } while (false)

#else

#define PYHARNESS_BREAKPOINT(site_name, ...) \
  do {                                       \
  } while (false)

#endif
