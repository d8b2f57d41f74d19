"""Whether a kernel's map is right, by value: what each mapped variable holds is that node's eager element.

A copy of each kernel writes down every mapped variable, element by element, while the compiled program runs; the graph
runs beside it eagerly, node by node, with the same inputs.
"""

import copy
import os
import re
from collections import Counter, defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import torch
from torch._inductor import async_compile
from torch._inductor.graph import GraphLowering

import pyharness.fx.inductor
from pyharness.model.kernel_map import digest_of

VALUE_LINE = re.compile(
    r"\s*(auto tmp\w* =|.*tmp_acc\w* =|.*\.store\((?!tmpbuf)|(in_)?out_ptr\w*\[.*\] [+]?=|atomic_add"
    r"|.*transpose_mxn<|.*cascade_sum_final|.*welford_combine)"
)
"""Lines of a kernel that compute, load, store or reduce."""
_DECLARED = re.compile(r"\s*auto \w+ =")
_LOG = r"""
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <mutex>
#include <type_traits>
namespace oracle {
static std::mutex lock;
static std::FILE* file() {
  static std::FILE* opened = std::fopen(std::getenv("KERNEL_ORACLE"), "a");
  return opened;
}
template <typename T> double number(T value) { return static_cast<double>(value); }
template <typename T> double lane(const T& value, int) { return number(value); }
template <typename T> double lane(const at::vec::Vectorized<T>& value, int i) {
  T stored[at::vec::Vectorized<T>::size()];
  value.store(stored);
  return number(stored[i]);
}
template <typename T, int N> double lane(const at::vec::VectorizedN<T, N>& value, int i) {
  T stored[at::vec::VectorizedN<T, N>::size()];
  value.store(stored);
  return number(stored[i]);
}
template <typename T, int N> double lane(const at::vec::VecMask<T, N>& value, int i) { return value.is_masked(i); }
static void begin(const char* kernel) {
  std::lock_guard<std::mutex> held(lock);
  std::fprintf(file(), "begin %s\n", kernel);
  std::fflush(file());
}
template <typename T, typename M>
void row(const char* kernel, int line, std::initializer_list<double> at, int lanes, const T& value, const M& mask) {
  std::lock_guard<std::mutex> held(lock);
  std::fprintf(file(), "%s %d %d", kernel, line, static_cast<int>(at.size()));
  for (double each : at) std::fprintf(file(), " %.17g", each);
  for (int i = 0; i < lanes; i++) std::fprintf(file(), lane(mask, i) ? " %.17g" : " masked", lane(value, i));
  std::fprintf(file(), "\n");
  std::fflush(file());
}
}
"""
_ANEW = {"fx_graph_cache": False, "compile_threads": 1}
"""Generate the code anew, and compile it in this process."""
_ALL, _THEN = 500, 97
"""Elements of a variable that are written down: so many, and then each of so many."""
_NAME = re.compile(r"\b(?:x\d+\w*|tmp\d+|ks\d+)\b")
"""What an element is counted by."""


@dataclass
class Verdict:
    """What was found in all graphs."""

    lines: Counter = field(default_factory=Counter)
    """Value lines by whether they are ``mapped`` or ``unmapped``."""
    unmapped: list[str] = field(default_factory=list)
    checked: set = field(default_factory=set)
    """Variables that were compared: (kernel, line)."""
    numbers: int = 0
    wrong: list[str] = field(default_factory=list)
    kernels: list = field(default_factory=list)
    """Their maps."""

    @property
    def coverage(self):
        return self.lines["mapped"] / max(1, sum(self.lines.values()))

    def __str__(self):
        total = sum(self.lines.values())
        text = f"{self.lines['mapped']} of {total} lines mapped ({self.coverage:.1%}), {len(self.checked)} variables, "
        return text + f"{self.numbers} numbers compared, {len(self.wrong)} wrong"


@contextmanager
def watched(folder, rtol=1e-4, atol=1e-5, change=lambda kernel: kernel):
    """Compare what compiles and runs meanwhile; gives a ``Verdict`` that is complete at the end.

    ``change`` makes another map of each, to see that it is found out.
    """
    oracle = _Oracle(folder, rtol, atol, change)
    with oracle.installed():
        yield oracle.verdict


_FOLLOWED = []
"""Who is told of maps: torch's parts are wrapped once in a process."""


def _follow(made):
    if not _FOLLOWED:
        pyharness.fx.inductor.follow(_made, lambda _: None, _lost)
        _FOLLOWED.append(None)
    _FOLLOWED.append(made)


