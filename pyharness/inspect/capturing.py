"""``capture(model)``: what every module returned, call by call."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import nn

from pyharness.inspect import captured_text
from pyharness.inspect.hooks import Hooks, Keep
from pyharness.inspect.replay import replay
from pyharness.inspect.selection import ROOT, Selection, select
from pyharness.model.errors import HarnessError, UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

    from typing_extensions import Self

    from pyharness.inspect.record import Record
    from pyharness.model.text.styled_line import Line


_NO_FORWARD = nn.Module.forward


class Key(NamedTuple):
    """One call: a module's path, and the number of its calls by that path before this one."""

    path: str
    call: int


@dataclass(frozen=True)
class Raised:
    """An exception that left the capture, and the modules that it came through."""

    paths: tuple[str, ...]
    """Outermost first."""
    error: str


class Capture(Mapping[Key, "Record"]):
    """The records of all calls, in the order in which they ended; ``with`` attaches the hooks and removes them.

    ``captured["blocks.0"]`` is the record of a module that was called once, ``captured["blocks.0", 2]`` that of its
    third call. A module that is registered by several paths answers to each. What was captured stays when the program
    raises, and may be read while the capture is open.
    """

    def __init__(self, model: nn.Module, selection: Selection, keep: Keep, *, eager: bool) -> None:
        self.model = model
        self.raised: Raised | None = None
        self._selection = selection
        self._keep = keep
        self._hooks = Hooks(keep)
        self._eager = eager
        self._open: ExitStack | None = None
        self._records: tuple[int, list[Record]] = (0, [])

    def __enter__(self) -> Self:
        """Attach the hooks."""
        if self._open is not None:
            raise HarnessError("This capture is open already.", "capture(model) makes another one.")
        with ExitStack() as stack:
            if self._eager:
                stack.enter_context(torch.compiler.set_stance("force_eager"))
            stack.callback(self._hooks.remove)
            self._hooks.attach(self._selection)
            self._open = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Remove the hooks."""
        if self._open is not None:
            self._open.close()
            self._open = None
        if kind is not None:
            self.raised = Raised(tuple(_through(self.model, traceback)), f"{kind.__name__}: {error}")

    @property
    def records(self) -> list[Record]:
        """The records of every call, in the order in which the calls ended."""
        count = len(self._hooks.events)
        if self._records[0] != count:
            self._records = count, replay(self._hooks.events[:count], self._selection)
        return self._records[1]

    def calls(self, path: str) -> list[Record]:
        """The records of one module; ``UsageError`` for a path that was not captured."""
        found = [record for record in self.records if record.path == path]
        found = found or [record for record in self.records if path in record.paths]
        if not found:
            raise self._unknown(path)
        return found

    def __getitem__(self, key: str | tuple[str, int]) -> Record:
        path, call = (key, None) if isinstance(key, str) else key
        calls = self.calls(path)
        if call is None and len(calls) > 1:
            raise UsageError(
                f"{path or ROOT} was called {len(calls)} times.",
                f"captured[{path!r}, 0] is the first call; captured.calls({path!r}) has all.",
            )
        if call is not None and not 0 <= call < len(calls):
            raise UsageError(f"There is no call {call} of {path or ROOT}.", f"It was called {_times(len(calls))}.")
        return calls[call or 0]

    def __contains__(self, key: object) -> bool:
        try:
            self[key]  # type: ignore[index]
        except (UsageError, TypeError, ValueError):
            return False
        return True

    def __iter__(self) -> Iterator[Key]:
        return iter([Key(record.path, record.call) for record in self.records])

    def __len__(self) -> int:
        return len(self.records)

    @property
    def not_called(self) -> list[str]:
        """First paths of the modules that were looked at and never called: by ``forward`` directly, or not at all.

        Without what only holds modules and has no ``forward`` (``ModuleList``), and what an exception left.
        """
        called = {path for record in self.records for path in record.paths}
        called |= set(self.raised.paths) if self.raised else set()
        return [
            target.paths[0]
            for target in self._selection.targets
            if target.wanted and called.isdisjoint(target.paths) and type(target.module).forward is not _NO_FORWARD
        ]

    @property
    def unseen(self) -> dict[str, str]:
        """Paths of the modules that run where no hook is called, and why."""
        return dict(self._selection.unseen)

    def lines(self, *, statistics: bool = True, limit: int | None = None) -> Iterator[Line]:
        """A table with a row for each tensor of each call, in the order of the calls."""
        return captured_text.lines(self, statistics=statistics, limit=limit)

    def tree(self, *, statistics: bool = True) -> Iterator[Line]:
        """The modules as they are nested, with what each returned."""
        return captured_text.tree(self, statistics=statistics)

    def __str__(self) -> str:
        return "\n".join(line.text for line in self.tree())

    def __repr__(self) -> str:
        return f"<capture of {type(self.model).__name__}: {_times(len(self.records), 'call')}>"

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints: statistics for tensors."""
        return {
            "model": type(self.model).__name__,
            "calls": [record.to_json() for record in self.records],
            "not_called": self.not_called,
            "unseen": self.unseen,
            "raised": {"paths": list(self.raised.paths), "error": self.raised.error} if self.raised else None,
        }

    def _unknown(self, path: str) -> UsageError:
        if path in self.unseen:
            return UsageError(f"{path!r} was not captured: it is {self.unseen[path]}.", "Capture the module around it.")
        watched = {each for target in self._selection.targets if target.wanted for each in target.paths}
        if path in watched:
            return UsageError(
                f"{path or ROOT} was not called.",
                "A hook sees neither module.forward(...) nor what torch.compile runs (capture(..., eager=True) does).",
            )
        exists = path in dict(self.model.named_modules(remove_duplicate=False))
        if exists:
            return UsageError(f"{path or ROOT} was not captured.", "depth and pattern of capture leave it out.")
        return UsageError(f"The model has no module {path!r}.", nearest(path, watched))


