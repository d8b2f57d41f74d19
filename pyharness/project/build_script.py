"""``debugging/build.sh``: a build without optimization beside the release one, whatever flags the project asks for.

With a word behind it, it builds for a sanitizer: ``pyharness run --asan`` finds that build.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyharness.project.kinds import Kind, Project

_FOLDERS = "build/pyharness-"
FOLDER = f"{_FOLDERS}debug"
_HEAD = """#!/bin/sh
# Builds {name} for debugging into {folder}; your other builds stay as they are.
# `build.sh asan|ubsan|tsan` builds for a sanitizer, into {folders}asan: `pyharness run --asan` runs that build.
# Made by `pyharness init`, yours to change. PYHARNESS_PYTHON, CC and CXX choose what it builds with.
set -eu
kind=${{1:-debug}}
[ $# -lt 2 ] || kind=$*
case $kind in
  debug) flags='-O0 -g' ;;
  asan) flags='-O1 -g -fno-omit-frame-pointer -fsanitize=address' ;;
  ubsan) flags='-O1 -g -fno-omit-frame-pointer -fsanitize=undefined -fno-sanitize=vptr' ;;
  tsan) flags='-O1 -g -fno-omit-frame-pointer -fsanitize=thread' ;;
  *) echo "usage: $0 [asan|ubsan|tsan]" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."
{room}named=${{PYHARNESS_PYTHON:-{python}}}
python=$(command -v "$named") || {{ echo "There is no $named: set PYHARNESS_PYTHON." >&2; exit 1; }}
case $python in /*) ;; *) python=$PWD/$python ;; esac
"$python" -c 'import torch' 2>/dev/null ||
  {{ echo "$python cannot import torch: activate your environment, or set PYHARNESS_PYTHON." >&2; exit 1; }}
debug=$PWD/{folders}$kind
PATH=$(dirname "$python"):$PATH  # cmake and ninja of its environment
mkdir -p "$debug/bin"
echo '*' > "$debug/.gitignore"

# Compilers that leave out what hinders a debugger (-O3, -s, -DNDEBUG, ...), whichever file of the project asks for it.
compiler() {{
  cat > "$debug/bin/$1" <<END
#!/bin/sh
for word do
  shift
  case \\$word in
    -O|-O[0-9sgz]*|-Ofast|-flto*|-g0|-s|-Wl,-s|-Wl,-S|-Wl,--strip*) ;;
    -DNDEBUG|-D_FORTIFY_SOURCE*|-Wp,-D_FORTIFY_SOURCE*) ;;
    *) set -- "\\$@" "\\$word" ;;
  esac
done
exec $2 "\\$@" $flags -UNDEBUG -U_FORTIFY_SOURCE
END
  chmod +x "$debug/bin/$1"
}}
compiler cc "${{CC:-cc}}"
compiler c++ "${{CXX:-c++}}"
export CC="$debug/bin/cc" CXX="$debug/bin/c++"
"""
_LINKS = """
# Python files of the build become links to yours: breakpoints in yours hold, and an edit needs no build.
"$python" - "$debug/lib" <<'END'
import sys
from pathlib import Path
for copy in Path(sys.argv[1]).rglob("*.py"):
    for folder in ("", "src", "python", "lib"):
        own = Path(folder, copy.relative_to(sys.argv[1])).absolute()
        if own.is_file() and not copy.is_symlink() and own.read_bytes() == copy.read_bytes():
            copy.unlink()
            copy.symlink_to(own)
END
"""
_ROOM = """case $PWD in *' '*|*"'"*|*'"'*)
  echo "setuptools cannot build in $PWD: it splits names of compilers at spaces and quotes. Use a path without." >&2
  exit 1 ;;
esac
"""
_SETUPTOOLS = """
"$python" setup.py -q egg_info --egg-base "$debug" \\
  build --build-base "$debug" --build-lib "$debug/lib" --build-temp "$debug/temp"
"""
_CMAKE = """
"$python" -c 'import torch; print(torch.utils.cmake_prefix_path)' > "$debug/torch"
cmake -S {source} -B "$debug/cmake" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_PREFIX_PATH="$(cat "$debug/torch")" \\
  -DPython_EXECUTABLE="$python" -DPython3_EXECUTABLE="$python"{options}
cmake --build "$debug/cmake" --parallel "${{MAX_JOBS:-$(nproc)}}"
"""
_SCIKIT = """
"$python" -c 'import scikit_build_core' ||
  { echo "Install scikit-build-core, cmake and ninja for $python: the build uses your environment." >&2; exit 1; }
export CMAKE_PREFIX_PATH="$("$python" -c 'import torch; print(torch.utils.cmake_prefix_path)'):${CMAKE_PREFIX_PATH:-}"
"$python" -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --upgrade \\
  --target "$debug/lib" -C cmake.build-type=Debug -C install.strip=false -C build-dir="$debug/cmake" .
"""
_JIT = """
# torch.utils.cpp_extension builds when the program calls it: there, with these compilers, once these are exported.
export TORCH_EXTENSIONS_DIR="$debug/torch_extensions"
mkdir -p "$TORCH_EXTENSIONS_DIR"
if [ "$kind" != debug ]; then  # nothing that needs a sanitizer's runtime loads without it
  echo "CC='$CC' CXX='$CXX' TORCH_EXTENSIONS_DIR='$TORCH_EXTENSIONS_DIR' \\\\"
  echo "  pyharness run --$kind --runtime '$(c++ -print-file-name="lib$kind.so")' {script}"
  exit
fi
"$python" -c 'import runpy, sys; runpy.run_path(sys.argv[1])' {script}
"""


def text(project: Project, python: str, script: str) -> str:
    """The whole script; ``python`` is the interpreter as a person of the project calls it.

    ``script`` is the one that calls the op: where torch builds at run time, running it is the build.
    """
    name = re.sub(r"[^\w.-]", "_", project.name)
    room = _ROOM if project.kind == "setuptools" else ""
    head = _HEAD.format(room=room, name=name, folder=FOLDER, folders=_FOLDERS, python=shlex.quote(python))
    return head + _body(project, script)


def cannot_build(project: Project) -> str:
    """Why this script cannot build the project where it is, as the script says it; empty where it can."""
    if project.kind == "setuptools" and set(str(project.root)) & set(" '\""):
        return (
            f"setuptools cannot build in {project.root}: it splits names of compilers at spaces and quotes."
            " Use a path without."
        )
    return ""


def _body(project: Project, script: str) -> str:
    if project.kind == "setuptools":
        return _SETUPTOOLS + _LINKS
    if project.kind == "scikit-build-core":
        return _SCIKIT + _LINKS
    if project.kind == "cmake":
        options = "".join(f' \\\n  "{option}"' for option in project.options)
        return _CMAKE.format(source=shlex.quote(project.cmake_folder), options=options)
    return _JIT.format(script=shlex.quote(script))


def libraries(kind: Kind) -> str:
    """The folder below which a debug build leaves them, each once."""
    inside = {"cmake": "cmake", "jit": "torch_extensions"}.get(kind, "lib")
    return f"{FOLDER}/{inside}"


def environment(kind: Kind, folder: str) -> dict[str, str]:
    """What a program of theirs runs with to take the debug build; ``folder`` is how the project's folder is written."""
    debug = f"{folder}/{FOLDER}"
    if kind == "jit":
        return {
            "TORCH_EXTENSIONS_DIR": f"{debug}/torch_extensions",
            "CC": f"{debug}/bin/cc",
            "CXX": f"{debug}/bin/c++",
        }
    return {"PYTHONPATH": f"{debug}/lib"} if kind in {"setuptools", "scikit-build-core"} else {}
