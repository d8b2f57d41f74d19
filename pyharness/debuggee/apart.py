"""Keeps the debugger's modules and the program's apart: neither finds a file that was meant for the other.

The program's folder comes first on its path, and those of PYTHONPATH: a ``json.py`` in one is its ``json``. The
debugger in the program imports ``json`` too, and means Python's. So it never looks into the program's folder, and into
the others at the end; and what it imported under a name that such a folder has as well is forgotten, so that the
program finds its own. What the program puts into ``builtins`` (an ``__import__`` that refuses, or is lazy) is not what
the debugger calls. This file itself imports only what Python has imported before any program.
"""

from __future__ import annotations

import _thread
import builtins
import os
import sys
from _frozen_importlib import module_from_spec
from _frozen_importlib_external import BYTECODE_SUFFIXES, SOURCE_SUFFIXES, PathFinder, SourceFileLoader
from _imp import extension_suffixes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_path = os.path
_SUFFIXES = (*SOURCE_SUFFIXES, *BYTECODE_SUFFIXES, *extension_suffixes())
_PYTHON = _path.dirname(os.__file__)
_INSTALLED = ("site-packages", "dist-packages")
_OURS = {"debugpy", "pydevd", "pyharness"}
"""In a program that is debugged, these are the debugger's."""
_ROOMS = ("debuggee", "host", "model", "protocol")
_IN_PROGRAM = ("debugpy", "pydevd", "_pydev", *(f"pyharness.{room}." for room in _ROOMS))
"""How the names of the modules begin that run in the midst of the program, and run no code of its by ``exec``."""


class _Kept:
    """What this process remembers for the one time that the program's folder comes on its path."""

    at_start: Collection[str] | None = None
    """What Python itself had imported: no file of the program's can take its place. ``None`` where nobody noted it."""
    named: Sequence[str] = ()
    """The folders of PYTHONPATH, while they are behind all others."""


class Only:
    """Finds a few packages in their folder, behind everything else: what lies beside them stays unseen."""

    def __init__(self, packages: dict[str, str]) -> None:
        self._packages = packages

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a package of the debugger's, as ``importlib.abc.MetaPathFinder.find_spec`` does."""
        del path
        folder = self._packages.get(name)
        return PathFinder.find_spec(name, [folder], target) if folder else None


class _OwnBuiltins:
    """Finds the debugger's modules, for which ``builtins`` stays as it is now, and ``json`` as they first see it.

    Programs put faster functions into ``json``, which do not always answer as Python's do.
    """

    def __init__(self) -> None:
        self._builtins = {**vars(builtins), "__import__": self._import}
        self._pythons_import = builtins.__import__
        self._json: ModuleType | None = None
        self._this_thread = _thread.get_ident
        self.importing: list[int] = []
        """The threads on which the debugger's modules import something now, each as often as that is nested."""

    def _import(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002
        locals: Mapping[str, object] | None = None,  # noqa: A002
        fromlist: Sequence[str] = (),
        level: int = 0,
    ) -> ModuleType:
        thread = self._this_thread()
        self.importing.append(thread)
        try:
            module = self._pythons_import(name, globals, locals, fromlist, level)
        finally:
            self.importing.remove(thread)
        if name != "json" or level:
            return module
        if self._json is None:
            self._json = type(module)(name)
            self._json.__dict__.update(vars(module))
        return self._json

    def only_this_imports(self) -> None:
        """In a forked child: its one thread alone may be importing."""
        self.importing[:] = [thread for thread in self.importing if thread == self._this_thread()]

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module of the debugger's, as ``importlib.abc.MetaPathFinder.find_spec`` does."""
        if not name.startswith(_IN_PROGRAM):
            return None
        others = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, others), None)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            self._have_run(spec.loader)
        return spec

    def _have_run(self, loader: SourceFileLoader) -> None:
        run = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            module.__dict__["__builtins__"] = self._builtins
            run(module)

        loader.exec_module = exec_module  # type: ignore[method-assign]


class FromInstalled:
    """Import, on the thread that enters it, what is installed, whatever the program's folders have.

    For a program that runs already. Where a folder of its has the name, it is forgotten on exit.
    """

    def __init__(self) -> None:
        self._current_thread = _thread.get_ident
        self._thread = _thread.get_ident()
        self._programs = {folder for folder in sys.path if not _is_installed(folder)}
        self._before = frozenset(sys.modules)

    def __enter__(self) -> None:
        sys.meta_path.insert(0, self)
        have_own_builtins()

    def __exit__(self, *_: object) -> None:
        sys.meta_path.remove(self)
        for folder in self._programs:
            _forget(set(sys.modules).difference(self._before), folder or os.getcwd())  # noqa: PTH109

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module for the debugger's thread, as ``importlib.abc.MetaPathFinder.find_spec`` does."""
        if path is not None or self._current_thread() != self._thread:
            return None
        path = [folder for folder in sys.path if folder not in self._programs]  # debugpy adds one meanwhile
        if spec := PathFinder.find_spec(name, path, target):
            return spec
        for finder in sys.meta_path:
            if (
                finder not in {self, PathFinder}
                and not _has_own(finder)
                and (spec := finder.find_spec(name, None, target))
            ):
                return spec
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def begin(at_start: Collection[str]) -> None:
    """Note what Python had imported before a program of ours, whose path is still without the script's folder."""
    _Kept.at_start = at_start
    have_own_builtins()