def capture(  # noqa: PLR0913  (each is an option of its own)
    model: nn.Module,
    depth: int | None = None,
    pattern: str | Sequence[str] | None = None,
    *,
    detach: bool = True,
    copy: bool = False,
    statistics: bool = False,
    inputs: bool = False,
    gradients: bool = False,
    eager: bool = False,
) -> Capture:
    """Keep the outputs of the modules of ``model``, from the beginning of a ``with`` block to its end.

    ``depth`` bounds how far down (0 is the model itself, 1 its children), ``pattern`` are ``fnmatch`` patterns of
    module paths (``"blocks.*.attention"``); both must hold. Outputs keep their structure; their tensors are detached
    and share the memory of the program's, unless:

    - ``detach=False``: they stay on the graph, for ``vjp`` and ``jacobian_norm`` between two records;
    - ``copy``: they are copied, so that no later in-place operation changes them (``record.overwritten`` tells);
    - ``statistics``: ``TensorStatistics`` are kept instead of tensors.

    ``inputs`` keeps arguments too, as they were before the call, and ``gradients`` those of the outputs, of a
    ``backward()`` inside of the ``with``. Compiled code calls no hooks: ``eager`` runs as it was written what
    ``torch.compile`` compiled. Threads are told apart (``record.thread``).

    Raises ``UsageError`` where no module is meant, or none can be seen.
    """
    if depth is not None and (not isinstance(depth, int) or depth < 0):
        raise UsageError(f"depth is a number of levels, not {depth!r}.", "0 is the model itself, 1 its children.")
    if statistics and not detach:
        raise UsageError("detach=False keeps tensors on the graph; statistics keeps none.", "Choose one of them.")
    keep = Keep(detach=detach, copy=copy, statistics=statistics, inputs=inputs, gradients=gradients)
    return Capture(model, select(model, depth, pattern, eager=eager), keep, eager=eager)


def _through(model: nn.Module, traceback: TracebackType | None) -> Iterator[str]:
    """The model's modules whose calls an exception left."""
    paths = {id(module): path for path, module in model.named_modules()}
    while traceback is not None:
        frame = traceback.tb_frame
        if frame.f_code.co_name == "_call_impl" and id(frame.f_locals.get("self")) in paths:
            yield paths[id(frame.f_locals["self"])]
        traceback = traceback.tb_next


def _times(count: int, what: str = "time") -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
