"""WHERE: the places that a person may name, with their kind, or bare where only one kind can be meant."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pyharness.host.folders import current_folder
from pyharness.host.missing import check_link
from pyharness.host.visible import is_file, is_folder
from pyharness.model.application import is_archive
from pyharness.model.conditions.condition import compile_condition
from pyharness.model.conditions.hits import checked as checked_hits
from pyharness.model.conditions.native import check_native
from pyharness.model.element import parse as parse_element
from pyharness.model.element import read as read_element
from pyharness.model.errors import UsageError, nearest
from pyharness.model.frozen import frozen
from pyharness.model.text.code_functions import function_in
from pyharness.model.text.code_lines import check_in_file, check_line, executable_line
from pyharness.model.text.op_name import op_name
from pyharness.model.text.source_line import is_told

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS = ("fx", "op", "node", "py", "native")
SHAPES = (
    ("fx:NODE", "the statement of a torch.fx node in generated code; of inductor's also a node of Dynamo's graph"),
    ("fx:MODULE.PATH", "the first op node that this module made"),
    ("fx:NODE[INDEX, ...]", "an element of a node, where a kernel of torch.compile's computes it"),
    ("op:NAMESPACE::NAME", "an op, whoever calls it"),
    ("op:NAME", "every generated statement that calls a function of this name"),
    ("node:NAME", "an autograd node, before it runs; NAME may have *"),
    ("py:FILE:LINE", "a line of Python"),
    ("py:FILE:FUNCTION", "the first line of a function of Python's"),
    ("native:FUNCTION", "a C or C++ function; namespaces may be left out"),
    ("native:FILE:LINE", "a line of C or C++"),
)
"""How a place is written, and what it is."""
FORMS = (
    "A place is fx:NODE, fx:NODE[INDEX, ...], fx:MODULE.PATH, op:NAMESPACE::NAME, node:NAME, py:FILE:LINE, "
    "py:FILE:FUNCTION, native:FUNCTION or native:FILE:LINE, then maybe `if CONDITION` (op: and node: take "
    "`when CONDITION`) and `hits N`."
)
_CONDITION = re.compile(r"\s+(if|when)\s+")
_DANGLING = re.compile(r"\s(if|when|hits)$")
_HITS = re.compile(r"(.*[\w)\]}'\"*])\s+hits(?:\s+|(?=[<>=%]))([^\s'\"][^'\"]*)", re.DOTALL)
"""Behind the word are no quotes: else it stands in a string of the condition."""
_GOES_ON = re.compile(r"\b(if|when|and|or|not|in|is|else|lambda)$")
"""An expression does not end so: a name ``hits`` behind it is a part of it."""
_PYTHON_LINE = re.compile(r"[^:]+\.pyi?:(\d+|[^\W\d][\w.]*)")
_FUNCTION = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_NATIVE_LINE = re.compile(r".+\.(c|cc|cpp|cxx|cu|cuh|h|hpp|hxx|inc):\d+", re.IGNORECASE)
_NUMBER = re.compile(r"-?[0-9]{1,4000}")
_ADDRESS = re.compile(r"\*0x[0-9A-Fa-f]{1,16}")
_NO_NAME = re.compile(r"::\s*(\d|$)")
"""No name of C++ begins with a digit."""
_MODULE_PATH = re.compile(r"[A-Za-z_]\w*(\.\w+)+")
_MOST_NEIGHBOURS = 2000
"""Files looked at for the nearest name to one that does not exist."""


@frozen
class Where:
    """A place of the program; ``file`` and ``line`` are set for FILE:LINE, ``name`` otherwise."""

    kind: Literal["fx", "op", "node", "py", "native"]
    name: str = ""
    file: str = ""
    line: int = 0
    condition: str = ""
    """In the place's own language: Python for ``fx``, ``op`` and ``py``, else (and for an element) a gdb expression."""
    when: str = ""
    """The condition of an ``op`` or a ``node`` on its tensors, tested in the program (``conditions/condition.py``)."""
    function: str = ""
    """The only function of a ``py`` place's line that counts; empty for all that the line has."""
    hits: str = ""
    """Which of the times that it is reached count: ``5``, ``>= 5``, ``% 10`` (``model/conditions/hits.py``)."""
    element: tuple[int, ...] | None = None
    """For an ``fx`` place that is one element of a node's tensor: its index in each dimension."""

    def __post_init__(self) -> None:
        if self.file:
            check_line(self.line)
        if self.kind == "native" and self.name.startswith("*") and not _ADDRESS.fullmatch(self.name):
            raise UsageError(f"'native:{self.name}' names no address.", "Write native:FUNCTION, or native:*0xADDRESS.")
        if self.kind == "native" and _NO_NAME.search(self.name):
            raise UsageError(f"{self.name!r} names no function.", FORMS)

    @property
    def is_native_op(self) -> bool:
        """Whether it is an op as the dispatcher names it, or a node: whoever calls it, it stops."""
        return self.kind == "node" or (self.kind == "op" and "::" in self.name and not self.condition)

    @property
    def names_rank(self) -> bool:
        """Whether its condition asks for the rank: it is meant for some ranks of a job."""
        return bool(re.search(r"\brank\b", f"{self.when} {self.condition}"))

    @property
    def is_python(self) -> bool:
        """Whether it is sure to be Python code."""
        return self.kind in {"fx", "py"} and self.element is None

    @property
    def is_generated(self) -> bool:
        """Whether it may be lines of generated code."""
        return self.kind in {"fx", "op"} and not self.when

    @property
    def rest(self) -> str:
        """The place without its kind."""
        index = "" if self.element is None else str(list(self.element))
        return f"{self.name}{index}" or f"{self.file}:{self.line}"

    @property
    def native_location(self) -> str:
        """What gdb's ``break`` takes for a native place."""
        return f'-source "{self.file}" -line {self.line}' if self.line else f'-function "{self.name}"'

    @property
    def written(self) -> str:
        """The place with its conditions, as a person writes it."""
        conditions = (("when", self.when), ("if", self.condition), ("hits", self.hits))
        return " ".join([str(self), *(f"{word} {text}" for word, text in conditions if text)])

    def __str__(self) -> str:
        return f"{self.kind}:{self.rest}"