def _made(wrapper, maps):
    for each in _FOLLOWED[1:]:
        each(wrapper, maps)


def _lost(why):
    raise AssertionError(why)


class _Oracle:
    def __init__(self, folder, rtol, atol, change):
        self.change = change
        self.verdict = Verdict()
        self.log = folder / "oracle.log"
        self.rtol, self.atol = rtol, atol
        self.kernels = {}

    @contextmanager
    def installed(self):
        _follow(self.made)
        cls, lowering = async_compile.AsyncCompile, GraphLowering
        originals = cls.cpp_pybinding, lowering.__init__, lowering._compile_to_module_lines
        oracle = self

        def cpp_pybinding(this, argtypes, source):
            return originals[0](this, argtypes, oracle.instrumented(source))

        def make(this, gm, *args, **named):
            this.oracle_copy = copy.deepcopy(gm) if isinstance(gm, torch.fx.GraphModule) else None
            originals[1](this, gm, *args, **named)

        def compile_lines(this, code):
            module = originals[2](this, code)
            module.call = oracle.calling(module.call, this.oracle_copy)
            return module

        os.environ["KERNEL_ORACLE"] = str(self.log)
        cls.cpp_pybinding, lowering.__init__, lowering._compile_to_module_lines = cpp_pybinding, make, compile_lines
        try:
            with torch._inductor.config.patch(_ANEW):
                yield
        finally:
            _FOLLOWED.remove(self.made)
            cls.cpp_pybinding, lowering.__init__, lowering._compile_to_module_lines = originals

    def made(self, _wrapper, maps):
        for kernel in maps.kernels:
            self.kernels[kernel.digest] = self.change(kernel)
            self.verdict.kernels.append(kernel)

    def instrumented(self, source):
        digest = digest_of(source)
        kernel = self.kernels[digest]
        lines = source.split("\n")
        self._cover(kernel, lines)
        out = []
        by_line = {row.line: row for row in kernel.uses[0].lines}
        after, begun = None, False
        for number, text in enumerate(lines, 1):
            out.append(text)
            if text.startswith("#include"):
                out.append(_LOG)
            if text == "{" and not begun:
                begun = True
                out.append(f'    oracle::begin("{digest[:12]}");')
            row = by_line.get(number)
            if row and row.variable and _DECLARED.match(text) and (row.holds or row.reads):
                after = row
            if after and text.rstrip().endswith(";") and _indent(text) <= _indent(lines[after.line - 1]):
                out.append(_row(digest, after))
                after = None
        return "\n".join(out)

    def _cover(self, kernel, lines):
        for use in kernel.uses:
            mapped = {row.line for row in use.lines}
            for number, text in enumerate(lines, 1):
                if VALUE_LINE.match(text):
                    self.verdict.lines["mapped" if number in mapped else "unmapped"] += 1
                    if number not in mapped:
                        self.verdict.unmapped.append(f"{kernel.name}:{number} {text.strip()[:120]}")

    def calling(self, call, graph):
        def recording(args):
            values = _values(graph, args), _values(graph, args, wide=True)
            self.log.write_text("")
            results = call(args)
            self.compare(*values)
            return results

        return recording

    def compare(self, values, wide):
        begun = Counter()
        rows = defaultdict(list)
        for text in self.log.read_text().splitlines():
            kernel, *rest = text.split()
            if kernel == "begin":
                begun[rest[0]] += 1
                continue
            line, count = map(int, rest[:2])
            numbers = [None if each == "masked" else float(each) for each in rest[2:]]
            rows[kernel, begun[kernel] - 1, line].append((numbers[:count], numbers[count:]))
        short = {digest[:12]: kernel for digest, kernel in self.kernels.items()}
        for (digest, call, line), found in rows.items():
            kernel = short[digest]
            use = kernel.uses[call % len(kernel.uses)]
            row = next(each for each in use.lines if each.line == line)
            self._compare_row(kernel, row, found, values, wide)

    def _compare_row(self, kernel, row, found, values, wide):
        names = _names(row)
        at = np.array([each[0] for each in found], dtype=np.float64).reshape(len(found), len(names))
        counts = np.array([[each is not None for each in some] for _, some in found])
        lanes = np.array([[each or 0.0 for each in some] for _, some in found], dtype=np.float64)
        if not counts.any():
            return
        place = f"{kernel.name}:{row.line} {row.variable} for {row.node}"
        if row.reads and isinstance(values.get(row.reads), torch.Tensor):
            self._compare_any(kernel, row, lanes[counts], row.reads, (values[row.reads], wide[row.reads]), place)
        for held in row.holds:
            eager = values.get(held.node)
            if not isinstance(eager, torch.Tensor):
                continue
            if any("tmp" in each for each in held.element):  # which may be a vector itself
                self._compare_any(kernel, row, lanes[counts], held.node, (eager, wide[held.node]), place)
                continue
            spread = np.arange(lanes.shape[1])[None, :]
            scope = {name: at[:, i : i + 1].astype(np.int64) + 0 * spread for i, name in enumerate(names)}
            if row.lanes:
                scope[row.lanes[0][0]] = scope.get(row.lanes[0][0], 0) + spread
            index = tuple(_evaluated(each, scope, lanes.shape) for each in held.element)
            index = tuple(each[counts] for each in index)
            numbers = lanes[counts]
            self._note(kernel, row, numbers.size)
            claim = f"{place}: holds {held.node}[{', '.join(held.element)}]"
            try:
                wanted = [_element(each, index, numbers.shape) for each in (eager, wide[held.node])]
            except IndexError as error:
                self.verdict.wrong.append(f"{claim}, {error}")
                continue
            near = [np.isclose(numbers, each, self.rtol, self.atol, equal_nan=True) for each in wanted]
            if not (near[0] | near[1]).all():
                self.verdict.wrong.append(f"{claim}, off by {np.nanmax(np.abs(numbers - wanted[0])):.3g}")

    def _compare_any(self, kernel, row, lanes, node, eager, place):
        known = [_flat(each) for each in eager]
        self._note(kernel, row, lanes.size)
        if not all(any(_near(each, some, self.rtol, self.atol) for some in known) for each in np.unique(lanes)):
            self.verdict.wrong.append(f"{place}: not a value of {node}")

    def _note(self, kernel, row, numbers):
        self.verdict.checked.add((kernel.digest, row.line))
        self.verdict.numbers += numbers


