"""The engine that fits the torch of this process: that of the active build, one from the shelf, or a new one."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from typing import TYPE_CHECKING

from pyharness.engine import facts, need, shelf
from pyharness.engine.build import Progress, built
from pyharness.model.errors import HarnessError
from pyharness.model.text.visible import say

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from pyharness.engine.facts import Facts

_ENGINE = "pyharness._engine"


def has_one() -> bool:
    """Whether one is loaded, or was built before."""
    fits = facts.here()
    return _ENGINE in sys.modules or (fits is not None and (need.beside(fits) or shelf.find(fits)) is not None)


def load(*, build: bool) -> ModuleType:
    """Load it; ``ImportError`` where it does not load, ``HarnessError`` where there is none, and none may be built."""
    if _ENGINE in sys.modules:  # where ``None`` stands there, nobody shall import it
        return importlib.import_module(_ENGINE)
    fits = facts.here()
    if fits is None:
        raise HarnessError("torch lacks the libraries that the engine links to.", "Install torch anew.")
    file = need.beside(fits) or shelf.find(fits)
    if file is None:
        if not build:
            raise _without_engine(fits)
        file = built(fits, _Said())
    return _module_in(file)


def _module_in(file: Path) -> ModuleType:
    loader = ExtensionFileLoader(_ENGINE, str(file))
    spec = ModuleSpec(_ENGINE, loader, origin=str(file))
    spec.has_location = True
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    sys.modules[_ENGINE] = module
    return module


def _without_engine(fits: Facts) -> HarnessError:
    remedy = f"`pyharness engine build --python {sys.executable}` builds it, once: a minute or two."
    return HarnessError(f"There is no engine for {fits.named} yet.", remedy)


class _Said(Progress):
    """A build that a program itself asks for, by ``pyharness.record()`` for instance."""

    def begins(self, facts: Facts, count: int) -> None:
        """Say that it takes a while."""
        say(f"building the engine for {facts.named}, once: {count} parts, a minute or two.")

    def waits(self, facts: Facts) -> None:
        """Say who builds it."""
        say(f"another process builds the engine for {facts.named}: waiting for it.")

    def ends(self, file: Path) -> None:
        """Say where it is."""
        say(f"built {file}")
