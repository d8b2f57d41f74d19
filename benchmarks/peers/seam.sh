#!/bin/bash
# Brings Seam, pinned, the peer that also steps from Python into native code; prints the command to run.
# Usage: seam.sh DIR PYTHON. Into an environment below DIR, of PYTHON (3.12 or newer). It needs an LLDB with Python, of the
# distribution: exits with 3 and one line on standard error where that, or Seam, cannot be had. Where $SEAM names a command
# it is that one.
set -euo pipefail

dir="$(mkdir -p "$1" && cd "$1" && pwd)"
package=seam-debugger==0.1.2

not_available() {
  echo "Seam is not available: $*" >&2
  exit 3
}

if [ -n "${SEAM:-}" ]; then
  command -v "$SEAM" || not_available "there is no $SEAM, which \$SEAM names"
  exit 0
fi
lldb="${SEAM_LLDB:-$(command -v lldb-20 || command -v lldb-19 || command -v lldb || true)}"
[ -n "$lldb" ] || not_available "there is no LLDB here (Debian 12 and 13: lldb-19 and python3-lldb-19)"
"$lldb" --batch --no-lldbinit -o 'script print("has", "python")' 2>/dev/null | grep -q '^has python' ||
  not_available "$lldb has no Python (Debian: python3-lldb-19)"
if ! [ "$(cat "$dir/installed" 2>/dev/null)" = "$package $2" ]; then
  rm -rf "$dir/environment"
  { "$2" -m venv "$dir/environment" && "$dir/environment/bin/python" -m pip install --quiet "$package"; } \
    >"$dir/log" 2>&1 || not_available "$(tail -n 1 "$dir/log")"
  echo "$package $2" >"$dir/installed"
fi
echo "$dir/environment/bin/seam"
