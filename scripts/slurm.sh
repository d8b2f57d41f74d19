#!/bin/bash
# Brings Slurm for tests, beside the system: the distribution's packages, unpacked below DIR, of which nothing is
# installed and no daemon is started; no root is needed. Prints the folder that they lie in, "/" for an installed one.
# Usage: slurm.sh DIR. Exits with 3 and one line on standard error where it cannot be had.
set -euo pipefail

dir="$(mkdir -p "$1" && cd "$1" && pwd)"
packages=(slurmctld slurmd slurm-client munge)

not_available() {
  echo "Slurm is not available: $*" >&2
  exit 3
}

private_apt() { # apt-get with lists and a cache of its own; what is installed here is not brought
  apt-get -qq -o Dir::State="$dir/apt" -o Dir::State::status=/var/lib/dpkg/status -o Dir::Cache="$dir/apt/cache" \
    -o APT::Sandbox::User="$(id -un)" -o Debug::NoLocking=1 "$@" >"$dir/log" 2>&1
}

unpack() {
  local package
  rm -rf "$dir/unpacked" "$dir/apt"
  mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial"
  private_apt update || not_available "the lists of packages cannot be read: $(tail -n 1 "$dir/log")"
  private_apt install --download-only --no-install-recommends "${packages[@]}" ||
    not_available "its packages cannot be fetched: $(tail -n 1 "$dir/log")"
  for package in "$dir"/apt/cache/archives/*.deb; do
    dpkg-deb -x "$package" "$dir/unpacked"
  done
  rm -rf "$dir/apt"
  mv "$dir/unpacked" "$dir/root"
}

is_installed() {
  local program
  for program in slurmctld slurmd srun munged; do
    PATH="$PATH:/usr/sbin" command -v "$program" >/dev/null || return 1
  done
}

if is_installed; then
  echo /
  exit 0
fi
if [ ! -d "$dir/root" ]; then
  for tool in apt-get dpkg-deb; do
    command -v "$tool" >/dev/null || not_available "there is no $tool here"
  done
  unpack
fi
echo "$dir/root"
