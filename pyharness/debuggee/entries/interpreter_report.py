"""Asked of the user's interpreter by ``python -c``: what it is, what is installed; imports neither torch nor debugpy.

Standard library only. ``sys.argv[1:]``: the project, then module names.
"""

import importlib.util
import json
import os
import platform
import sys
import sysconfig
from collections.abc import Iterator
from importlib import metadata

project, modules = os.path.realpath(sys.argv[1]), sys.argv[2:]


def package(name: str) -> dict[str, str]:
    """Version and file of an installed package."""
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        version = ""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        spec = None
    return {"version": version, "file": (spec.origin or "") if spec else ""}


def origin(name: str) -> dict[str, str]:
    """The file of a module, or why there is none."""
    try:
        spec = importlib.util.find_spec(name)
    except Exception as error:  # noqa: BLE001  (the user's own package is imported for a submodule)
        return {"error": f"{type(error).__name__}: {error}"}
    return {"file": spec.origin or ""} if spec else {"error": f"no module named {name!r}"}


def installed() -> Iterator[str]:
    """Files of extension modules that were installed from the project's folder."""
    for distribution in metadata.distributions():
        try:
            url = json.loads(distribution.read_text("direct_url.json") or "{}").get("url", "")
        except ValueError:
            continue
        if url.startswith("file://") and os.path.realpath(url[7:]) == project:
            for file in distribution.files or ():
                if file.name.endswith(".so"):
                    yield str(file.locate())


def mapped() -> str:
    """The file that the interpreter's code is in: its own, or libpython."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:  # noqa: PTH123
        paths = [line[line.index("/") :].strip() for line in maps if "/" in line]
    return next((path for path in paths if "/libpython" in path), os.path.realpath(sys.executable))


packages = {name: package(name) for name in ("pyharness", "torch", "debugpy")}
namesake = packages["pyharness"]["version"]  # ours is pyharness-debugger
packages["pyharness"]["version"] = package("pyharness-debugger")["version"]
sys.path.insert(0, "")  # the person's own modules may lie in the current folder
print(
    "pyharness-doctor: "
    + json.dumps(
        {
            "version": platform.python_version(),
            "implementation": platform.python_implementation(),
            "executable": sys.executable,
            "runtime": mapped(),
            "suffix": sysconfig.get_config_var("EXT_SUFFIX") or "",
            "gil": not sysconfig.get_config_var("Py_GIL_DISABLED"),
            "debug": hasattr(sys, "gettotalrefcount"),
            "packages": packages,
            "namesake": namesake,
            "modules": {name: origin(name) for name in modules},
            "installed": sorted(installed()),
        }
    )
)