def parse(text: str, folders: Sequence[Path], root: str = "") -> Where:
    """The place in ``WHERE [if CONDITION]``; a ``py`` file is looked for in ``folders``, the first that has it.

    ``root`` is where the files of a program in a container lie here; the place has its own paths, as ``folders`` do.

    Raises ``UsageError`` where nothing can be meant, with the nearest names.
    """
    text, hits = _hits_apart(text.strip())
    where = _placed(text, folders, root)
    return replace(where, hits=hits) if hits else where


def _hits_apart(text: str) -> tuple[str, str]:
    """The place with its condition, and the hit condition behind it."""
    found = _HITS.fullmatch(text)
    if found is None or _GOES_ON.search(found[1]) or _is_line(text) or "/" in found[2]:
        return text, ""
    return found[1], checked_hits(found[2])


def _placed(text: str, folders: Sequence[Path], root: str) -> Where:
    place, word, condition = _apart(text)
    kind, colon, rest = place.partition(":")
    if not (colon and kind in KINDS and rest and (not rest.startswith(":") or rest.startswith("::"))):
        kind, rest = _bare(place), place
    if kind == "node" or word == "when":
        return _native_op(kind, rest, word, condition)
    if kind == "fx" and rest.endswith("]"):
        return _element(rest, condition)
    if kind != "native" and condition:
        check_python(condition)
    if kind == "fx":
        return Where("fx", name=rest, condition=condition)
    if kind == "op":
        return Where("op", name=rest, condition=condition)
    file, line = _split(rest)
    if kind == "native":
        return _native(rest, file, line, condition, [_here(folder, root) for folder in folders])
    function = ""
    if line is None:
        file, line, function = _of_function(rest, folders, root)
    where = Where("py", file=_existing(file, folders, root), line=line, condition=condition, function=function)
    executable_line(root + where.file, line)
    return where


def _element(text: str, condition: str) -> Where:
    """An element of a node, which C++ computes: so its condition is C++."""
    element = parse_element(text)
    if not element.node or not element.index:
        raise UsageError(f"'fx:{text}' names no element.", "Write fx:NODE[INDEX, ...], for example: fx:gelu[2, 7]")
    check_native(condition)
    return Where("fx", element.node, condition=condition, element=element.index)


def _of_function(text: str, folders: Sequence[Path], root: str) -> tuple[str, int, str]:
    """The file and the line of ``FILE:FUNCTION``, and its bare name: the line may be that of its ``def``, too."""
    file, colon, name = text.rpartition(":")
    if not colon or not _FUNCTION.fullmatch(name):
        raise UsageError(
            f"'py:{text}' names no line.",
            f"Write py:FILE:LINE or py:FILE:FUNCTION, e.g. py:{_example(text)}.",
        )
    found = function_in(root + _existing(file, folders, root), name)
    return file, found.line, found.name.rpartition(".")[2]


def _example(text: str) -> str:
    """What ``text`` may be a part of: a file, or a function."""
    if text.endswith((".py", ".pyx")):
        return f"{text}:40"
    return f"train.py:{text if _FUNCTION.fullmatch(text) else 40}"


def _native(rest: str, file: str, line: int | None, condition: str, folders: Sequence[Path]) -> Where:
    check_native(condition)
    if line is None:
        return Where("native", name=rest.removeprefix("::"), condition=condition)
    where = Where("native", file=file, line=line, condition=condition)
    found = next((path for folder in folders if is_file(path := folder / file)), None)
    if found:
        check_in_file(str(found), line)
    return where


def _apart(text: str) -> tuple[str, str, str]:
    """The place, ``if`` or ``when``, and the condition."""
    words = list(_CONDITION.finditer(text))
    behind_line = (found for found in words if _is_line(text[: found.start()]))
    found = next(behind_line, None if _is_line(text) else next(iter(words), None))
    if found is None and (dangling := _DANGLING.search(text)):
        raise UsageError(
            f"{text!r} ends with {dangling[1]!r}, and no condition.",
            f"Write PLACE {dangling[1]} {'N' if dangling[1] == 'hits' else 'CONDITION'}.",
        )
    return (text[: found.start()], found[1], text[found.end() :].strip()) if found else (text, "", "")


