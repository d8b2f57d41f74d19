"""Bad values that kernels of torch.compile's make: each call is looked at, and the first that makes one is looked into.

The engine sees ops, and a kernel is none. So its outputs are looked at when it has ended, as those of an op are.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.model.kernel_text import for_python
from pyharness.model.results.finding import CheckedTensor, Finding, KernelPlace, ValueStatistics
from pyharness.model.results.trace import TensorInfo
from pyharness.native import raw_finding
from pyharness.native.called_kernel import CalledKernel, Taker
from pyharness.native.generated_line import with_nodes
from pyharness.native.kernel_libraries import WORDS, KernelLibraries
from pyharness.native.load import load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import torch

    from pyharness.fx.inductor.calls import KernelCalls
    from pyharness.fx.inductor.first_bad import FirstBad, Look
    from pyharness.model.kernel_files import Kernel, Wrapper
    from pyharness.model.kernel_map import KernelUse
    from pyharness.native.kernel_libraries import KernelLibrary
    from pyharness.native.raw_finding import Answer

    _Made = Callable[[], Finding | None]
    """Looks into the kernel; ``None`` where its bad value is named by the program."""
    _Take = Callable[[_Made, bool], Answer]
    """What is to be done; the second says whether it may raise."""


class KernelSearch:
    """Looks at kernels from ``begin`` to ``end``; ``take(finding, may_raise)`` acts where one is looked for."""

    def __init__(self, engine: Any, kinds: int, limit: float, take: _Take) -> None:
        self._engine = engine
        self._kinds = kinds
        self._limit = limit
        self._take = take
        self._calls: KernelCalls | None = None
        self._libraries = KernelLibraries(engine, self._lead)
        self._searches = False
        self.checked = 0

    def begin(self) -> None:
        """Look from now on at kernels that wrappers in C++ call."""
        self._searches = True
        self._libraries.begin()

    def follow(self) -> None:
        """Look at those that wrappers in Python call, too."""
        from pyharness.fx.inductor.calls import KernelCalls

        if self._calls is None:
            self._calls = KernelCalls(self._around)
            self._calls.begin()

    def end(self) -> None:
        """Look no further."""
        self._searches = False
        self._libraries.end()
        if self._calls is not None:
            self._calls.end()
            self._calls = None

    def kinds_of(self, tensor: torch.Tensor) -> int:
        """Which bad values a tensor has, as bits."""
        if not (tensor.is_floating_point() or tensor.is_complex()):
            return 0
        return int(self._engine.value_kinds(tensor, self._kinds, self._limit))

    def _around(self, wrapper: Wrapper, kernel: Kernel, function: Callable[..., Any]) -> Callable[..., Any]:
        names = [each.name for each in kernel.parameters]

        def call(*args: Any) -> Any:
            if not self._searches:
                return function(*args)
            called = CalledKernel(wrapper, kernel, dict(zip(names, args)))  # noqa: B905  (CPython 3.9)
            result = function(*args)
            called.line = sys._getframe(1).f_lineno  # noqa: SLF001
            answer = self._ended(called, may_raise=True)
            if isinstance(answer, tuple):
                _stop_here(answer)
            return result

        return call

    def _lead(self, library: KernelLibrary) -> Any:
        """Hear of a library's kernels from the engine: not of those of which nobody knows what they take."""
        takers = [taker for name in library.addresses if (taker := Taker.of(library, name))]
        counts = {each.kernel.name: len(each.parameters) for each in takers}
        return self._engine.tell_of_kernels(library.path, WORDS, counts, partial(self._told, takers))

    def _told(self, takers: Sequence[Taker], name: str, back: int, given: list[int]) -> Callable[[int], Answer] | None:
        """A kernel is called: what to do when it has ended."""
        taker = next(each for each in takers if each.kernel.name == name)
        called = taker.called(back, given) if self._searches else None
        return (lambda _nanoseconds: self._ended(called, may_raise=False)) if called else None

    def _ended(self, called: CalledKernel, *, may_raise: bool) -> Answer:
        """Look at what a kernel has made; ``False`` where that is not what is looked for."""
        self.checked += 1
        made, given = self._kinds_of(called.outputs), 0
        if made:
            given = self._kinds_of(called.inputs)
        if made & ~given or made & given & raw_finding.BITS["nan"]:
            return self._take(lambda: _Finding(self, called, made & ~given, made).finding(), may_raise)
        return False

    def _kinds_of(self, tensors: dict[str, torch.Tensor]) -> int:
        found = 0
        for each in tensors.values():
            found |= self.kinds_of(each)
        return found

    def checked_tensor(self, name: str, tensor: torch.Tensor) -> CheckedTensor:
        """What is told of a buffer."""
        info = TensorInfo(tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."), str(tensor.device))
        numbers = tensor if tensor.is_floating_point() or tensor.is_complex() else tensor.double()
        fields = dict(self._engine.value_statistics(numbers, self._kinds, self._limit))
        fields.pop("finite", None)
        return CheckedTensor(name, info, raw_finding.kinds_of(self.kinds_of(tensor)), ValueStatistics(**fields))


class _Finding:
    """What is told of a call that made a bad value, or was given a NaN."""

    def __init__(self, search: KernelSearch, called: CalledKernel, made: int, has: int) -> None:
        self._search = search
        self._called = called
        self._made = made
        self._has = has

    def finding(self) -> Finding | None:
        """The finding; ``None`` where the program names the value itself, as the -inf of a mask."""
        called, first, why = self._called, None, ""
        text = _text_of(called.wrapper.file)
        use = called.use(text) if self._made else None
        if use is not None:
            try:
                look = self._looked(use)
                first = look.first()
            except Exception as error:  # noqa: BLE001  (the copy may not compile: the kernel has made it all the same)
                why = f"the kernel could not be looked into: {type(error).__name__}"
            if first is None and not why:
                if look.names(self._made):
                    return None
                why = "none of its lines was seen to make it"
        calls, _ = with_nodes(called.calls())
        place = self._place(first, text)
        return Finding(
            kind="op",
            name=called.kernel.name,
            overload="",
            made=bool(self._made),
            values=raw_finding.kinds_of((first.kinds if first else self._made) or self._has & raw_finding.BITS["nan"]),
            within=(),
            node=None,
            why=why,
            calls=calls,
            forward=(),
            approximate=False,
            made_from=None,
            inputs=tuple(self._search.checked_tensor(name, each) for name, each in called.inputs.items()),
            outputs=tuple(self._search.checked_tensor(name, each) for name, each in called.outputs.items()),
            stack=tuple(raw_finding.python_frames(calls)),
            graph_task=None,
            thread=threading.get_native_id(),
            thread_name=threading.current_thread().name,
            number=self._search.checked,
            kernel=place,
        )

    def _looked(self, use: KernelUse) -> Look:
        """The call once more, written down."""
        from pyharness.fx.inductor.first_bad import Look

        called = self._called
        source, before = for_python(called.kernel.source)
        look = Look(
            source,
            tuple(replace(each, line=each.line + before) for each in use.lines),
            called.inputs,
            called.outputs,
            self._search.kinds_of,
            {"nan": raw_finding.BITS["nan"], "inf": raw_finding.BITS["inf"]},
            self._made,
        )
        again = {name: each.clone() for name, each in called.inputs.items() if name in called.outputs}
        given = {**called.args, **called.inputs, **again}
        look.run([given[name] for name in called.args])
        return look

    def _place(self, first: FirstBad | None, text: str) -> KernelPlace:
        called = self._called
        lines = called.kernel.source.split("\n")
        line = first.line - for_python(called.kernel.source)[1] if first else 0
        nodes = {each.name: each for each in called.wrapper.maps.nodes} if called.wrapper.maps else {}
        node = nodes.get(first.node) if first else None
        maker = node or (nodes.get(first.maker) if first else None)
        return KernelPlace(
            kernel=called.kernel.name,
            file=called.kernel.file,
            line=line + called.kernel.before if first else None,
            text=lines[line - 1].strip() if first else "",
            wrapper=called.wrapper.file,
            wrapper_line=called.line,
            wrapper_text=text.split("\n")[called.line - 1].strip(),
            node=first.node if first else None,
            target=node.target if node else None,
            captured=maker.captured or (None if node else maker.name) if maker else None,
            module=maker.module if maker else None,
            origin_file=maker.origin_file if maker else None,
            origin_line=maker.origin_line if maker else None,
            element=first.element if first else None,
            given=dict(first.given) if first else {},
        )


def _stop_here(answer: tuple[str, int, str, str]) -> None:
    """Call the function that gdb stops on, as the engine does."""
    import ctypes

    file, line, function, why = answer
    takes = (ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)
    trap = ctypes.PYFUNCTYPE(None, *takes)(load("_trap").addresses()["python_line"])
    trap(file.encode(), line, function.encode(), why.encode())


def _text_of(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        return ""
