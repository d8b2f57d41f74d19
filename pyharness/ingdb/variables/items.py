"""What a client looks at while a thread stands: items, what they expand into, and the handles that name it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError
from pyharness.model.frozen import frozen
from pyharness.model.variable import Scope, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_PAGE = 1000
"""Children that one request gets at most, whatever it asks for and whatever the program's memory says."""
MAX_HANDLES = 200_000


@frozen
class Item:
    """A variable without its handle, and what it expands into."""

    variable: Variable
    content: Content | None = None


class Content:
    """What a variable expands into; made of memory only when it is asked for."""

    named = 0
    """Children with names, that come first."""
    indexed = 0
    """Children that are counted."""

    def named_items(self, start: int, stop: int) -> Iterable[Item]:
        """The children with names from number ``start`` up to, not including, ``stop``."""
        raise NotImplementedError

    def indexed_items(self, start: int, stop: int) -> Iterable[Item]:
        """The elements from ``start`` up to, not including, ``stop``."""
        raise NotImplementedError

    def assign(self, name: str, value: str) -> Item:  # noqa: ARG002  (those that can be set need it)
        """Give the child called ``name`` another value."""
        raise HarnessError(f"{name} cannot be set.", "Only native variables and elements of tensors can be.")


class Listed(Content):
    """Children that are all known."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = list(items)
        self.named = len(self._items)

    def named_items(self, start: int, stop: int) -> list[Item]:
        """The items by name, as ``Content.named_items`` gives them."""
        return self._items[start:stop]


@frozen
class _Held:
    thread: int
    content: Content


class Handles:
    """Numbers for contents; none is ever used again, so that one of an earlier stop is refused, not misread."""

    def __init__(self) -> None:
        self._held: dict[int, _Held] = {}
        self._last = 0

    def scope(self, thread: int, name: str, content: Content, *, expensive: bool = False) -> Scope:
        """A group of variables of a frame of ``thread``."""
        count = None if expensive else content.named + content.indexed
        return Scope(name, self._hold(thread, content), expensive, count)

    def variable(self, thread: int, item: Item) -> Variable:
        """An item as the client gets it."""
        content = item.content
        if content is None or not (content.named or content.indexed):
            return item.variable
        handle = self._hold(thread, content)
        return replace(item.variable, handle=handle, named=content.named, indexed=content.indexed)

    def _hold(self, thread: int, content: Content) -> int:
        if len(self._held) >= MAX_HANDLES:
            raise HarnessError(f"More than {MAX_HANDLES} variables are open.", "Go on, or step: that closes them.")
        self._last += 1
        self._held[self._last] = _Held(thread, content)
        return self._last

    def get(self, handle: int) -> tuple[int, Content]:
        """Thread and content of a handle; an error where it is of an earlier stop."""
        held = self._held.get(handle)
        if held is None:
            raise HarnessError(f"There are no variables {handle} any more.", "The program has run on: look again.")
        return held.thread, held.content

    def forget(self, thread: int | None = None) -> None:
        """Drop all handles, or those of one thread."""
        self._held = {} if thread is None else {key: held for key, held in self._held.items() if held.thread != thread}


def page(content: Content, start: int, count: int, kind: str | None = None) -> list[Item]:
    """Children from ``start`` on: the named ones, then the counted; only those of a ``kind`` where it is given."""
    named = 0 if kind == "indexed" else content.named
    indexed = 0 if kind == "named" else content.indexed
    start = max(start, 0)
    stop = min(start + min(count or MAX_PAGE, MAX_PAGE), named + indexed)
    found: list[Item] = []
    if start < min(stop, named):
        found += content.named_items(start, min(stop, named))
    if stop > named and stop > start:
        found += content.indexed_items(max(start - named, 0), stop - named)
    return found
