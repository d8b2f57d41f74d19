// How this module was built, told to Python.
#include <csrc/build_info.h>

#include <c10/util/Exception.h>

#include <cassert>

namespace pyharness {
namespace {

// Asserts are seen at work, not inferred from a macro: an injected -DNDEBUG
// would otherwise go unnoticed.
bool torch_debug_asserts() {
  try {
    TORCH_INTERNAL_ASSERT_DEBUG_ONLY(false, "probe");
  } catch (const c10::Error&) {
    return true;
  }
  return false;
}

bool c_asserts() {
  [[maybe_unused]] bool evaluated = false;
  assert((evaluated = true)); // NOLINT(bugprone-assert-side-effect)
  return evaluated;
}

bool optimized() {
#ifdef __OPTIMIZE__
  return true;
#else
  return false;
#endif
}

bool openmp() {
#ifdef _OPENMP
  return true;
#else
  return false;
#endif
}

pybind11::dict build_info() {
  pybind11::dict info;
  info["build_type"] = PYHARNESS_BUILD_TYPE;
  info["asserts"] = c_asserts();
  info["torch_debug_asserts"] = torch_debug_asserts();
  info["optimized"] = optimized();
  info["openmp"] = openmp();
#ifdef __clang__
  info["compiler"] = "clang " __clang_version__;
#else
  info["compiler"] = "gcc " __VERSION__;
#endif
  info["torch_version"] = PYHARNESS_TORCH_VERSION;
  return info;
}

} // namespace

void bind_build_info(pybind11::module_& m) {
  m.def("build_info", &build_info, "How this module was built, as a dict.");
}

} // namespace pyharness
