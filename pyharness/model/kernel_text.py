"""What the text of a kernel and of its wrapper says: parameters, where a statement ends, what a call passes.

Nothing of it needs debug information, so it holds for optimized kernels, too.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, TypeVar, Union

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Number = TypeVar("Number")
"""What an index is made of: whole numbers, or tensors of them."""

_SIGNATURE = re.compile(r'extern "C"\s+(?:\w+\s+)*?void\s+(kernel|cpp_\w+)\((.*?)\)', re.DOTALL)
_DEFINED = re.compile(r'^extern "C"\s+(?:\w+\s+)*?void\s+(cpp_\w+)\([^;{]*\)\s*\{.*?^\}', re.DOTALL | re.MULTILINE)
"""A kernel that a wrapper in C++ calls. It is declared before, too."""
_CXX_SOURCE = re.compile(
    r"^(?:cpp_wrapper|kernel)_src = \(\nr?(\"\"\"|''')(?P<text>.*?)\1\n\)", re.DOTALL | re.MULTILINE
)
_CXX_ENTRY = re.compile(r"^void (inductor_entry_impl|AOTInductorModel\w*::run_impl)\(", re.MULTILINE)
_KERNEL = re.compile(r"^(\w+) = async_compile\.cpp_pybinding\([^\n]*?r?'''(.*?)'''\)", re.DOTALL | re.MULTILINE)
"""A kernel in the text of a wrapper: what it is called, and its C++. Up to torch 2.9 it is no raw string."""
_OF_PYTHON = "kernel"
"""The name of each kernel that a wrapper in Python calls."""
_PREFIX = "#include <torch/csrc/inductor/cpp_prefix.h>\n"
"""What every kernel needs: torch puts it before the first of several."""
_PARAMETER = re.compile(r"(?P<type>.*?)\s*(?P<name>\w+)\s*$", re.DOTALL)
_ALIAS = re.compile(r"\s*auto (\w+) = ((?:in_)?out_ptr\d+);")
_TRANSPOSES = re.compile(r"\s*(?:at::vec::)?transpose_mxn<.*?>\((.*)\);")
_OPENING, _CLOSING = "([{", ")]}"
_LONGEST = 200
"""Lines that a statement may have."""

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.FloorDiv: lambda left, right: left // right,
    ast.Mod: lambda left, right: left % right,
}
_CALLS: Mapping[str, Callable[..., Any]] = {"min": min, "max": max, "abs": abs}


@frozen
class Parameter:
    """What a kernel takes."""

    type: str
    name: str

    @property
    def is_buffer(self) -> bool:
        """Whether it points to elements of a tensor."""
        return self.type.endswith("*")

    @property
    def is_written(self) -> bool:
        """Whether the kernel writes to what it points to."""
        return self.is_buffer and not self.type.startswith("const")

    @property
    def is_integer(self) -> bool:
        """Whether it is passed as whole numbers are, which a pointer is."""
        return self.is_buffer or "int" in self.type or "long" in self.type


def kernels_of(wrapper: str) -> list[tuple[str, str]]:
    """Name and C++ of each kernel that a wrapper defines."""
    return _KERNEL.findall(wrapper)


@frozen
class Defined:
    """A kernel that is defined in a file of C++, under its own name."""

    name: str
    line: int
    """Where its definition begins in the file."""
    text: str
    """The definition."""


def defined_in(text: str) -> list[Defined]:
    """The kernels that a file of C++ defines for a wrapper in C++."""
    found = _DEFINED.finditer(text)
    return [Defined(each[1], text.count("\n", 0, each.start()) + 1, each[0]) for each in found]


def cxx_sources(module: str) -> list[tuple[int, str]]:
    """The C++ in a module of Python that is a wrapper in C++: the wrapper, and the kernels where they are apart.

    Each with the lines of the module before its first. Empty for a wrapper in Python.
    """
    found = _CXX_SOURCE.finditer(module)
    return [(module.count("\n", 0, each.start("text")), each["text"]) for each in found]


def has_cxx_wrapper(text: str) -> bool:
    """Whether a file of C++ has a wrapper, which calls kernels."""
    return _CXX_ENTRY.search(text) is not None


def calls_in_cxx(text: str, kernel: str) -> tuple[str, tuple[int, ...]]:
    """The function that is the wrapper in a file of C++, and its lines that call a kernel."""
    entry = _CXX_ENTRY.search(text)
    call = re.compile(rf"\s*{re.escape(kernel)}\(")
    lines = (number for number, line in enumerate(text.split("\n"), 1) if call.match(line))
    return (entry[1], tuple(lines)) if entry else ("", ())


def has_kernel(text: str) -> bool:
    """Whether the text of a file is that of a kernel."""
    return _SIGNATURE.search(text) is not None


def parameters(text: str, name: str = _OF_PYTHON) -> tuple[Parameter, ...]:
    """The parameters of the kernel in a file's text, in order; empty where there is none.

    ``name`` is that in C++: a kernel of its own for Python is called so.
    """
    found = next((each for each in _SIGNATURE.finditer(text) if each[1] == name), None)
    parts = found[2].replace("__restrict__", "").split(",") if found else ()
    matches = (_PARAMETER.match(part) for part in parts)
    return tuple(Parameter(match["type"].strip(), match["name"]) for match in matches if match)


def head_of(text: str) -> int:
    """The line of a kernel's text that its parameters end in; a template has functions of its own before it."""
    found = _SIGNATURE.search(text)
    return text.count("\n", 0, found.end()) + 1 if found else 0


