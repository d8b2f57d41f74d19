"""Has debugpy show torch's objects as gdb's side does: registered in pydevd's extension API, in this process only.

Nothing here imports torch: what is shown is known by what the program itself has imported.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from pyharness.debuggee.bounded import told
from pyharness.debuggee.pydevd.values import safe_text
from pyharness.debuggee.shown.items import Child, Group, Line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_NAME = "pyharness_presentation"
_MAX_CHILDREN = 2000
_VERBATIM = frozenset({"repl", "clipboard"})


class _Shown(NamedTuple):
    """How objects of a type are shown."""

    text: Callable[[Any], str]
    children: Callable[[Any], Iterable[Child]] | None


def _presenter(kind: type) -> _Shown | None:
    """How objects of ``kind`` are shown, ``None`` where pydevd shows them."""
    if kind is Group:
        return _Shown(lambda group: str(group.text), lambda group: group.children())
    if kind is Line:
        return _Shown(str, None)
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "Tensor"):  # or half imported
        return None
    return _of_torch(torch, kind)


def _of_torch(torch: Any, kind: type) -> _Shown | None:
    from pyharness.debuggee.shown import module as presentation_module
    from pyharness.debuggee.shown import node as presentation_node
    from pyharness.debuggee.shown import tensor as presentation_tensor

    if issubclass(kind, torch.Tensor):
        return _Shown(presentation_tensor.text, presentation_tensor.children)
    if hasattr(torch, "nn") and hasattr(torch.nn, "Module") and issubclass(kind, torch.nn.Module):
        return _Shown(presentation_module.module_text, presentation_module.module_children)
    fx = sys.modules.get("torch.fx.node")
    if fx is not None and hasattr(fx, "Node") and issubclass(kind, fx.Node):
        return _Shown(presentation_module.node_text, presentation_module.node_children)
    if presentation_node.is_node(kind):
        return _Shown(presentation_node.text, presentation_node.children)
    return None


def printed(value: Any) -> str:
    """``repr``, but for a tensor that would crash in it."""
    return safe_text.whole_text_of(value) if _prints_itself(value) else _Text().get_str(value)


def _prints_itself(value: Any) -> bool:
    """Whether Python may print a value: torch's own text of a tensor whose memory was given back kills the program."""
    from pyharness.debuggee.shown.tensor_reading import info_of

    torch = sys.modules.get("torch")
    if type(value) in {Line, Group}:
        return False
    if torch is None or not isinstance(value, torch.Tensor):
        return True
    info = info_of(value)
    return info.state == "defined" and (not info.unreadable or info.layout != "strided" or info.device == "meta")


class _Text:
    """pydevd's ``StrPresentationProvider``."""

    def can_provide(self, kind: type, _name: str) -> bool:
        return _presenter(kind) is not None

    def get_str(self, value: Any) -> str:
        """The line; never raises: pydevd would show nothing of the whole frame."""
        shown = _presenter(type(value))
        try:
            return shown.text(value) if shown else object.__repr__(value)
        except Exception as error:  # noqa: BLE001  (user code may raise anything)
            return f"<{safe_text.kind_of(value)} that cannot be shown: {told(error)}>"

    def get_str_in_context(self, value: Any, context: str) -> str | None:
        """The text in every view; ``None``, which is Python's own text, where a person asks for that."""
        return None if context in _VERBATIM and _prints_itself(value) else self.get_str(value)


class _Children:
    """pydevd's ``TypeResolveProvider``, as its adapter for DAP asks."""

    def can_provide(self, kind: type, _name: str) -> bool:
        shown = _presenter(kind)
        return shown is not None and shown.children is not None

    def get_contents_debug_adapter_protocol(self, value: Any, fmt: Any = None) -> list[tuple[str, Any, str | None]]:
        """Name, value and what follows the parent's expression, of each child."""
        del fmt
        return [(child.name, child.value, child.suffix) for child in self._children(value)]

    def get_dictionary(self, value: Any) -> dict[str, Any]:
        """The children by name, for pydevd's older clients."""
        return {child.name: child.value for child in self._children(value)}

    def resolve(self, value: Any, attribute: str) -> Any:
        """One child."""
        return self.get_dictionary(value).get(attribute)

    def _children(self, value: Any) -> list[Child]:
        shown = _presenter(type(value))
        found: list[Child] = []
        try:
            for child in shown.children(value) if shown and shown.children else ():
                if len(found) == _MAX_CHILDREN:
                    found.append(Child("…", Line("more than are listed")))
                    break
                found.append(child)
        except Exception as error:  # noqa: BLE001  (user code may raise anything)
            found.append(Child("…", Line(f"<{told(error)}>")))
        return found


def register() -> None:
    """Make debugpy show torch's objects; call it once debugpy is imported. Does nothing without its extension API."""
    try:
        from _pydevd_bundle import pydevd_extension_api, pydevd_extension_utils
    except ImportError:
        return
    if _NAME in sys.modules:
        return
    module: Any = ModuleType(_NAME)
    module.TensorText = type("TensorText", (_Text, pydevd_extension_api.StrPresentationProvider), {})
    module.TensorChildren = type("TensorChildren", (_Children, pydevd_extension_api.TypeResolveProvider), {})
    sys.modules[_NAME] = module
    manager: Any = pydevd_extension_utils.EXTENSION_MANAGER_INSTANCE
    manager._ensure_loaded()
    manager.loaded_extensions.insert(0, module)
    _show_in_containers()
    for kind, found in manager.type_to_instance.items():  # those that were asked for before
        found[:0] = [made() for made in (module.TensorText, module.TensorChildren) if issubclass(made, kind)]


def _show_in_containers() -> None:
    """Have lists and dicts show torch's objects alike, too: for that there is no extension API."""
    from _pydevd_bundle.pydevd_safe_repr import SafeRepr

    original = getattr(SafeRepr, "_repr_other", None)
    if original is None:
        return
    provider = _Text()

    def _repr_other(self: Any, value: Any, level: int) -> Iterable[str]:
        if level and _presenter(type(value)):
            return (provider.get_str(value),)
        shown: Iterable[str] = original(self, value, level)
        return shown

    SafeRepr._repr_other = _repr_other
