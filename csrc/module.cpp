// The Python module pyharness._C: every part binds itself.
#include <csrc/build_info.h>

#include <pybind11/pybind11.h>

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.doc() = "The example ops, and how they were built; use pyharness.ops.";
  m.attr("torch_version") = PYHARNESS_TORCH_VERSION; // compiled against
  pyharness::bind_build_info(m);
}
