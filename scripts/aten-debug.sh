#!/bin/bash
# Compiles chosen C++ files of PyTorch without optimization and with debug information, against the torch that is installed, into
# one library that takes their place where LD_PRELOAD names it. Minutes, instead of the hours of all of PyTorch.
# Usage: aten-debug.sh SOURCES FILE...   SOURCES: PyTorch's sources, of the installed version; FILE: from there
set -euo pipefail

if [ $# -lt 2 ]; then
  sed -n '2,4s/^# //p' "$0" >&2
  exit 2
fi
sources="$(cd "$1" && pwd)"
shift
files=()
for file in "$@"; do
  if [ ! -f "$sources/$file" ]; then
    echo "There is no $file in $sources: name it from there, as in aten/src/ATen/native/Linear.cpp." >&2
    exit 2
  fi
  files+=("$sources/$file")
done

python="${PYHARNESS_PYTHON:-.venv/bin/python}"
torch="$("$python" -c 'import importlib.util; print(importlib.util.find_spec("torch").submodule_search_locations[0])')"
version="$(sed -n "s/^__version__ = '\([0-9.]*\).*/\1/p" "$torch/version.py")"
if [ -f "$sources/version.txt" ] && [[ "$(cat "$sources/version.txt")" != "$version"* ]]; then
  echo "Note: the sources are $(cat "$sources/version.txt"), the torch that is installed is $version." >&2
fi

# The wheel has most headers; what it lacks is looked for in the sources last, so that what it has is what it was built with.
mkdir -p build/aten
library="$PWD/build/aten/libaten_debug.so"
"${CXX:-g++}" -std=c++20 -O0 -g -fPIC -shared -Wl,-rpath,"$torch/lib" -L"$torch/lib" -o "$library" \
  -DAT_PER_OPERATOR_HEADERS -I"$torch/include" -I"$torch/include/torch/csrc/api/include" \
  -idirafter "$sources/aten/src" -idirafter "$sources" "${files[@]}" -ltorch_cpu -lc10
echo "LD_PRELOAD=$library"
