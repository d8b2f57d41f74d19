#!/bin/bash
# Brings what torch's debug server and the analyzer of its flight recorder import and run, pinned, into a folder of their
# own; prints it. Usage: debug_server.sh DIR PYTHON. Exits with 3 and one line on standard error where they cannot be had.
# torch is that of PYTHON's environment, and has jinja2 with it.
set -euo pipefail

dir="$(mkdir -p "$1" && cd "$1" && pwd)"
packages=(tabulate==0.9.0 requests==2.32.5 py-spy==0.4.3)

if ! [ "$(cat "$dir/installed" 2>/dev/null)" = "${packages[*]}" ]; then
  rm -rf "$dir/packages"
  "$2" -m pip install --quiet --target "$dir/packages" "${packages[@]}" 2>"$dir/log" || {
    echo "what torch's debug server needs is not available: $(tail -n 1 "$dir/log")" >&2
    exit 3
  }
  echo "${packages[*]}" >"$dir/installed"
fi
echo "$dir/packages"
