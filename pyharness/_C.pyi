# The native half; use pyharness.native.

from typing import Any

def build_info() -> dict[str, Any]: ...
