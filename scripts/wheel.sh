#!/usr/bin/env bash
# Builds the Python wheel of a platform from the commit that is checked out, and prints its path:
#
#   scripts/wheel.sh linux_amd64 [FOLDER]
#   scripts/wheel.sh here                    this machine's platform
#   scripts/wheel.sh here FOLDER --fast      compressed less, for tests of its contents
#
# FOLDER is dist/ by default. Platforms are linux, darwin and windows, each with _amd64 and _arm64. The wheel is the same
# file as scripts/release.sh writes with the same flag: the program for that platform and the modules of python/dptrain.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
platform=${1:?a platform, such as linux_amd64, or here}
out=${2:-$root/dist}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if [[ $platform == here ]]; then platform=$(go env GOHOSTOS)_$(go env GOHOSTARCH); fi
"$root/scripts/release.sh" --only "$platform" --out "$folder/dist" "${@:3}" >&2
mkdir -p "$out"
for wheel in "$folder"/dist/*.whl; do
  name=$(basename "$wheel")
  mv "$wheel" "$out/.$name.part"
  mv "$out/.$name.part" "$out/$name"
  printf '%s\n' "$out/$name"
done
