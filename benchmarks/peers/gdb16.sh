#!/bin/bash
# Brings gdb 16 beside the system's gdb, as the peer that speaks DAP itself; prints the path of a gdb to run.
# Usage: gdb16.sh DIR. From Debian 13's packages, unpacked below DIR and run with their own C library: nothing of the
# system changes, and no root is needed. Exits with 3 and one line on standard error where it cannot be had.
set -euo pipefail

dir="$(mkdir -p "$1" && cd "$1" && pwd)"
release=trixie

not_available() {
  echo "gdb 16 is not available: $*" >&2
  exit 3
}

speaks_dap() { # speaks_dap GDB: 14 has the first version of it, 16 one that attaches in order
  local version
  version="$("$1" --version 2>/dev/null | sed -n '1s/.* \([0-9]*\)\..*/\1/p')"
  [ "${version:-0}" -ge 16 ]
}

mirror() { # the mirror that this machine takes Debian's packages from, or Debian's own
  local uri
  uri="$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' 2>/dev/null | head -n 1)"
  echo "${uri:-http://deb.debian.org/debian/}"
}

private_apt() { # apt-get with a state, a cache and a source list of its own
  apt-get -qq -o Dir::State="$dir/apt" -o Dir::State::status="$dir/apt/status" -o Dir::Cache="$dir/apt/cache" \
    -o Dir::Etc::sourcelist="$dir/apt/sources.list" -o Dir::Etc::sourceparts=- -o APT::Sandbox::User="$(id -un)" \
    -o Debug::NoLocking=1 "$@" >"$dir/log" 2>&1
}

unpack() {
  local package
  mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial"
  : >"$dir/apt/status" # nothing is installed there: every library comes along, the C library too
  echo "deb [signed-by=$keyring] $(mirror) $release main" >"$dir/apt/sources.list"
  private_apt update || not_available "Debian 13's package list cannot be read: $(tail -n 1 "$dir/log")"
  private_apt install --download-only --no-install-recommends gdb ||
    not_available "its packages cannot be fetched: $(tail -n 1 "$dir/log")"
  for package in "$dir"/apt/cache/archives/*.deb; do
    dpkg-deb -x "$package" "$dir/root"
  done
  rm -rf "$dir/apt"
}

wrap() { # the loader of those packages runs their gdb, which finds its Python and its own files below root; a program does not
  cat >"$dir/gdb" <<'END'
#!/bin/sh
root="$(dirname "$(readlink -f "$0")")/root/usr"
export PYTHONHOME="$root"
exec "$root/lib64/ld-linux-x86-64.so.2" --library-path "$root/lib/x86_64-linux-gnu" "$root/bin/gdb" \
  --data-directory "$root/share/gdb" -iex "unset environment PYTHONHOME" "$@"
END
  chmod +x "$dir/gdb"
}

if speaks_dap gdb; then
  command -v gdb
  exit 0
fi
if ! speaks_dap "$dir/gdb"; then
  keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  [ "$(uname -m)" = x86_64 ] || not_available "only for x86-64, and this is $(uname -m)"
  for tool in apt-get dpkg-deb; do
    command -v "$tool" >/dev/null || not_available "there is no $tool here"
  done
  [ -e "$keyring" ] || not_available "Debian's keys are not here (package debian-archive-keyring)"
  rm -rf "$dir/root" "$dir/apt"
  unpack
  wrap
  speaks_dap "$dir/gdb" || not_available "what was unpacked does not run: $("$dir/gdb" --version 2>&1 | head -n 1)"
fi
echo "$dir/gdb"
