# The native half; use pyharness.native.

from typing import Any

torch_version: str

def build_info() -> dict[str, Any]: ...
