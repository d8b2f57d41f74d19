"""The table of docs/dap.md says what the adapter answers."""

from kit.paths import ROOT
from pyharness.dap import handlers  # noqa: F401  (registers every request)
from pyharness.dap.registry import CAPABILITIES

DOCS = ROOT / "docs" / "dap.md"


def test_the_documented_capabilities_are_the_adapters():
    rows = [line.split("|")[1:3] for line in DOCS.read_text().splitlines() if line.startswith("| `")]
    documented = {name.strip(" `") for name, ours in rows if ours.strip() == "yes"}
    assert documented == {name for name, value in CAPABILITIES.items() if value} | {"exceptionBreakpointFilters"}
