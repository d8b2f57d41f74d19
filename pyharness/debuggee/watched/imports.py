"""Calls back around the execution of a module that is imported; what is not imported costs nothing."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyharness.debuggee.unpatched import _thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    Around = Callable[[ModuleType], AbstractContextManager[None]]


def after_import(name: str, then: Callable[[ModuleType], None]) -> None:
    """Call ``then(module)`` after the first import of ``name``; at once where it is imported already."""
    if name in sys.modules:
        then(sys.modules[name])
        return

    @contextmanager
    def around(module: ModuleType) -> Iterator[None]:
        yield
        then(module)

    around_import(name, around)


def around_import(name: str, around: Around) -> None:
    """Run the first import of ``name`` within ``around(module)``; nothing where it is imported already."""
    if name not in sys.modules:
        sys.meta_path.insert(0, _AroundImport(name, around))


def around_all_imports(wanted: Callable[[str], bool], around: Around) -> None:
    """Run each first import of a module for which ``wanted(name)`` holds as it begins within ``around(module)``."""
    if not any(isinstance(finder, _AroundImports) and finder.around is around for finder in sys.meta_path):
        sys.meta_path.insert(0, _AroundImports(wanted, around))


class _AroundImports:
    """Finds modules as Python would, and stands around the execution of those that are wanted."""

    def __init__(self, wanted: Callable[[str], bool], around: Around) -> None:
        self.around = around
        self._wanted = wanted
        self._finding: set[tuple[int, str]] = set()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the module, as ``importlib.abc.MetaPathFinder.find_spec`` does."""
        if not self._wanted(name):
            return None
        key = _thread.get_ident(), name
        if key in self._finding:
            return None
        self._finding.add(key)
        try:
            return _within(self.around, _found(name, path, target))
        finally:
            self._finding.discard(key)


class _AroundImport:
    """Finds one module as Python would, and stands around its execution."""

    def __init__(self, name: str, around: Around) -> None:
        self._name = name
        self._around = around

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the module, as ``importlib.abc.MetaPathFinder.find_spec`` does."""
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        return _within(self._around, _found(name, path, target))


def _within(around: Around, spec: ModuleSpec | None) -> ModuleSpec | None:
    if spec is not None and spec.loader is not None:
        execute = spec.loader.exec_module

        def executed(module: ModuleType) -> None:
            with around(module):
                execute(module)

        spec.loader.exec_module = executed  # type: ignore[method-assign]
    return spec


def _found(name: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
    """What the other finders find: another of ours may wait for the same module, an editable install has its own."""
    found: ModuleSpec | None = None
    for finder in tuple(sys.meta_path):
        find = getattr(finder, "find_spec", None)
        if find and (found := find(name, path, target)):
            break
    return found
