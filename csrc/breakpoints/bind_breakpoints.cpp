// Native breakpoints for Python: pyharness/native/breakpoint.py is the door.
#include <csrc/torch_headers.h>

#include <csrc/breakpoints/active.h>
#include <csrc/breakpoints/sites.h>
#include <csrc/engine/bind.h>
#include <csrc/engine/provenance/provenance.h>

#include <pybind11/stl.h>

#include <stdexcept>

namespace py = pybind11;

namespace pyharness::breakpoints {

namespace {

std::optional<Condition> condition_of(
    const std::optional<std::vector<InstructionText>>& code) {
  return code ? std::make_optional<Condition>(*code) : std::nullopt;
}

PyObject* kept(const py::object& callable) {
  return callable.is_none() ? nullptr : callable.inc_ref().ptr();
}

// Leaves the reference: a breakpoint lives as long as the process.
Breakpoint& make(
    bool is_node,
    const std::string& pattern,
    const std::string& within,
    const std::optional<std::vector<InstructionText>>& code,
    bool after,
    std::int64_t nth,
    const py::object& in_module,
    const py::object& on_hit) {
  auto made = std::make_unique<Breakpoint>();
  made->kind = is_node ? Kind::kNode : Kind::kOp;
  made->pattern = pattern;
  made->within = within;
  made->condition = condition_of(code);
  if (made->condition && made->condition->variables() != 0) {
    throw std::invalid_argument("an op has no variables");
  }
  made->after = after;
  made->nth = nth;
  made->in_module = kept(in_module);
  made->on_hit = kept(on_hit);
  if (made->in_module != nullptr) {
    engine::acquire_chains();
  }
  add(*made);
  return *made.release();
}

// At every place of this name; Python has found that there is one.
Breakpoint& make_at_sites(
    const std::string& name,
    const std::optional<std::vector<InstructionText>>& code,
    std::int64_t nth,
    const py::object& on_hit) {
  auto made = std::make_unique<Breakpoint>();
  made->kind = Kind::kSite;
  made->condition = condition_of(code);
  made->nth = nth;
  made->on_hit = kept(on_hit);
  Breakpoint& breakpoint = *made.release();
  for (Site* site : all_sites()) {
    if (site->name == name) {
      arm(*site, breakpoint);
    }
  }
  return breakpoint;
}

// Name, file, line, and the variables as they are written.
using Place = std::tuple<std::string, std::string, int, std::string>;

std::vector<Place> places() {
  std::vector<Place> found;
  for (const Site* site : all_sites()) {
    found.emplace_back(site->name, site->file, site->line, site->variables);
  }
  return found;
}

void take_away(Breakpoint& breakpoint) {
  if (breakpoint.removed.load()) {
    return;
  }
  if (breakpoint.kind == Kind::kSite) {
    disarm(breakpoint);
    return;
  }
  remove(breakpoint);
  if (breakpoint.in_module != nullptr) {
    engine::release_chains();
  }
}

} // namespace
} // namespace pyharness::breakpoints

void pyharness::engine::bind_breakpoints(py::module_& m) {
  using breakpoints::Breakpoint;
  py::class_<Breakpoint, std::unique_ptr<Breakpoint, py::nodelete>>(
      m, "Breakpoint")
      .def_property_readonly(
          "hits", [](const Breakpoint& self) { return self.hits.load(); })
      .def_property_readonly(
          "seen", [](const Breakpoint& self) { return self.seen.load(); })
      .def("remove", &breakpoints::take_away);
  m.def(
      "add_breakpoint",
      &breakpoints::make,
      py::return_value_policy::reference,
      py::arg("is_node"),
      py::arg("pattern"),
      py::arg("within"),
      py::arg("condition"),
      py::arg("after"),
      py::arg("nth"),
      py::arg("in_module"),
      py::arg("on_hit"));
  m.def(
      "add_site_breakpoint",
      &breakpoints::make_at_sites,
      py::return_value_policy::reference,
      py::arg("name"),
      py::arg("condition"),
      py::arg("nth"),
      py::arg("on_hit"));
  m.def("sites", &breakpoints::places);
  m.def("set_trap", [](std::uintptr_t address) {
    breakpoints::set_trap(reinterpret_cast<breakpoints::Trap>(address));
  });
}