def _is_line(text: str) -> bool:
    """Whether this is FILE:LINE and nothing behind it: a word in such a place belongs to a folder's name."""
    kind, colon, rest = text.partition(":")
    if not colon or kind not in KINDS:
        kind, rest = "", text
    python = kind == "py" and _split(rest)[1] is not None
    return python or (kind in {"", "native"} and bool(_PYTHON_LINE.fullmatch(rest) or _NATIVE_LINE.fullmatch(rest)))


def _native_op(kind: str, name: str, word: str, condition: str) -> Where:
    """A node, or an op with a condition on its tensors."""
    if word == "when":
        compile_condition(condition)
    if word == "when" and kind not in {"op", "node"}:
        raise UsageError(f"`when` is for op: and node: places, not for {kind}:.", "Write `if CONDITION`.")
    if word == "if":
        raise UsageError("A node runs in C++: its condition is not Python.", f"Write node:{name} when CONDITION.")
    if kind == "op" and "::" not in name:
        raise UsageError(
            f"A condition on tensors needs the op's whole name, not {name!r}.", f"Write op:{op_name(name)}."
        )
    return Where("op" if kind == "op" else "node", name=name, when=condition)


def folders_of(*scripts: str) -> list[Path]:
    """Where files are looked for: here, and beside the scripts, whose neighbours are named by their bare names."""
    found = [current_folder(), *(_folder_of(Path(os.path.realpath(script))) for script in scripts if script)]
    return list(dict.fromkeys(filter(None, found)))


def _folder_of(script: Path) -> Path:
    return script if is_folder(script) else script.parent


def check_python(condition: str) -> None:
    """Raise ``UsageError`` for what is no expression of Python's."""
    try:
        compile(condition, "<condition>", "eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        why = getattr(error, "msg", "") or str(error) or "it is nested too deeply"
        raise UsageError(
            f"The condition {condition!r} is not a Python expression: {why}.",
            'Quote the whole place for the shell: "PLACE if CONDITION".',
        ) from error


def _bare(place: str) -> str:
    """The kind that a place without one can only mean."""
    if _PYTHON_LINE.fullmatch(place):
        return "py"
    if _NATIVE_LINE.fullmatch(place) or "::" in place:
        return "native"
    element = read_element(place)
    if _MODULE_PATH.fullmatch(place) or (element and element.node and element.index):
        return "fx"
    if re.fullmatch(r"\w+", place):
        raise UsageError(f"{place!r} may be a node or a function.", f"Write fx:{place} or native:{place}.")
    raise UsageError(
        f"{place!r} is not a place to stop at.", f"{nearest(place.partition(':')[0], KINDS)} {FORMS}".strip()
    )


def _split(text: str) -> tuple[str, int | None]:
    """``FILE:LINE`` apart; ``None`` where there is no line (``at::native::f`` has colons of its own)."""
    file, colon, line = text.rpartition(":")
    if colon and file and not file.endswith(":") and _NUMBER.fullmatch(line):
        return file, int(line)
    return text, None


def _here(folder: Path, root: str) -> Path:
    """A folder of the program's as this process reaches it."""
    return Path(f"{root}{folder}") if root else folder


def _in_archive(what: str, archive: str) -> UsageError:
    return UsageError(
        f"{what}: nothing stops at the lines of one.",
        f"Unpack it, by `python -m zipfile -e {Path(archive).name} FOLDER`, and run the folder.",
    )


def _existing(file: str, folders: Sequence[Path], root: str) -> str:
    """Absolute path of a Python file, or an error that offers the nearest names; what is in no file keeps its name."""
    if is_told(file):
        return file
    for folder in folders:
        path = f"{root}{folder / file}"
        if is_archive(Path(path)):
            raise _in_archive(f"{file!r} is an archive", path)
        if os.path.isfile(path):  # noqa: PTH113  (Path raises where a name is too long)
            return os.path.normpath(folder / file) if root else str(Path(path).resolve())
        if os.path.exists(path) and not os.path.isdir(path):  # noqa: PTH110, PTH112
            raise UsageError(f"{file!r} is not a regular file.", "Name a Python file.")
        if archive := next((str(each) for each in Path(path).parents if is_archive(each)), ""):
            raise _in_archive(f"{file!r} lies in an archive, {archive}", archive)
    for folder in folders:
        check_link(f"{root}{folder / file}", file)
    known = [
        str(path.relative_to(folder))
        for folder in [_here(each, root) for each in folders]
        for path in sorted(folder.glob("*.py")) + sorted(folder.glob("*/*.py"))[:_MOST_NEIGHBOURS]
    ]
    hint = nearest(file, known) or nearest(Path(file).name, [Path(name).name for name in known])
    raise UsageError(f"There is no file {file!r}.", hint or "Name it relative to this folder, or absolutely.")