def for_python(text: str) -> tuple[str, int]:
    """A kernel's text as that of one that Python calls, and how many lines it has before the given ones."""
    found = _SIGNATURE.match(text)
    if found is None or found[1] == _OF_PYTHON:
        return text, 0
    return _PREFIX + text.replace(found[1], _OF_PYTHON, 1), _PREFIX.count("\n")


def is_written_first(text: str, pointer: str) -> bool:
    """Whether a kernel writes to a buffer before it reads it: what was in there does not matter.

    A buffer that takes the place of another within the kernel has a second name, by which it is read or written, too.
    """
    lines = text.split("\n")[head_of(text) :]
    named = [found for found in map(_ALIAS.match, lines) if found and found[2] == pointer]
    names = "|".join([pointer, *(found[1] for found in named)])
    uses = (line for line in lines if not _ALIAS.match(line) and re.search(rf"\b(?:{names})\b", line))
    first = next(uses, "")
    stored = re.match(rf"\s*(?:(?:{names})\[.*?\] = |[^;]*\.store\((?:{names})\b)", first)
    return stored is not None or _is_transposed_into(first, names)


def _is_transposed_into(line: str, names: str) -> bool:
    """Whether a line transposes a block into a buffer: the third argument is where it goes to."""
    call = _TRANSPOSES.match(line)
    arguments = call[1].split(", ") if call else []
    return len(arguments) == 4 and re.match(rf"(?:{names})\b", arguments[2]) is not None


def passed(line: str, kernel: str) -> tuple[str, ...]:
    """The expressions that a line of a wrapper passes to a kernel; empty where it is no such line."""
    try:
        tree = ast.parse(line.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return ()
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name) or tree.func.id != kernel:
        return ()
    return tuple(map(ast.unparse, tree.args))


_BUFFER = re.compile(r"\(.*\*\)\((\w+)\.data_ptr\(\)\)$")


def passed_in_cxx(line: str, kernel: str) -> tuple[str, ...]:
    """What a line of a wrapper in C++ passes to a kernel: variables, and numbers; empty where it is no such line."""
    text = line.strip()
    if not (text.startswith(f"{kernel}(") and text.endswith(");")):
        return ()
    parts, depth = [""], 0
    for letter in text[len(kernel) + 1 : -2]:
        depth += (letter in _OPENING) - (letter in _CLOSING)
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    words = [part.strip() for part in parts]
    return tuple(found[1] if (found := _BUFFER.match(word)) else word for word in words)


def statement_end(lines: Sequence[str], line: int) -> int:
    """The last line of the statement that begins at ``line``; lines count from 1."""
    depth = 0
    for number in range(line, min(len(lines), line + _LONGEST) + 1):
        text = lines[number - 1].partition("//")[0]
        depth += sum(text.count(each) for each in _OPENING) - sum(text.count(each) for each in _CLOSING)
        if depth < 0:
            return number - 1
        if depth <= 0 and text.rstrip().endswith(";"):
            return number
    return line


def computed(
    expression: str, value_of: Callable[[str], Number], calls: Mapping[str, Callable[..., Any]] = _CALLS
) -> Union[Number, int]:  # noqa: UP007  (CPython 3.9)
    """An index of a map, which is Python over whole numbers; ``ValueError`` where it is something else.

    ``value_of`` gives the values of names, and raises what it likes; ``calls`` are their ``min``, ``max`` and ``abs``.
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"{expression} is no index") from error
    found: Union[Number, int] = _of(tree, value_of, calls)  # noqa: UP007  (CPython 3.9)
    return found


def names_in(expression: str) -> tuple[str, ...]:
    """The variables of an index, each once, in their order."""
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except SyntaxError:
        return ()
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    found = sorted((node.lineno, node.col_offset, node.id) for node in ast.walk(tree) if isinstance(node, ast.Name))
    return tuple(dict.fromkeys(name for _, _, name in found if name not in called))


def _of(tree: ast.expr, value_of: Callable[[str], Any], calls: Mapping[str, Callable[..., Any]]) -> Any:
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int):
        return tree.value
    if isinstance(tree, ast.Name):
        return value_of(tree.id)
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return -_of(tree.operand, value_of, calls)
    if isinstance(tree, ast.BinOp) and type(tree.op) in _BINARY:
        left, right = (_of(each, value_of, calls) for each in (tree.left, tree.right))
        if isinstance(right, int) and not right and isinstance(tree.op, (ast.FloorDiv, ast.Mod)):
            raise ValueError(f"{ast.unparse(tree)} divides by zero")
        return _BINARY[type(tree.op)](left, right)
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id in calls and tree.args:
        return calls[tree.func.id](*(_of(each, value_of, calls) for each in tree.args))
    raise ValueError(f"{ast.unparse(tree)} is no index")


def place_text(element: Sequence[int]) -> str:
    """An element in the words of a person: row and column where there are two dimensions."""
    if len(element) == 2:
        return f"row {element[0]}, column {element[1]}"
    if len(element) == 1:
        return f"element {element[0]}"
    return ", ".join(f"dimension {number}: {index}" for number, index in enumerate(element))
