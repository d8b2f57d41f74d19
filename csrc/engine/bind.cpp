// The Python module pyharness._engine: every part binds itself.
#include <csrc/engine/bind.h>

// Read from the file before it is loaded (pyharness/engine/shelf.py): beside
// another torch it would not load, or misread memory.
extern "C" __attribute__((used)) const char pyharness_engine_torch[] =
    "pyharness engine for torch " PYHARNESS_TORCH_VERSION;

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.doc() =
      "Watches the autograd engine; use the typed wrappers in pyharness.native.";
  m.attr("torch_version") = PYHARNESS_TORCH_VERSION; // compiled against
  pyharness::engine::bind_breakpoints(m);
  pyharness::engine::bind_chains(m);
  pyharness::engine::bind_kernels(m);
  pyharness::engine::bind_nan(m);
  pyharness::engine::bind_nodes(m);
  pyharness::engine::bind_recorder(m);
  pyharness::engine::bind_saved(m);
  pyharness::engine::bind_values(m);
}
