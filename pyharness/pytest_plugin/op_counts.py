"""What ops a test runs, against those it ran when they were written down: the marker's ``max_new_ops``.

A file ``__ops__/test_NAME.json`` beside ``test_NAME.py``, to be committed, has how often each op and autograd node ran.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections import Counter
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from pyharness.host.regular_file import read_regular
from pyharness.host.whole_file import write_whole
from pyharness.model.codec import decode
from pyharness.model.errors import HarnessError
from pyharness.model.frozen import frozen
from pyharness.model.text.source_line import short_path
from pyharness.model.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping
    from pathlib import Path

    from pyharness.model.results.trace import Trace

UPDATE = "--pyharness-update-ops"
_FOLDER = "__ops__"
_ANEW = f"Remove it, and run the tests with {UPDATE}."
_SHOWN = 10
"""Ops that a message names."""


def counted(call: Generator[None, object, object], item: pytest.Item, most: int) -> Generator[None, object, object]:
    """The ``call`` of a test, as a hook's wrapper: it fails where more than ``most`` calls of ops are new."""
    import pyharness

    with pyharness.record() as recording:
        result = yield from call
    _judge(item, most, recording.trace)
    return result


def _judge(item: pytest.Item, most: int, trace: Trace) -> None:
    try:
        wrong = "\n".join(_wrong(item, most, trace))
    except (HarnessError, OSError) as error:
        wrong = f"max_new_ops: {error}"
    if wrong:
        pytest.fail(wrong, pytrace=False)


def _wrong(item: pytest.Item, most: int, trace: Trace) -> Iterator[str]:
    """Lines of what is new; none where that is little enough."""
    known, name = _Known(item.path), item.nodeid.partition("::")[2]
    if trace.lost:
        raise HarnessError(f"The test runs more ops than are recorded: {trace.lost} were lost.", "Test a smaller part.")
    now = Counter(event.name for event in trace.events)
    if item.config.getoption(UPDATE):
        known.write(name, now)
        return
    before = known.read(name)
    new = now - Counter(before)
    if new.total() > most:
        yield from _message(trace, most, new, before)
        if known.torch != _torch():
            yield f"They were written down with torch {visible(known.torch)}, and this is {_torch()}."
        yield f"Where that is right, {UPDATE} writes them down."


def _message(trace: Trace, most: int, new: Counter[str], before: Mapping[str, int]) -> Iterator[str]:
    calls = f"{new.total()} call{'s' * (new.total() > 1)}"
    yield f"{calls} of ops that are not written down for this test, and max_new_ops is {most}"
    width = max(map(len, new))
    for name, _more in new.most_common(_SHOWN):
        events = [event for event in trace.events if event.name == name]
        origin = events[-1].origin
        place = f"  {short_path(origin.file)}:{origin.line}" if origin else ""
        yield f"  {name:<{width}}  {len(events)} instead of {before.get(name, 0)}{place}"
    if (left := len(new) - _SHOWN) > 0:
        yield f"  and {left} other{'s' * (left > 1)}"


class _Known:
    """The file of a file of tests."""

    def __init__(self, tests: Path) -> None:
        self._file = tests.parent / _FOLDER / f"{tests.stem}.json"

    def read(self, name: str) -> Mapping[str, int]:
        """How often each op ran; ``HarnessError`` where that was not written down."""
        ops = self._content().tests.get(name)
        if ops is None:
            remedy = f"Run it once with {UPDATE}, and commit {self._file.parent.name}/{self._file.name}."
            raise HarnessError("No ops are written down for this test.", remedy)
        return ops

    @property
    def torch(self) -> str:
        """The version of torch that they were written down with."""
        return self._content().torch

    def write(self, name: str, ops: Mapping[str, int]) -> None:
        """Write down what a test runs; other processes write of theirs meanwhile."""
        self._file.parent.mkdir(exist_ok=True)
        with _alone_in(self._file.parent):
            tests = {**self._content().tests, name: dict(sorted(ops.items()))}
            written = {"torch": _torch(), "tests": dict(sorted(tests.items()))}
            write_whole(self._file, (json.dumps(written, indent=1) + "\n").encode())

    def _content(self) -> _Content:
        try:
            return _parsed(read_regular(self._file), self._file)
        except FileNotFoundError:
            return _parsed(_EMPTY, self._file)
        except OSError as error:
            raise HarnessError(f"{self._file} cannot be read: {error.strerror}.", _ANEW) from None


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """No other process that does this writes in the folder meanwhile."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


_EMPTY = b'{"torch": "", "tests": {}}'


@frozen
class _Content:
    """What the file of a file of tests has."""

    torch: str
    """The version that the ops were written down with."""
    tests: dict[str, dict[str, int]]
    """Test → op → how often it ran."""


def _parsed(data: bytes, file: Path) -> _Content:
    with suppress(ValueError, RecursionError):
        return decode(_Content, json.loads(data.decode()), file.name)
    raise HarnessError(f"{file} is no file of ops.", _ANEW)


def _torch() -> str:
    import torch

    return str(torch.__version__).partition("+")[0]
