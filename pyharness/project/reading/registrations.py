"""Where a C++ file tells torch or Python of a function: ``TORCH_LIBRARY``, torch's classes, an extension module."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from pyharness.project.reading.cxx_functions import before_angles, parameters, split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.project.reading.cxx_functions import Block, CxxFile, Parameter
    from pyharness.project.reading.cxx_tokens import Tokens

Via = Literal["torch", "module", "class"]
"""A library of the dispatcher, an extension module (pybind11 or nanobind), or a class of torch's."""
_CALLS = {"def", "impl", "op"}
_MODULE = re.compile(r"(?:^|::|\b)module_?$")
_LIBRARY = re.compile(r"Library$")
_REGISTRY = "RegisterOperators"
_WRAPPER = re.compile(r"decltype|static_cast|overload_cast|reinterpret_cast")


@dataclass(frozen=True)
class Registration:
    """One call of ``def``, ``impl`` or ``op``."""

    via: Via
    namespace: str
    """The namespace as it is written; empty where it is not (a function that registers for whoever calls it)."""
    name: str
    """The name of the op, without namespace; with its overload."""
    schema: str
    """From ``(`` on, empty where C++ infers it."""
    key: str
    """The dispatch key as it is written; empty for all."""
    functions: tuple[str, ...]
    """Names that may be the function's, the likeliest first; without template arguments."""
    line: int
    lambda_line: int = 0
    """The line of the first statement of a lambda that is registered in place."""
    parameters: tuple[Parameter, ...] = ()
    """The parameters of a lambda that is registered in place."""
    constructor: tuple[str, ...] = ()
    """The types that a method's class is made from; ``name`` is ``Class.method`` then."""


def registrations(file: CxxFile) -> Iterator[Registration]:
    """The registrations of one file, in order."""
    items = file.tokens.items
    for index in range(1, len(items) - 2):
        if items[index].text == "." and items[index + 1].text in _CALLS and items[index + 2].text == "(":
            yield from _call(file, index)
        elif items[index].text == _REGISTRY and items[index + 1].text == "(":
            yield from _registered(file.tokens, index + 1)


def _call(file: CxxFile, dot: int) -> Iterator[Registration]:
    root, receiver = _receiver(file.tokens, dot)
    if receiver == _REGISTRY:
        yield from _registered(file.tokens, dot + 2)
        return
    block = next((one for one in reversed(file.blocks) if one.start <= dot < one.end), None)
    if receiver == "class_":
        yield from _method(file.tokens, root, dot, block)
        return
    if block and receiver != block.arguments[-1]:
        return
    via, namespace, key = _of_block(block) if block else _of_parameter(file, dot, receiver)
    if via:
        yield from _registration(file.tokens, dot + 2, via, namespace, key)


def _receiver(tokens: Tokens, dot: int) -> tuple[int, str]:
    """Whose method is called, the first of a chain: ``m`` of ``m.def(...).def(...)``; a call's bracket and its name."""
    index = dot - 1
    while index > 1 and tokens.items[index].text == ")":
        opened = tokens.partner.get(index, 0)
        if opened < 2:
            return 0, ""
        if tokens.items[opened - 2].text != ".":
            return opened, tokens.items[before_angles(tokens, opened - 1, 0)].text
        index = opened - 3
    return index, tokens.items[index].text


def _method(tokens: Tokens, root: int, dot: int, block: Block | None) -> Iterator[Registration]:
    """The methods of ``m.class_<T>("Name")`` or ``torch::class_<T>("ns", "Name")``, not of pybind11's classes."""
    names = [_string(tokens, *one) for one in split(tokens, root + 1, tokens.partner.get(root, root))]
    namespace = block.arguments[0] if block and "TORCH_LIBRARY" in block.macro else names[0] if len(names) > 1 else ""
    if not namespace or not all(names):
        return
    made_from = _constructor(tokens, root, dot)
    for one in _registration(tokens, dot + 2, "class", namespace, ""):
        yield replace(one, name=f"{names[-1]}.{one.name}", constructor=made_from)


