#!/bin/bash
# Makes sure of what pip cannot bring: a compiler, gdb, make, the interpreter's headers and venv. Installs only what is missing,
# and only as root with apt-get; otherwise prints the line to run. Usage: system-packages.sh PYTHON
set -euo pipefail

python="$1"
missing=()

need() { # need PACKAGE COMMAND...: the package, unless the command succeeds
  local package="$1"
  shift
  "$@" >/dev/null 2>&1 || missing+=("$package")
}

if ! command -v "$python" >/dev/null && [ "$python" != python3 ]; then
  echo "There is no $python: name Python 3.10 or newer with PYTHON=..." >&2
  exit 1
elif command -v "$python" >/dev/null; then
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || {
    echo "$python ($("$python" --version 2>&1)) is not Python 3.10 or newer; name another with PYTHON=..." >&2
    exit 1
  }
  need python3-dev "$python" -c 'import os, sysconfig; os.stat(sysconfig.get_paths()["include"] + "/Python.h")'
  need python3-venv "$python" -c 'import ensurepip, venv'
else
  missing+=(python3 python3-dev python3-venv)
fi
need g++ command -v g++
need gdb command -v gdb
need binutils command -v objcopy
need git command -v git
need procps command -v ps
need make command -v make

if [ "${#missing[@]}" = 0 ]; then
  exit 0
fi
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
else
  echo "Missing: ${missing[*]}. Install them, then run make again. On Debian or Ubuntu:" >&2
  echo "  sudo apt-get install ${missing[*]}" >&2
  exit 1
fi
