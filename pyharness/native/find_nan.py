"""``pyharness.find_nan()``: the first op or autograd node, forward or backward, that has a bad value."""

from __future__ import annotations

import copyreg
import sys
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pyharness.model.errors import HarnessError, UsageError, nearest
from pyharness.model.results.finding import Finding, NonFiniteError
from pyharness.model.results.finding_text import finding_lines
from pyharness.model.results.trace import origin_of
from pyharness.model.text.told import tell
from pyharness.native import raw_finding
from pyharness.native.chains import engine
from pyharness.native.evaluation import is_evaluated
from pyharness.native.kernel_nan import KernelSearch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from typing_extensions import Self

    from pyharness.native.breakpoints import Hit
    from pyharness.native.raw_finding import Answer

Action = Literal["raise", "stop", "report"]
_ACTIONS = ("raise", "stop", "report")
_DYNAMO = "torch._dynamo"
"""What ``torch.compile`` imports: where it is there may be kernels."""
_VALUES = ("nan", "inf")
_PACKAGE = str(Path(__file__).parent)


class NanSearch:
    """Looks from ``with`` to its end, in all threads; ``finding`` is what was found, ``None`` so far or for ever."""

    def __init__(
        self,
        action: Action | Callable[[Finding], object],
        kinds: int,
        limit: float,
        modules: tuple[str, ...],
        ops: tuple[str, ...],
    ) -> None:
        self.finding: Finding | None = None
        self._action = action
        self.on_finding: Callable[[Finding], object] = lambda _finding: None
        """Hears of the finding before anything is done about it."""
        self._kinds = kinds
        self._limit = limit
        self._modules = modules
        self._ops = ops
        self._searches = False
        self._held = False
        self._engine: Any = engine()
        self._failed: BaseException | None = None
        self._checked = 0
        """Ops and nodes of this thread, up to where the search was held last."""
        self._kernels = KernelSearch(self._engine, kinds, limit, self._take_kernel)

    def __enter__(self) -> Self:
        """Begin."""
        self._searches = True
        if not self._engine.start_nan_search(self._take, self._kinds, self._limit):
            raise HarnessError("find_nan looks for bad values already.", "Leave its `with` first; it sees all threads.")
        self._kernels.begin()
        if _DYNAMO in sys.modules:
            self.follow_kernels()
        return self

    def follow_kernels(self) -> None:
        """Look at kernels of torch.compile's, too, which is done by itself where the program has imported that."""
        if self._searches:
            self._kernels.follow()

    @property
    def __exit__(  # noqa: PLE0302, PYI036  (what it returns takes the arguments)
        self,
    ) -> Callable[[type[BaseException] | None, BaseException | None, TracebackType | None], None]:
        """End; where something was found and nobody has heard, raise it.

        A property, so that what Python calls is a C function: our error may be on its way to this thread, and would hit
        the first line of any Python function.
        """
        return partial(self._engine.uninterrupted, self._end)

    def end(self) -> None:
        """Look no further, and raise nothing."""
        self._searches = False
        self._kernels.end()
        self._hold()

    def _hold(self) -> None:
        """Have the engine look no further."""
        if self._held:
            return
        self._held = True
        self._checked += int(self._engine.ops_checked_by_thread())
        self._engine.stop_nan_search()

    @property
    def checked(self) -> int:
        """How many ops and nodes of this thread were checked."""
        return self._checked + (0 if self._held else int(self._engine.ops_checked_by_thread()))

    @property
    def kernels(self) -> int:
        """How many calls of torch.compile's kernels were checked."""
        return self._kernels.checked

    def _end(
        self, _kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self.end()
        if self._failed is not None and error is not self._failed:
            raise self._failed
        if self.finding is None or self._action != "raise" or isinstance(error, NonFiniteError):
            return
        if error is None:
            raise NonFiniteError(self.finding)
        if hasattr(error, "add_note"):  # from Python 3.11 on
            error.add_note(f"pyharness.find_nan: {self.finding.headline}.")

    def _take(self, fields: dict[str, Any], may_raise: bool) -> Answer:  # noqa: FBT001  (called by C++)
        """What is to be done about it; called on the thread that found it, which has not gone on yet."""
        if self._ops and not _matches(self._ops, [fields["name"], *fields["within"], fields["node"]]):
            return False
        if is_evaluated(sys._getframe().f_back):  # noqa: SLF001
            return False
        finding = raw_finding.decode(fields, self._engine)
        if self._modules and not _matches(self._modules, _modules_of(finding)):
            return False
        self.finding = finding
        try:
            return self._act(finding, raw_finding.addresses(fields), may_raise=may_raise)
        except Exception as error:
            self._failed = error
            if may_raise:
                raise
            return True

    def _take_kernel(self, made: Callable[[], Finding | None], may_raise: bool) -> Answer:  # noqa: FBT001  (as _take)
        """What is to be done about a kernel's bad value; its ops are ours while it is looked into."""
        if self.finding is not None or is_evaluated(sys._getframe().f_back):  # noqa: SLF001
            return False
        self._hold()
        finding = made()
        if finding is None or not self._is_wanted(finding):
            self._engine.start_nan_search(self._take, self._kinds, self._limit)
            self._held = False
            return False
        self.finding = finding
        try:
            return self._act(finding, {}, may_raise=may_raise)
        except Exception as error:
            self._failed = error
            if may_raise:
                raise
            return True

    def _is_wanted(self, finding: Finding) -> bool:
        """Whether the patterns are of a kernel, of its node or of that one's op or module."""
        place = finding.kernel
        names = [finding.name, *((place.node, place.target) if place else ())]
        ops = not self._ops or _matches(self._ops, names)
        return ops and (not self._modules or _matches(self._modules, [finding.module]))

    def _act(self, finding: Finding, tensors: dict[str, int], *, may_raise: bool) -> Answer:
        self.on_finding(finding)
        if callable(self._action):
            self._action(finding)
            return True
        if self._action == "report":
            report(finding)
            return True
        if self._action == "stop":
            return _stop(finding, tensors) or True
        if may_raise:
            raise NonFiniteError(finding)
        return _error_of(finding)


def find_nan(
    *,
    action: Action | Callable[[Finding], object] = "raise",
    values: Sequence[str] = ("nan", "inf"),
    limit: float | None = None,
    denormals: bool = False,
    module: str | Sequence[str] = (),
    op: str | Sequence[str] = (),
) -> NanSearch:
    """Look for the first bad value: ``with pyharness.find_nan(): ...``.

    Bad is a NaN, and an infinity that an op made of finite values; also |x| > ``limit`` and ``denormals`` where asked
    for. A value that the program names itself is not bad (``torch.full(..., -inf)``, ``masked_fill(mask, nan)``), nor
    is memory that nobody wrote yet, nor what an op makes and mends again before it ends.

    ``action`` is ``"raise"`` (``NonFiniteError`` at the line, or from ``backward()``), ``"report"`` (to stderr, the
    program goes on), ``"stop"`` (as the breakpoints of ``pyharness.native`` do) or a function that is given the
    ``Finding``. ``module`` and ``op`` narrow the search to module paths and to names of ops and nodes, as patterns of
    ``fnmatch``: ``"blocks.1.*"``, ``"*Backward*"``.
    """
    _check(action, values, limit)
    wanted = {*values, *(["large"] if limit is not None else []), *(["denormal"] if denormals else [])}
    kinds = sum(bit for kind, bit in raw_finding.BITS.items() if kind in wanted)
    if not kinds:
        raise UsageError("find_nan looks for nothing: no values, no limit, no denormals.", "values=('nan',) is least.")
    bound = float("inf") if limit is None else float(limit)
    return NanSearch(action, kinds, bound, _patterns("module", module), _patterns("op", op))


def report(finding: Finding, rank: int | None = None) -> None:
    """Print it to stderr; ``rank``: whose it is, in a job of several."""
    tell(finding_lines(finding, rank=rank))


def _check(action: object, values: Sequence[str], limit: float | None) -> None:
    if not callable(action) and action not in _ACTIONS:
        raise UsageError(f"There is no action {action!r}.", nearest(str(action), _ACTIONS) or f"One of {_ACTIONS}.")
    if isinstance(values, str):
        raise UsageError(f"values is a sequence of names, not {values!r}.", f"values=({values!r},)")
    for value in values:
        if value not in _VALUES:
            raise UsageError(f"There is no value {value!r}.", nearest(str(value), _VALUES) or "'nan' and 'inf'.")
    if limit is not None and not limit > 0:
        raise UsageError(f"limit must be positive, not {limit!r}.", "It bounds |x|.")


def _patterns(what: str, given: str | Sequence[str]) -> tuple[str, ...]:
    patterns = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, (list, tuple)) else (given,)
    if not all(isinstance(pattern, str) for pattern in patterns):
        raise UsageError(f"{what} is a pattern or several, not {given!r}.", f"{what}='*' is all.")
    return patterns