def _constructor(tokens: Tokens, start: int, end: int) -> tuple[str, ...]:
    """The types of ``torch::init<...>`` between the class and its method."""
    at = next((at for at in range(start, end - 1) if tokens.items[at].text == "init"), None)
    if at is None or tokens.items[at + 1].text != "<":
        return ()
    close = next((index for index in range(at, end) if tokens.items[index].text == ">"), at + 1)
    while before_angles(tokens, close, at) > at and close < end:  # up to the one that closes the first
        close += 1
    return tuple("".join(tokens.texts(*one)) for one in split(tokens, at + 2, close))


def _of_block(block: Block) -> tuple[Via, str, str]:
    if "TORCH_LIBRARY" not in block.macro:
        return "module", block.arguments[0], ""
    key = block.arguments[1] if "IMPL" in block.macro and len(block.arguments) > 2 else ""
    return "torch", block.arguments[0], key


def _of_parameter(file: CxxFile, at: int, receiver: str) -> tuple[Via | None, str, str]:
    """A function that is handed the module or the library; what a template parameter is, its calls say."""
    function = next((one for one in file.functions if one.start <= at < one.end), None)
    kind = next((one.type for one in function.parameters if one.name == receiver), "") if function else ""
    if _MODULE.search(kind):
        return "module", "", ""
    is_library = bool(_LIBRARY.search(kind)) or (kind and file.tokens.items[at + 1].text == "impl")
    return ("torch" if is_library else None), "", ""


def _registered(tokens: Tokens, bracket: int) -> Iterator[Registration]:
    """``RegisterOperators("ns::op", &f)`` and ``.op("ns::op", &f)``."""
    yield from _registration(tokens, bracket, "torch", "", "")


def _registration(tokens: Tokens, bracket: int, via: Via, namespace: str, key: str) -> Iterator[Registration]:
    arguments = split(tokens, bracket + 1, tokens.partner.get(bracket, bracket + 1))
    text = _string(tokens, *arguments[0]) if arguments else ""
    full, opened, rest = text.partition("(")
    before, _, name = full.strip().rpartition("::")
    if not re.fullmatch(r"\w+(\.\w+)?", name):
        return
    if tokens.items[bracket - 1].text == "impl" and len(arguments) > 2:  # m.impl("f", c10::kCPU, f)
        key = tokens.texts(*arguments.pop(1))[-1].removeprefix("k")
    target = arguments[1] if len(arguments) > 1 else (0, 0)
    body, taken = _lambda(tokens, *target)
    functions = () if body else tuple(_functions(tokens, *target))
    schema = f"({rest}" if opened else ""
    line = tokens.items[bracket].line
    yield Registration(via, before or namespace, name, schema, key, functions, line, body, taken)


def _string(tokens: Tokens, start: int, end: int) -> str:
    """The text of an argument; literals side by side are one."""
    return "".join(token.text for token in tokens.items[start:end] if token.kind == "string")


def _lambda(tokens: Tokens, start: int, end: int) -> tuple[int, tuple[Parameter, ...]]:
    """Where a lambda's first statement is, and its parameters; 0 where the argument is none."""
    opener = next((at for at in range(start, end) if tokens.items[at].text == "["), None)
    if opener is None or tokens.items[max(opener - 1, 0)].kind == "name":
        return 0, ()
    brace = next((at for at in range(opener, end) if tokens.items[at].text == "{"), None)
    if brace is None:
        return 0, ()
    bracket = tokens.partner.get(opener, opener) + 1
    taken = parameters(tokens, bracket) if tokens.items[bracket].text == "(" else ()
    return tokens.items[min(brace + 1, end - 1)].line, taken


def _functions(tokens: Tokens, start: int, end: int) -> Iterator[str]:
    """Qualified names in an argument: those behind an ``&`` first, then others, the innermost first."""
    found: list[tuple[bool, str]] = []
    index = start
    while index < end:
        token = tokens.items[index]
        if token.kind != "name":
            index += 1
            continue
        referenced = tokens.items[index - 1].text == "&" and index > start
        parts = [token.text]
        while index + 2 < end and tokens.items[index + 1].text == "::":
            index += 2
            parts.append(tokens.items[index].text)
        if not _WRAPPER.search(parts[-1]):
            found.append((referenced, "::".join(parts)))
        index += 1
    yield from (name for referenced, name in found if referenced)
    yield from (name for referenced, name in reversed(found) if not referenced)
