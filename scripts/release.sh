#!/usr/bin/env bash
# Builds what is published, from the commit that is checked out:
#
#   scripts/release.sh                   six platforms, into dist/
#   scripts/release.sh --here            this machine's platform only
#   scripts/release.sh --only darwin_arm64
#   scripts/release.sh --check           twice, in two folders; both must have the same hashes
#   scripts/release.sh --version v1.2.3  with a version that is no tag of the commit
#   scripts/release.sh --out FOLDER      another folder than dist/
#
# It writes archives, Python wheels, Debian packages, bills of materials and SHA256SUMS. The programs
# dptrain-spark and dptrain-sql, modules of their own, have archives and bills of their own. No archive has
# DuckDB: its library needs a compiler of C++ for each platform (docs/guide/databases.md). In
# bin/ are the programs alone, for the Containerfile. It needs Go and git.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

platforms=(linux_amd64 linux_arm64 darwin_amd64 darwin_arm64 windows_amd64 windows_arm64)
out=$root/dist version='' check=''
while (($#)); do
  case $1 in
  --here) platforms=("$(go env GOHOSTOS)_$(go env GOHOSTARCH)") ;;
  --only) platforms=("$2") && shift ;;
  --check) check=yes ;;
  --version) version=$2 && shift ;;
  --out) out=$2 && shift ;;
  *) printf 'release: unknown argument %s\n' "$1" >&2 && exit 2 ;;
  esac
  shift
done

if [[ -n $(git -C "$root" status --porcelain) ]]; then
  printf 'release: uncommitted changes are not part of it\n' >&2
fi

folders=$(mktemp -d)
trap 'rm -rf "$folders"' EXIT

# build SOURCE OUT makes everything from a clone of the commit, so that nothing else of this folder
# gets in. What Go takes from the environment is fixed.
build() {
  local source=$1 out=$2 platform
  git clone -q --no-hardlinks "$root" "$source"
  if [[ -n $version ]]; then git -C "$source" tag "$version"; fi
  mkdir -p "$out/bin"
  for platform in "${platforms[@]}"; do
    local suffix='' module
    if [[ $platform == windows_* ]]; then suffix=.exe; fi
    for module in . spark sql; do
      local name=dptrain-$module
      if [[ $module == . ]]; then name=dptrain; fi
      (cd "$source/$module" && env GOOS="${platform%_*}" GOARCH="${platform#*_}" CGO_ENABLED=0 GOAMD64=v1 GOARM64=v8.0 \
        GOFLAGS=-mod=readonly GOWORK=off GOEXPERIMENT='' \
        go build -trimpath -buildvcs=true -ldflags='-s -w' -o "$out/bin/$platform/$name$suffix" "./cmd/$name")
    done
  done
  local first
  first=$(find "$out/bin" -type f '(' -name dptrain -o -name dptrain.exe ')' | head -1)
  (cd "$source" && go run ./scripts/pack -source "$source" -bin "$out/bin" -out "$out" \
    -version "$(go version -m "$first" | awk '$1 == "mod" { print $3 }')" -time "$(git log -1 --format=%ct)")
}

build "$folders/one/source" "$folders/one/out"
if [[ -n $check ]]; then
  build "$folders/another place/source" "$folders/another place/out" >/dev/null
  diff "$folders/one/out/SHA256SUMS" "$folders/another place/out/SHA256SUMS"
  printf 'two builds have the same hashes\n'
fi
rm -rf "$out"
mkdir -p "$(dirname "$out")"
mv "$folders/one/out" "$out"
printf '%s\n' "$out"
