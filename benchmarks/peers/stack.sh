#!/bin/bash
# Brings pystack and py-spy, pinned, as the peers that print stacks of a running process; prints the folder of both.
# Usage: stack.sh DIR PYTHON. Into an environment of their own below DIR, of the same Python; exits with 3 and one line on
# standard error where they cannot be had.
set -euo pipefail

dir="$(mkdir -p "$1" && cd "$1" && pwd)"
packages=(pystack==1.7.2 py-spy==0.4.3)

if ! [ "$(cat "$dir/installed" 2>/dev/null)" = "${packages[*]}" ]; then
  rm -rf "$dir/environment"
  { "$2" -m venv "$dir/environment" && "$dir/environment/bin/python" -m pip install --quiet "${packages[@]}"; } \
    >"$dir/log" 2>&1 || {
    echo "pystack and py-spy are not available: $(tail -n 1 "$dir/log")" >&2
    exit 3
  }
  echo "${packages[*]}" >"$dir/installed"
fi
echo "$dir/environment/bin"
