#!/bin/bash
# Brings facebookresearch's jacobian_regularizer from its GitHub source, at a pinned commit (it is on no index: the
# package "jacobian" there is another one); prints the folder to import "jacobian" from.
# Usage: jacobian_regularizer.sh DIR [PYTHON]. Exits with 3 and one line on standard error where it cannot be had. Where
# GitHub cannot be reached, git's own setting url.BASE.insteadOf takes the clone from a mirror.
set -euo pipefail

dir="$(mkdir -p "$1" && cd "$1" && pwd)"
commit=32bb044c4c0163c908ef3c166d07d4ab2a248e07
source=https://github.com/facebookresearch/jacobian_regularizer

not_available() {
  echo "facebookresearch/jacobian_regularizer is not available: $*" >&2
  exit 3
}

if ! [ -e "$dir/source/jacobian/jacobian.py" ]; then
  command -v git >/dev/null || not_available "there is no git here"
  rm -rf "$dir/source"
  git -c advice.detachedHead=false clone --quiet "$source" "$dir/source" 2>"$dir/log" ||
    not_available "its source cannot be cloned: $(tail -n 1 "$dir/log")"
  git -C "$dir/source" checkout --quiet "$commit" 2>"$dir/log" ||
    not_available "it has no commit $commit: $(tail -n 1 "$dir/log")"
fi
echo "$dir/source"
