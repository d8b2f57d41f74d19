"""One frame of a stack that mixes Python and native code."""

from __future__ import annotations

from typing import Any, Literal

from pyharness.model.frozen import frozen

Language = Literal["python", "native"]


@frozen
class FxPlace:
    """What torch.fx knows of a generated line."""

    node: str
    """Name of the ``fx.Node`` whose statement this line is."""
    module: str | None
    """Path of the module that made the node (``""`` is the root), ``None`` where no module is recorded."""
    origin: str | None
    """``FILE:LINE`` of the user's source that made the node, ``None`` where it was not recorded."""

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return dict(vars(self))


@frozen
class AutogradNode:
    """The ``torch::autograd::Node`` that a native frame runs."""

    name: str
    """Demangled C++ class, as ``grad_fn.name()`` shows it, e.g. ``MulBackward0``."""
    sequence_number: int | None
    address: int


@frozen
class Frame:
    """A Python or native frame; ``file`` and ``line`` are ``None`` where nothing is known."""

    language: Language
    function: str
    file: str | None = None
    line: int | None = None
    fx: FxPlace | None = None
    autograd: AutogradNode | None = None
    library: str | None = None
    """Path of the shared library of a native frame."""
    address: int | None = None
    """Program counter of a native frame."""
    plumbing: bool = False
    """Interpreter, dispatcher, pybind11 or torch machinery that a user did not write; folded unless asked for."""
    variables: tuple[tuple[str, str], ...] = ()
    """Local variables as short text, where they were asked for."""

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints; the keys up to ``fx`` are a contract."""
        autograd = self.autograd
        return {
            "language": self.language,
            "function": self.function,
            "file": self.file,
            "line": self.line,
            "fx": self.fx.to_json() if self.fx else None,
            "autograd": {"name": autograd.name, "sequence_number": autograd.sequence_number} if autograd else None,
            "library": self.library,
            "plumbing": self.plumbing,
            **({"variables": dict(self.variables)} if self.variables else {}),
        }


def from_json(data: dict[str, Any]) -> Frame:
    """The frame that ``Frame.to_json`` wrote."""
    fx, autograd = data.get("fx"), data.get("autograd")
    return Frame(
        data["language"],
        data["function"],
        data["file"],
        data["line"],
        FxPlace(fx["node"], fx["module"], fx["origin"]) if fx else None,
        AutogradNode(autograd["name"], autograd["sequence_number"], 0) if autograd else None,
        data.get("library"),
        data.get("address"),
        plumbing=bool(data.get("plumbing")),
        variables=tuple(data.get("variables", {}).items()),
    )
