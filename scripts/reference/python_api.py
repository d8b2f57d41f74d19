"""docs/reference/python*.md: functions, classes and their members, from signatures and docstrings."""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from typing import TYPE_CHECKING, Any

from markdown import fenced, indented, prose
from python_names import with_a_place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from python_names import Page

_WIDTH = 100


def page(asked: Page) -> Iterator[str]:
    """The page."""
    module = importlib.import_module(asked.module)
    own = set(getattr(module, "__all__", ()))
    yield from (f"# {asked.module}", "")
    yield from prose(inspect.getdoc(module) or "")
    yield from (f"Explained in {asked.guide}.", "")
    returned = False
    for name, value in asked.names().items():
        if name not in own and not returned:
            returned = True
            yield from ("## What these return", "")
        yield from _entry(name, value, 3 if returned else 2)


def undocumented(asked: Page) -> list[str]:
    """Public names without a docstring: functions, classes, their methods and properties."""
    found = []
    for name, value in asked.names().items():
        found += [] if _doc(value) else [f"{asked.module}.{name}"]
        if inspect.isclass(value):
            found += [f"{asked.module}.{name}.{member}" for member, each in _members(value) if not _doc(each)]
    return found


def _entry(name: str, value: Any, level: int) -> Iterator[str]:
    yield from (f"{'#' * level} {name}", "")
    if inspect.isclass(value):
        yield from fenced([_class_line(name, value)], "python")
        yield from prose(_doc(value))
        yield from _class(value)
    else:
        yield from fenced(_signature(name, value), "python")
        yield from prose(_doc(value))


def _class_line(name: str, value: type) -> str:
    bases = [base.__name__ for base in value.__bases__ if base is not object]
    return f"class {name}({', '.join(bases)})" if bases else f"class {name}"


def _class(value: type) -> Iterator[str]:
    """Fields with what is written below them, then methods and properties."""
    for name, (kind, text) in _fields(value).items():
        yield f"- `{name}: {kind}`"
        yield from ("", *indented(prose(text))) if text else [""]
    for name, member in _members(value):
        if isinstance(member, property):
            returned = inspect.signature(member.fget).return_annotation if member.fget else ""
            yield f"- `{name}: {returned}`"
        else:
            yield f"- `{_one_line(_signature(name, member))}`"
        yield from ("", *indented(prose(_doc(member))))


def _fields(value: type) -> dict[str, tuple[str, str]]:
    """Annotated fields of a class and of those of ours that it derives from: name → type, text below it."""
    found: dict[str, tuple[str, str]] = {}
    for each in reversed(_ours(value)):
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(each))).body
        body = definition.body if isinstance(definition, ast.ClassDef) else []
        for statement, after in zip(body, [*body[1:], ast.Pass()], strict=True):
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                name = statement.target.id
                text = ast.literal_eval(after.value) if isinstance(after, ast.Expr) and _is_text(after) else ""
                if not name.startswith("_"):
                    found[name] = (ast.unparse(statement.annotation), inspect.cleandoc(text))
    return found


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _members(value: type) -> list[tuple[str, Any]]:
    """Public methods and properties that are written in our classes."""
    found: dict[str, Any] = {}
    for each in reversed(_ours(value)):
        for name, member in vars(each).items():
            unbound = getattr(member, "__func__", member)
            if not name.startswith("_") and (isinstance(member, property) or inspect.isfunction(unbound)):
                found[name] = unbound
    return list(found.items())


def _ours(value: type) -> list[type]:
    """The class and those of ours that it derives from, up to the first that has an entry of its own."""
    ours = [each for each in value.__mro__ if each.__module__.startswith("pyharness")]
    known = [at for at, each in enumerate(ours) if at and each in with_a_place()]
    return ours[: known[0]] if known else ours


def _doc(value: Any) -> str:
    """The value's own docstring, also where it is an object that is called: a registered transform, say."""
    if inspect.isclass(value):
        return inspect.cleandoc(vars(value).get("__doc__") or "")
    return inspect.getdoc(value) or ""


class _Written:
    """An annotation as it is written in the source."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _signature(name: str, value: Callable[..., Any]) -> list[str]:
    """``NAME(parameters) -> type``, broken into lines where it is long."""
    signature = inspect.signature(value)
    parameters = [each.replace(annotation=_written(each.annotation)) for each in signature.parameters.values()]
    parameters = [each for each in parameters if each.name != "self"]
    signature = signature.replace(parameters=parameters, return_annotation=_written(signature.return_annotation))
    whole = f"{name}{signature}"
    if len(whole) <= _WIDTH:
        return [whole]
    texts = _parameter_texts(signature)
    return [f"{name}(", *(f"    {text}," for text in texts), f"){whole[whole.rindex(')') + 1 :]}"]


def _one_line(signature: list[str]) -> str:
    return " ".join(line.strip() for line in signature).replace("( ", "(").replace(", )", ")")


def _parameter_texts(signature: inspect.Signature) -> Iterator[str]:
    keyword_only = False
    for each in signature.parameters.values():
        if each.kind is each.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            if not any(other.kind is each.VAR_POSITIONAL for other in signature.parameters.values()):
                yield "*"
        yield str(each)


def _written(annotation: Any) -> Any:
    return _Written(annotation) if isinstance(annotation, str) else annotation
