"""All tools: importing this registers them, in this order."""

from pyharness.mcp.tools import start  # isort: skip
from pyharness.mcp.tools import go  # isort: skip
from pyharness.mcp.tools import look  # isort: skip
from pyharness.mcp.tools import breakpoints  # isort: skip
from pyharness.mcp.tools import stack  # isort: skip
from pyharness.mcp.tools import graph  # isort: skip
from pyharness.mcp.tools import check  # isort: skip
from pyharness.mcp.tools import doctor  # isort: skip
from pyharness.mcp.tools import end  # isort: skip

__all__ = ["breakpoints", "check", "doctor", "end", "go", "graph", "look", "stack", "start"]
