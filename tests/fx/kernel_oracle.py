"""Whether a kernel's map is right, by value: what each mapped variable holds is that node's eager element.

Each kernel is replaced by the copy that `pyharness fx verify` makes of one, which writes its variables down while the
compiled program runs; the graph runs beside it eagerly, node by node, with the same inputs.
"""

import copy
import os
import re
from collections import Counter, deque
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import torch
from torch._inductor import async_compile
from torch._inductor.graph import GraphLowering

import pyharness.fx.inductor
from pyharness.fx.inductor.written_down import FILE, copy_of, element_of, is_counted, read
from pyharness.model.kernel_map import digest_of

VALUE_LINE = re.compile(
    r"\s*(auto tmp\w* =|.*tmp_acc\w* =|.*\.store\((?!tmpbuf)|(in_)?out_ptr\w*\[.*\] [+]?=|atomic_add"
    r"|.*transpose_mxn<|.*cascade_sum_final|.*welford_combine)"
)
"""Lines of a kernel that compute, load, store or reduce."""
_ANEW = {"fx_graph_cache": False, "compile_threads": 1}
"""Generate the code anew, and compile it in this process."""


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
        self.calls = []
        """The kernels that a graph has called, and what each call has written down."""

    @contextmanager
    def installed(self):
        _follow(self.made)
        cls, lowering = async_compile.AsyncCompile, GraphLowering
        originals = cls.cpp_pybinding, lowering.__init__, lowering._compile_to_module
        oracle = self

        def cpp_pybinding(this, argtypes, source):
            kernel = oracle.kernels[digest_of(source)].popleft()  # of the same text, in the order of the wrapper
            oracle.cover(kernel, source.split("\n"))
            return oracle.recording(kernel, originals[0](this, argtypes, copy_of(source, kernel.uses[0].lines)))

        def make(this, gm, *args, **named):
            this.oracle_copy = copy.deepcopy(gm) if isinstance(gm, torch.fx.GraphModule) else None
            originals[1](this, gm, *args, **named)

        def compile_module(this):
            module = originals[2](this)
            module.call = oracle.calling(module.call, this.oracle_copy)
            return module

        os.environ[FILE] = str(self.log)
        cls.cpp_pybinding, lowering.__init__, lowering._compile_to_module = cpp_pybinding, make, compile_module
        try:
            with torch._inductor.config.patch(_ANEW):
                yield
        finally:
            _FOLLOWED.remove(self.made)
            cls.cpp_pybinding, lowering.__init__, lowering._compile_to_module = originals

    def made(self, _wrapper, maps):
        self.kernels.update({kernel.digest: deque() for kernel in maps.kernels})
        for kernel in maps.kernels:
            self.kernels[kernel.digest].append(self.change(kernel))
            self.verdict.kernels.append(kernel)

    def cover(self, kernel, lines):
        for use in kernel.uses:
            mapped = {row.line for row in use.lines}
            for number, text in enumerate(lines, 1):
                if VALUE_LINE.match(text):
                    self.verdict.lines["mapped" if number in mapped else "unmapped"] += 1
                    if number not in mapped:
                        self.verdict.unmapped.append(f"{kernel.name}:{number} {text.strip()[:120]}")

    def recording(self, kernel, run):
        """A kernel's copy that keeps what each of its calls writes down."""

        def recorded(*args):
            self.log.unlink(missing_ok=True)
            run(*args)
            self.calls.append((kernel, list(read(self.log, kernel.uses[0].lines))))

        return recorded

    def calling(self, call, graph):
        def compared(args):
            values = _values(graph, args), _values(graph, args, wide=True)
            self.calls.clear()
            results = call(args)
            self.compare(*values)
            return results

        return compared

    def compare(self, values, wide):
        begun = Counter()
        for kernel, found in self.calls:
            use = kernel.uses[begun[kernel.name] % len(kernel.uses)]
            begun[kernel.name] += 1
            rows = {row.line: row for row in use.lines}
            for written in found:
                self._compare_row(kernel, rows[written.line], written, values, wide)

    def _compare_row(self, kernel, row, written, values, wide):
        numbers = written.lanes[written.counts].numpy()
        if not numbers.size:
            return
        place = f"{kernel.name}:{row.line} {row.variable} for {row.node}"
        if row.reads and isinstance(values.get(row.reads), torch.Tensor):
            self._compare_any(kernel, row, numbers, row.reads, (values[row.reads], wide[row.reads]), place)
        for held in row.holds:
            eager = values.get(held.node)
            if not isinstance(eager, torch.Tensor):
                continue
            if not is_counted(held):
                self._compare_any(kernel, row, numbers, held.node, (eager, wide[held.node]), place)
                continue
            index = tuple(each.numpy() for each in element_of(held, row, written))
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


def _flat(tensor):
    return np.sort(tensor.detach().to(torch.float64).reshape(-1).numpy())


def _near(value, known, rtol, atol):
    if np.isnan(value):
        return bool(np.isnan(known).any())
    place = np.searchsorted(known, value)
    around = known[max(0, place - 1) : place + 1]
    return bool(np.isclose(around, value, rtol, atol).any())


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
