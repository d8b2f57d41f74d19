"""What is a set in a function's source, as far as its text says so."""

from __future__ import annotations

import ast
import copy
import re

_MAKERS = frozenset({"set", "frozenset"})
_METHODS = frozenset({"union", "intersection", "difference", "symmetric_difference", "copy"})
_VIEWS = frozenset({"keys", "items"})
_OPERATORS = (ast.BitOr, ast.BitAnd, ast.Sub, ast.BitXor)
_ANNOTATION = re.compile(r"^(typing\.|collections\.abc\.|t\.)?(frozen|Frozen|Mutable|Abstract)?[sS]et\b")
_OF_SETS = re.compile(
    r"^(typing\.|collections\.)?([dD]ict|[dD]efaultdict|DefaultDict|Mapping)\[.*,\s*(frozen|Frozen)?[sS]et\b"
)


class Sets:
    """Knows which expressions are sets: a name is one where the assignment above it says so."""

    def __init__(self, tree: ast.Module) -> None:
        self._names = _Names()
        functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
        self._returning = {
            each.name for each in functions if each.returns and _ANNOTATION.match(ast.unparse(each.returns))
        }
        for statement in tree.body:
            self._learn(statement)
        for each in ast.walk(tree):  # attributes that any method assigns
            if isinstance(each, (ast.Assign, ast.AnnAssign)) and self._assigns_attribute(each):
                self._learn(each)
        self._returning |= {each.name for each in functions if self._returns(each)}

    def within(self, function: ast.AST) -> Sets:
        """A copy that also knows the names of ``function``."""
        made = copy.copy(self)
        made._names = self._names.copied()  # noqa: SLF001
        made._learn_all(function)  # noqa: SLF001
        return made

    def _returns(self, function: ast.FunctionDef) -> bool:
        inner = self.within(function)
        return any(isinstance(e, ast.Return) and e.value and inner.is_set(e.value) for e in ast.walk(function))

    def _learn_all(self, function: ast.AST) -> None:
        arguments = getattr(function, "args", None)
        if isinstance(arguments, ast.arguments):
            for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                self._names.note(argument.arg, argument.annotation)
        for _ in range(2):  # what is assigned from what is assigned further down, in a loop
            for each in ast.walk(function):
                if isinstance(each, (ast.stmt, ast.comprehension, ast.NamedExpr)):
                    self._learn(each)

    @staticmethod
    def _assigns_attribute(statement: ast.Assign | ast.AnnAssign) -> bool:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return any(isinstance(target, ast.Attribute) for target in targets)

    def _learn(self, each: ast.AST) -> None:
        if isinstance(each, ast.Assign):
            for target in each.targets:
                self._bind(target, each.value)
        elif isinstance(each, ast.AnnAssign):
            self._names.note(_dotted(each.target), each.annotation)
        elif isinstance(each, ast.NamedExpr):
            self._bind(each.target, each.value)
        elif isinstance(each, (ast.For, ast.comprehension)):
            self._bind_item(each.target, each.iter)

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            pairs = list(zip(target.elts, value.elts, strict=True))
        for one, other in pairs:
            if isinstance(one, (ast.Name, ast.Attribute)):
                self._names.add(one, is_set=self.is_set(other))
            if self._holds_sets(other):
                self._names.holders.add(_dotted(one))

    def _bind_item(self, target: ast.expr, source: ast.expr) -> None:
        """The loop variable of what holds sets is one."""
        if not (isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute)):
            return
        if self._holds_sets(source.func.value):
            if source.func.attr == "values":
                self._names.add(target, is_set=True)
            elif source.func.attr == "items" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
                self._names.add(target.elts[1], is_set=True)

    def is_set(self, value: ast.expr) -> bool:  # noqa: PLR0911  (a case each)
        """Whether the value is a set, or can be."""
        if isinstance(value, (ast.Set, ast.SetComp)):
            return True
        if isinstance(value, (ast.Name, ast.Attribute)):
            return self._names.is_set(value)
        if isinstance(value, ast.Subscript):
            return self._holds_sets(value.value)
        if isinstance(value, ast.IfExp):
            return self.is_set(value.body) or self.is_set(value.orelse)
        if isinstance(value, ast.BoolOp):
            return any(map(self.is_set, value.values))
        if isinstance(value, ast.BinOp) and isinstance(value.op, _OPERATORS):
            return any(self.is_set(side) or _is_view(side) for side in (value.left, value.right))
        return isinstance(value, ast.Call) and self._gives_set(value)

    def _gives_set(self, call: ast.Call) -> bool:
        name = called(call)
        if isinstance(call.func, ast.Attribute) and name in _METHODS:
            return self.is_set(call.func.value)
        if isinstance(call.func, ast.Attribute) and name in {"get", "setdefault", "pop"}:
            return self._holds_sets(call.func.value)
        return name in _MAKERS or name in self._returning

    def _holds_sets(self, value: ast.expr) -> bool:
        """Whether it is a mapping whose values are sets."""
        if isinstance(value, (ast.Name, ast.Attribute)):
            return _dotted(value) in self._names.holders
        if isinstance(value, ast.Dict):
            return bool(value.values) and all(each is not None and self.is_set(each) for each in value.values)
        if isinstance(value, ast.DictComp):
            return self.is_set(value.value)
        default = (
            value.args[0] if isinstance(value, ast.Call) and called(value) == "defaultdict" and value.args else None
        )
        return isinstance(default, ast.Name) and default.id in _MAKERS


class _Names:
    """Dotted names that are sets, by the line where they become so, and those of mappings whose values are."""

    def __init__(self) -> None:
        self._sets: dict[str, dict[int, bool]] = {}
        self.holders: set[str] = set()

    def copied(self) -> _Names:
        """What is known in the file holds in every line of a function."""
        made = _Names()
        made._sets = {name: {0: any(lines.values())} for name, lines in self._sets.items()}
        made.holders = set(self.holders)
        return made

    def add(self, target: ast.expr, *, is_set: bool) -> None:
        """From the line of ``target`` on it is a set, or something else."""
        self._sets.setdefault(_dotted(target), {})[target.lineno] = is_set

    def is_set(self, value: ast.expr) -> bool:
        """By the last assignment above; one further down counts where there is none above (in a loop)."""
        lines = self._sets.get(_dotted(value), {})
        above = [line for line in lines if line < value.lineno]
        return lines[max(above)] if above else any(lines.values())

    def note(self, name: str, annotation: ast.expr | None) -> None:
        """A name that is annotated."""
        text = ast.unparse(annotation).strip("'\"") if annotation is not None else ""
        if _ANNOTATION.match(text):
            self._sets.setdefault(name, {})[0] = True
        if _OF_SETS.match(text):
            self.holders.add(name)


def _dotted(value: ast.expr) -> str:
    return ast.unparse(value) if isinstance(value, (ast.Name, ast.Attribute)) else ""


def called(call: ast.Call) -> str:
    """The last name of what is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _is_view(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _VIEWS
