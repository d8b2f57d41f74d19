#!/bin/bash
# Brings libraries that keep the activations of a model, pinned, into a folder of their own; prints it.
# Usage: activations.sh DIR PYTHON. Exits with 3 and one line on standard error where they cannot be had. torch and numpy
# are those of PYTHON's environment, which is left as it is.
set -euo pipefail

dir="$(mkdir -p "$1" && cd "$1" && pwd)"
python="$2"
packages=(
  torchextractor==0.3.0 # the same job as ours, by hooks
  torchlens==2.36.1     # every op, the one that is kept best
  graphviz==0.21 pillow==13.0.0 safetensors==0.8.0 tqdm==4.70.1
)

if ! [ "$(cat "$dir/installed" 2>/dev/null)" = "${packages[*]}" ]; then
  rm -rf "$dir/packages"
  "$python" -m pip install --quiet --no-deps --target "$dir/packages" "${packages[@]}" 2>"$dir/log" || {
    echo "torchextractor and torchlens are not available: $(tail -n 1 "$dir/log")" >&2
    exit 3
  }
  echo "${packages[*]}" >"$dir/installed"
fi
echo "$dir/packages"
