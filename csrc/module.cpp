// The Python module pyharness._C: every part binds itself.
#include <csrc/build_info.h>

#include <pybind11/pybind11.h>

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.doc() =
      "Native half of pyharness; use the typed wrappers in pyharness.native.";
  pyharness::bind_build_info(m);
}