def _indent(text):
    return len(text) - len(text.lstrip())


def _row(digest, row):
    names = ", ".join(f"(double){name}" for name in _names(row))
    lanes = row.lanes[0][1].replace("//", "/") if row.lanes else "1"  # Python as C++: none is negative
    call = f'oracle::row("{digest[:12]}", {row.line}, {{{names}}}, {lanes}, {row.variable}, {row.mask or "true"});'
    return f"{{ static long seen = 0; if (++seen < {_ALL} || seen % {_THEN} == 0) {call} }}"


def _names(row):
    """The variables that the elements of a row are counted by; a vector's own indices are of no single number."""
    found = dict.fromkeys(name for held in row.holds for each in held.element for name in _NAME.findall(each))
    return [name for name in found if not name.startswith("tmp")]


def _flat(tensor):
    return np.sort(tensor.detach().to(torch.float64).reshape(-1).numpy())


def _near(value, known, rtol, atol):
    if np.isnan(value):
        return bool(np.isnan(known).any())
    place = np.searchsorted(known, value)
    around = known[max(0, place - 1) : place + 1]
    return bool(np.isclose(around, value, rtol, atol).any())


def _evaluated(text, scope, shape):
    names = {"math": np, "min": np.minimum, "max": np.maximum}
    return np.broadcast_to(eval(text, names, scope), shape).astype(np.int64)  # noqa: S307  (an index of our own)


def _element(eager, index, shape):
    return eager.detach().to(torch.float64).numpy()[index] if index else np.full(shape, float(eager))


def _values(graph, args, *, wide=False):
    """What each node of the graph is eagerly.

    ``wide`` computes numbers of half precision in float32, and rounds none of them: so do kernels within a loop.
    """
    kept = {}

    class Keeping(torch.fx.Interpreter):
        def run_node(self, node):
            result = super().run_node(node)
            if wide:
                result = torch.utils._pytree.tree_map_only(torch.Tensor, _widened, result)
            kept[node.name] = result.clone() if isinstance(result, torch.Tensor) else result
            return result

    given = [each.clone() if isinstance(each, torch.Tensor) else each for each in args]
    with torch.no_grad():
        Keeping(graph, garbage_collect_values=False).run(*given)
    return kept


def _widened(tensor):
    return tensor.float() if tensor.dtype in (torch.bfloat16, torch.float16) else tensor
