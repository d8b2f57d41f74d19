#!/bin/bash
# Installs what package.json pins into DIR, and Node.js where root may; quick when it is there. Usage: install.sh DIR
# Exits with 3 and one line on standard error where it cannot be had.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
wanted="$(sha256sum <"$here/package.json")"

not_available() {
  echo "$*" >&2
  exit 3
}

mkdir -p "$1"
cd "$1"
exec 9>lock
flock 9 # two at once: the second waits, and finds it done
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] ||
    not_available "There is no Node.js with npm. On Debian or Ubuntu: sudo apt-get install nodejs npm"
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nodejs npm; } \
    >log 2>&1 || not_available "Node.js cannot be installed: $(tail -n 1 log)"
fi
if [ "$(cat installed 2>/dev/null)" != "$wanted" ]; then
  cp "$here/package.json" .
  npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts >log 2>&1 ||
    not_available "DebugClient cannot be installed from npm: $(tail -n 1 log)"
  echo "$wanted" >installed
fi
