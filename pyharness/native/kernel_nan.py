"""Bad values that kernels of torch.compile's make: each call is looked at, and the first that makes one is looked into.

The engine sees ops, and a kernel is none. So its outputs are looked at when it has ended, as those of an op are.
"""

from __future__ import annotations

import re
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.model.kernel_text import is_written_first, parameters
from pyharness.model.results.finding import CheckedTensor, Finding, KernelPlace, ValueStatistics
from pyharness.model.results.trace import TensorInfo
from pyharness.native import raw_finding
from pyharness.native.chains import calls_from
from pyharness.native.generated_line import with_nodes
from pyharness.native.load import load

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from pyharness.fx.inductor.calls import KernelCalls
    from pyharness.fx.inductor.first_bad import FirstBad, Look
    from pyharness.model.kernel_files import Kernel, Wrapper
    from pyharness.model.kernel_map import KernelUse
    from pyharness.model.results.trace import Call

    _Made = Callable[[], Finding | None]
    """Looks into the kernel; ``None`` where its bad value is named by the program."""

_OURS = "/pyharness/native/"


class KernelSearch:
    """Looks at kernels from ``begin`` to ``end``; ``take(finding)`` says whether a finding is what is looked for."""

    def __init__(self, engine: Any, kinds: int, limit: float, take: Callable[[_Made], None]) -> None:
        self._engine = engine
        self._kinds = kinds
        self._limit = limit
        self._take = take
        self._calls: KernelCalls | None = None
        self.checked = 0

    def begin(self) -> None:
        """Look from now on."""
        from pyharness.fx.inductor.calls import KernelCalls

        if self._calls is None:
            self._calls = KernelCalls(self._around)
            self._calls.begin()

    def end(self) -> None:
        """Look no further."""
        if self._calls is not None:
            self._calls.end()
            self._calls = None

    def kinds_of(self, tensor: torch.Tensor) -> int:
        """Which bad values a tensor has, as bits."""
        if not (tensor.is_floating_point() or tensor.is_complex()):
            return 0
        return int(self._engine.value_kinds(tensor, self._kinds, self._limit))

    def _around(self, wrapper: Wrapper, kernel: Kernel, function: Callable[..., Any]) -> Callable[..., Any]:
        names = [each.name for each in parameters(kernel.source)]

        def call(*args: Any) -> Any:
            if self._calls is None:
                return function(*args)
            called = _Called(wrapper, kernel, dict(zip(names, args)))  # noqa: B905  (CPython 3.9)
            result = function(*args)
            self.checked += 1
            made, given = self._kinds_of(called.outputs), 0
            if made:
                given = self._kinds_of(called.inputs)
            if made & ~given or made & given & raw_finding.BITS["nan"]:
                called.line = sys._getframe(1).f_lineno  # noqa: SLF001
                self._take(lambda: _Finding(self, called, made & ~given, made).finding())
            return result

        return call

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


class _Called:
    """A call of a kernel, with what it reads as that was before."""

    def __init__(self, wrapper: Wrapper, kernel: Kernel, args: dict[str, Any]) -> None:
        self.wrapper = wrapper
        self.kernel = kernel
        self.args = args
        self.line = 0
        tensors = {name: each for name, each in args.items() if hasattr(each, "data_ptr")}
        self.outputs = {name: each for name, each in tensors.items() if "out_ptr" in name}
        written = {each.untyped_storage().data_ptr() for each in self.outputs.values()}
        self.inputs = {
            name: each.detach().clone() if each.untyped_storage().data_ptr() in written else each
            for name, each in tensors.items()
            if name.startswith("in_") and not is_written_first(kernel.source, name)
        }

    def use(self, text: str) -> KernelUse | None:
        """The part of the kernel's map that is of this call."""
        found = self.wrapper.map_of(self.kernel)
        call = re.compile(rf"\s*{re.escape(self.kernel.name)}\(")
        lines = [number for number, each in enumerate(text.split("\n"), 1) if call.match(each)]
        if found is None or self.line not in lines or lines.index(self.line) >= len(found.uses):
            return None
        return found.uses[lines.index(self.line)]


class _Finding:
    """What is told of a call that made a bad value, or was given a NaN."""

    def __init__(self, search: KernelSearch, called: _Called, made: int, has: int) -> None:
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
                look = self._looked(text, use)
                first = look.first()
            except Exception as error:  # noqa: BLE001  (the copy may not compile: the kernel has made it all the same)
                why = f"the kernel could not be looked into: {type(error).__name__}"
            if first is None and not why:
                if look.names(self._made):
                    return None
                why = "none of its lines was seen to make it"
        calls = tuple(each for each in calls_from(sys._getframe(1)) if not _is_ours(each))  # noqa: SLF001
        calls, _ = with_nodes(calls)
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

    def _looked(self, text: str, use: KernelUse) -> Look:
        """The call once more, written down."""
        from pyharness.fx.inductor.first_bad import Look

        called = self._called
        look = Look(
            called.kernel.source,
            use.lines,
            called.inputs,
            called.outputs,
            self._search.kinds_of,
            {"nan": raw_finding.BITS["nan"], "inf": raw_finding.BITS["inf"]},
            self._made,
        )
        again = {name: each.clone() for name, each in called.inputs.items() if name in called.outputs}
        given = {**called.args, **called.inputs, **again}
        look.run(text, called.kernel.name, [given[name] for name in called.args])
        return look

    def _place(self, first: FirstBad | None, text: str) -> KernelPlace:
        called = self._called
        lines = called.kernel.source.split("\n")
        nodes = {each.name: each for each in called.wrapper.maps.nodes} if called.wrapper.maps else {}
        node = nodes.get(first.node) if first else None
        maker = node or (nodes.get(first.maker) if first else None)
        return KernelPlace(
            kernel=called.kernel.name,
            file=called.kernel.file,
            line=first.line if first else None,
            text=lines[first.line - 1].strip() if first else "",
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


def stop_here(answer: tuple[str, int, str, str]) -> None:
    """Call the function that gdb stops on, as the engine does."""
    import ctypes

    file, line, function, why = answer
    takes = (ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)
    trap = ctypes.PYFUNCTYPE(None, *takes)(load("_trap").addresses()["python_line"])
    trap(file.encode(), line, function.encode(), why.encode())


def _is_ours(call: Call) -> bool:
    return _OURS in call.file


def _text_of(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        return ""
