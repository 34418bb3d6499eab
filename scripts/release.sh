#!/usr/bin/env bash
# Builds the release of the commit that is checked out:
#
#   scripts/release.sh                   six platforms, into dist/
#   scripts/release.sh --here            this machine's platform only
#   scripts/release.sh --only darwin_arm64
#   scripts/release.sh --check           twice, in two folders, the second time with nothing compiled before; every
#                                        file must be the same
#   scripts/release.sh --out FOLDER      another folder than dist/
#   scripts/release.sh --fast            archives are compressed less, for tests of their contents
#
# It writes archives, Python wheels, Debian packages, container images as OCI archives, a Homebrew
# formula and a Scoop manifest (if their platforms were built), bills of materials with the licences
# of all modules, and SHA256SUMS. The programs dptrain-spark and dptrain-sql, modules of their own,
# have archives and bills of their own. No archive has DuckDB: its library needs a C++ compiler for
# each platform (docs/guide/databases.md). The folder bin/ has the programs alone, for the
# Containerfile.
#
# SHA256SUMS is signed if DPTRAIN_SIGNING_KEY holds the text of a minisign key file, with the
# password in DPTRAIN_SIGNING_PASSWORD if the key has one. SOURCE_DATE_EPOCH replaces the time of
# the commit. The version is that of the program (internal/publish/report/run.go). It needs Go and git.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

platforms=(linux_amd64 linux_arm64 darwin_amd64 darwin_arm64 windows_amd64 windows_arm64)
out=$root/dist check='' fast=''
while (($#)); do
  case $1 in
  --here) platforms=("$(go env GOHOSTOS)_$(go env GOHOSTARCH)") ;;
  --only) platforms=("$2") && shift ;;
  --check) check=yes ;;
  --fast) fast=-fast ;;
  --out) out=$2 && shift ;;
  *) printf 'release: unknown argument %s\n' "$1" >&2 && exit 2 ;;
  esac
  shift
done

if [[ -n $(git -C "$root" status --porcelain) ]]; then
  printf 'release: uncommitted changes are not part of the release\n' >&2
fi
commit=$(git -C "$root" rev-parse HEAD) # commits that follow while it builds are not part of the release
version=v$(git -C "$root" show "$commit:internal/publish/report/run.go" | sed -n 's/^const Version = "\(.*\)"$/\1/p')
for tag in $(git -C "$root" tag --points-at "$commit" 'v[0-9]*'); do
  if [[ $tag != "$version" ]]; then
    printf 'release: the commit has the tag %s, and the version of its program is %s\n' "$tag" "$version" >&2
    exit 1
  fi
done

folders=$(mktemp -d)
trap 'rm -rf "$folders"' EXIT

# build SOURCE OUT makes everything from a clone at the commit, so that no other file of this folder
# is part of it. What Go takes from the environment is fixed.
build() {
  local source=$1 out=$2 platform
  git clone -q --no-hardlinks --no-checkout "$root" "$source"
  git -C "$source" checkout -q --detach "$commit"
  git -C "$source" tag --force "$version" >/dev/null
  mkdir -p "$out/bin"
  for platform in "${platforms[@]}"; do
    local suffix='' module
    if [[ $platform == windows_* ]]; then suffix=.exe; fi
    for module in . spark sql; do
      local name=dptrain-$module
      if [[ $module == . ]]; then name=dptrain; fi
      (cd "$source/$module" && env GOOS="${platform%_*}" GOARCH="${platform#*_}" CGO_ENABLED=0 GOAMD64=v1 GOARM64=v8.0 \
        GOFLAGS=-mod=readonly GOWORK=off GOEXPERIMENT='' \
        go build -trimpath -buildvcs=true -gcflags=all=-dwarf=false -ldflags='-s -w' -o "$out/bin/$platform/$name$suffix" "./cmd/$name")
    done
  done
  (cd "$source/scripts/pack" && go run . ${fast:+"$fast"} -source "$source" -bin "$out/bin" -out "$out" -version "$version" \
    -modcache "$(go env GOMODCACHE)" -goroot "$(go env GOROOT)" -time "${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}")
}

build "$folders/one/source" "$folders/one/out"
if [[ -n $check ]]; then
  GOCACHE=$folders/cache build "$folders/another place/source" "$folders/another place/out" >/dev/null
  diff -r "$folders/one/out" "$folders/another place/out"
  printf 'two builds are the same, byte by byte\n'
fi
rm -rf "$out"
mkdir -p "$(dirname "$out")"
mv "$folders/one/out" "$out"
printf '%s\n' "$out"
