"""What ``pyharness.fx`` exports is what is imported, whatever was imported before."""

import importlib.util

import pytest

import pyharness.fx


@pytest.mark.parametrize("name", pyharness.fx.__all__)  # type: ignore[attr-defined]
def test_no_module_hides_a_public_name(name):
    """Importing a submodule puts it into its package, in place of what the package's table promises."""
    assert importlib.util.find_spec(f"pyharness.fx.{name}") is None
    assert type(getattr(pyharness.fx, name)).__name__ != "module"