def _matches(patterns: tuple[str, ...], names: Sequence[str | None]) -> bool:
    return any(name is not None and fnmatchcase(name, pattern) for name in names for pattern in patterns)


def _modules_of(finding: Finding) -> list[str | None]:
    return [call.module for call in (*finding.calls, *finding.forward)]


def _stop(finding: Finding, tensors: dict[str, int]) -> tuple[str, int, str, str] | None:
    """Stop where the program stands: what gdb is to be told where it is there, else pdb or the report."""
    from pyharness.native import breakpoint_actions
    from pyharness.native.breakpoints import Hit
    from pyharness.native.load import load

    report(finding)
    frame = sys._getframe()  # noqa: SLF001
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    user = breakpoint_actions.user_frame(frame) or frame
    code = user.f_code
    load("_engine").set_nan_trap(load("_trap").addresses()["python_line"])
    hit = Hit(
        kind=finding.kind,
        name=finding.name,
        overload=finding.overload,
        before=False,
        count=1,
        file=code.co_filename,
        line=user.f_lineno,
        function=code.co_name,
        inputs=tuple(str(tensor.info) for tensor in finding.inputs),
        outputs=tuple(str(tensor.info) for tensor in finding.outputs),
        tensors=tensors,
        frame=user,
    )
    return breakpoint_actions.act("", replace(hit, note=_note(finding, hit)))


def _note(finding: Finding, hit: Hit) -> str:
    """What is said of the stop; who called is said after it."""
    from pyharness.native.breakpoint_actions import tensors_of

    forward = origin_of(finding.forward) if finding.kind == "node" else None
    module = f", module {finding.module or '(root)'}" if finding.module is not None else ""
    where = f" (forward at {forward.file}:{forward.line}{module})" if forward else module
    return f"{tensors_of(hit)} {finding.deed}{where}"


class _Sent(type):
    """The type of a class that stands for ``NonFiniteError``, which goes to other processes in its place."""


def _non_finite() -> type[NonFiniteError]:
    return NonFiniteError


copyreg.pickle(_Sent, lambda _sent: (_non_finite, ()))  # type: ignore[arg-type,return-value]  # typeshed knows constructors alone


def _error_of(finding: Finding) -> type[NonFiniteError]:
    """A class, for that is what a thread can be sent; it knows its finding."""

    class FoundError(NonFiniteError, metaclass=_Sent):
        def __init__(self) -> None:
            super().__init__(finding)

    FoundError.__name__ = FoundError.__qualname__ = NonFiniteError.__name__
    FoundError.__module__ = NonFiniteError.__module__
    return FoundError