def put_named_last() -> None:
    """Look into the folders of PYTHONPATH only for what is nowhere else, until the program begins."""
    if not sys.flags.ignore_environment:
        wanted = {_path.abspath(each) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each}
        _Kept.named = [each for each in sys.path if each in wanted]
        sys.path[:] = [*(each for each in sys.path if each not in wanted), *_Kept.named]


def put_named_first() -> None:
    """Have them where Python has put them, and forget what was imported in place of a module in them."""
    named, _Kept.named = _Kept.named, ()
    sys.path[:] = [*named, *(each for each in sys.path if each not in named)]
    for folder in named:
        _forget(set(sys.modules).difference(_Kept.at_start or sys.modules), folder)


def have_own_builtins() -> None:
    """From now on the debugger's modules are imported with builtins of their own."""
    finders = [*filter(_has_own, sys.meta_path), _OwnBuiltins()]
    sys.meta_path[:] = [finders[0], *(finder for finder in sys.meta_path if not _has_own(finder))]


def others_import() -> bool:
    """Whether another thread imports something for the debugger: a forked child would have its locks, held for ever."""
    me = _thread.get_ident()
    return any(thread != me for finder in filter(_has_own, sys.meta_path) for thread in finder.importing)  # type: ignore[attr-defined]


def only_this_imports() -> None:
    """In a forked child: forget what was imported on threads that it does not have."""
    for finder in filter(_has_own, sys.meta_path):
        finder.only_this_imports()  # type: ignore[attr-defined]


def _has_own(finder: object) -> bool:
    """Whether it is an ``_OwnBuiltins``, also of this file's other module, which brings it into a running program."""
    return type(finder).__name__ == _OwnBuiltins.__name__


def make_importable(packages: dict[str, str]) -> None:
    """Let ``import NAME`` find each package in its folder, where the program has none of that name."""
    if not any(isinstance(finder, Only) for finder in sys.meta_path):
        sys.meta_path.append(Only(packages))


def have_ours(folder: str, version: str) -> None:
    """Import the debugger's own pyharness, where the program has another version of it, too.

    ``RuntimeError`` where the program has imported that one: its modules cannot serve this debugger.
    """
    known = sys.modules.get("pyharness")
    if known is None:
        spec = PathFinder.find_spec("pyharness", [folder])
        if spec is not None and spec.loader is not None:
            sys.modules["pyharness"] = module = module_from_spec(spec)
            spec.loader.exec_module(module)
        return
    theirs = getattr(known, "__version__", "of another project")
    if theirs != version:
        raise RuntimeError(
            f"it has imported pyharness {theirs} ({getattr(known, '__file__', None)}), and this is {version}"
        )


def leave_folder() -> None:
    """Take the folder that Python put first off the path, until the script's comes there (``python -m`` puts one)."""
    if not _is_safe():
        del sys.path[0]


def put_first(folder: str) -> None:
    """Make ``folder`` the first on the program's path, as Python does for its script."""
    put_named_first()
    if _is_safe():
        return
    sys.path.insert(0, folder)
    if _Kept.at_start is not None:
        _forget(set(sys.modules).difference(_Kept.at_start), folder)


def _forget(imported: Collection[str], folder: str) -> None:
    """Forget what has a namesake in ``folder``; whoever has imported it already keeps it."""
    for name in {name.partition(".")[0] for name in imported}.intersection(_modules_in(folder)) - _OURS:
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is None or not file.startswith(_path.join(folder, "")):
            for known in [each for each in sys.modules if each.partition(".")[0] == name]:
                del sys.modules[known]


def _modules_in(folder: str) -> set[str]:
    """What can be imported from ``folder``: modules, and folders with an ``__init__``."""
    try:
        entries = os.listdir(folder)  # noqa: PTH208  (pathlib may be the program's own)
    except OSError:
        return set()
    files = {name[: -len(end)] for name in entries for end in _SUFFIXES if name.endswith(end)}
    return files | {name for name in entries if _path.isfile(_path.join(folder, name, "__init__.py"))}


def _is_installed(folder: str) -> bool:
    """Whether ``folder`` is Python's own, or one of installed packages."""
    return _PYTHON in {folder, _path.dirname(folder)} or _path.basename(folder) in _INSTALLED


def _is_safe() -> bool:
    """Whether Python was told to put no folder of the script's on the path (``-P``, ``-I``, PYTHONSAFEPATH)."""
    return bool(getattr(sys.flags, "safe_path", False))
