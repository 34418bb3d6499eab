#!/usr/bin/env bash
# Takes every way in that a newcomer has, on a root file system that has nothing but what the way
# needs, each to a report that a browser opens:
#
#   scripts/first-run.sh                  all ways, with a release that it builds
#   scripts/first-run.sh --dist FOLDER    with a release that is there
#   scripts/first-run.sh wheel deb        some of: source install archive wheel deb image containerfile
#
# source         the sources, the Go toolchain and certificates: no shell, no C library
# install        the Go toolchain and a proxy of modules with this commit: `go install`
# archive        the program of the archive, after its hash was compared
# wheel          an empty home and a fresh environment of Python; there is no Go
# deb            the files that dpkg installs in an empty root
# image          the OCI archive, by podman, or unpacked as its manifest says where there is no podman
# containerfile  the steps of the Containerfile by buildah, or by hand where there is no buildah
#
# It needs root (for mounts and chroot), git, and for the last step Chromium. Nothing of the machine
# is changed. DPTRAIN_SHOTS names a folder for pictures of the reports.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
all=(source install archive wheel deb image containerfile)
dist='' ways=()
while (($#)); do
  case $1 in
  --dist) dist=$(cd "$2" && pwd) && shift ;;
  *)
    if [[ " ${all[*]} " != *" $1 "* ]]; then printf 'first-run: unknown argument %s\n' "$1" >&2 && exit 2; fi
    ways+=("$1")
    ;;
  esac
  shift
done
if ((${#ways[@]} == 0)); then ways=("${all[@]}"); fi
if ((EUID != 0)); then printf 'first-run: it needs root\n' >&2 && exit 2; fi
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
chmod 755 "$work"

say() { printf '\n== %s\n' "$*"; }

# clean runs a command without the environment, but for how packages are reached from here.
clean() {
  local kept=() name
  for name in PIP_CERT PIP_INDEX_URL SSL_CERT_FILE HTTPS_PROXY HTTP_PROXY NO_PROXY GOPROXY; do
    if [[ -n ${!name:-} ]]; then kept+=("$name=${!name}"); fi
  done
  env -i "${kept[@]}" "$@"
}

# opened opens a report as a browser does, and fails where its console says anything.
opened() {
  local way=$1 page=$2 browser
  printf '%s: %s bytes\n' "${page##*/}" "$(wc -c <"$page")"
  browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
  if [[ -z $browser ]]; then printf 'not opened: there is no Chromium\n' && return; fi
  "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/chromium" --enable-logging=stderr \
    --window-size=1200,1600 --screenshot="${DPTRAIN_SHOTS:-$work}/first-run-$way.png" --dump-dom "file://$page" >"$work/dom" 2>"$work/log"
  if grep CONSOLE "$work/log"; then return 1; fi
  printf 'opened in %s: "%s", %d pictures, nothing on the console\n' "$("$browser" --version | cut -d ' ' -f 1,2)" \
    "$(grep -o -m 1 '<title>[^<]*' "$work/dom" | head -1 | cut -c 8-)" "$(grep -o '<svg' "$work/dom" | wc -l)"
}

sources() { git -C "$root" archive HEAD | tar -x -C "$1"; }

# fit_arguments are those of the first model of README.md, for a table at /data.
fit_arguments=(fit --data /data/houses.csv --target price --exclude ocean --epsilon 1 --out /data/out --quiet)

# data_folder ROOT makes a folder with the table, for user 65532.
data_folder() {
  mkdir -p "$1/data"
  cp "$root/testdata/houses.csv" "$1/data/"
  chown -R 65532:65532 "$1/data"
}

# with_go ROOT COMMAND... runs a command on a root file system that has the Go toolchain and
# certificates beside what is in it, and no shell. It sees the modules that this machine has, as a proxy.
with_go() {
  local at=$1
  mkdir -p "$at"/{home,tmp,dev,proc,etc/ssl/certs,usr/local/go,modules}
  cp -L /etc/resolv.conf /etc/hosts "$at/etc/"
  cp -L /etc/ssl/certs/ca-certificates.crt "$at/etc/ssl/certs/"
  mkdir -p "$(go env GOMODCACHE)/cache/download"
  # shellcheck disable=SC2016 # variables of the inner shell
  clean HOME=/home PATH=/usr/local/go/bin GOPROXY="file:///proxy,file:///modules,$(go env GOPROXY)" GONOSUMDB=github.com/dptrain/dptrain \
    "$(command -v unshare)" -m /bin/sh -c '
    set -e
    /bin/mount --rbind /dev "$1/dev"
    /bin/mount --rbind /proc "$1/proc"
    /bin/mount --bind "$2" "$1/usr/local/go"
    /bin/mount --bind "$3" "$1/modules"
    at=$1
    shift 3
    exec /usr/sbin/chroot "$at" "$@"
  ' with-go "$at" "$(go env GOROOT)" "$(go env GOMODCACHE)/cache/download" "${@:2}"
}

from_source() {
  local at=$work/source
  mkdir -p "$at/src" "$at/proxy"
  sources "$at/src"
  with_go "$at" /usr/local/go/bin/go -C /src run ./cmd/dptrain fit \
    --data testdata/houses.csv --target price --exclude ocean --epsilon 1 --out /home/out --quiet
  opened source "$at/home/out/release/report.html"
}

# by_install makes a proxy of modules that has this commit as the version of its program.
by_install() {
  local at=$work/install version folder nested
  version=v$(git -C "$root" show HEAD:internal/publish/report/run.go | sed -n 's/^const Version = "\(.*\)"$/\1/p')
  folder=$at/proxy/github.com/dptrain/dptrain/@v
  mkdir -p "$folder"
  nested=$(git -C "$root" ls-files '*/go.mod' | sed 's,/go.mod$,,; s,^,:(exclude),')
  readarray -t nested <<<"$nested"
  git -C "$root" archive --format=zip --prefix="github.com/dptrain/dptrain@$version/" -o "$folder/$version.zip" HEAD -- . "${nested[@]}"
  git -C "$root" show HEAD:go.mod >"$folder/$version.mod"
  printf '{"Version":"%s","Time":"%s"}' "$version" "$(TZ=UTC git -C "$root" log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)" >"$folder/$version.info"
  printf '%s\n' "$version" >"$folder/list"
  data_folder "$at"
  with_go "$at" /usr/local/go/bin/go install "github.com/dptrain/dptrain/cmd/dptrain@latest"
  env -i /usr/sbin/chroot "$at" /home/go/bin/dptrain version
  env -i /usr/sbin/chroot "$at" /home/go/bin/dptrain "${fit_arguments[@]}"
  opened install "$at/data/out/release/report.html"
}

release() {
  if [[ -n $dist ]]; then return; fi
  dist=$work/dist
  "$root/scripts/release.sh" --here --out "$dist"
}

# from_archive compares the hash, unpacks, and runs the program where nothing else is.
from_archive() {
  local at=$work/archive
  release
  (cd "$dist" && sha256sum --check --ignore-missing --quiet SHA256SUMS)
  mkdir -p "$at"
  tar -xzf "$dist"/dptrain_*_linux_amd64.tar.gz -C "$at" --strip-components 1
  data_folder "$at"
  env -i /usr/sbin/chroot --userspec=65532:65532 "$at" /dptrain version
  env -i /usr/sbin/chroot --userspec=65532:65532 "$at" /dptrain "${fit_arguments[@]}"
  opened archive "$at/data/out/release/report.html"
}

# from_deb installs the package in an empty root, which needs no package beside it.
from_deb() {
  local at=$work/deb
  release
  if ! command -v dpkg >/dev/null; then printf 'not tried: there is no dpkg\n' && return; fi
  mkdir -p "$at"/var/lib/dpkg/{info,updates,triggers}
  : >"$at/var/lib/dpkg/status"
  data_folder "$at"
  dpkg --root="$at" --log=/dev/null --install "$dist"/dptrain_*_amd64.deb
  dpkg --root="$at" --status dptrain | grep -E '^(Status|Version)'
  env -i /usr/sbin/chroot --userspec=65532:65532 "$at" /usr/bin/dptrain "${fit_arguments[@]}"
  opened deb "$at/data/out/release/report.html"
}

# unpack_image ARCHIVE FOLDER unpacks an OCI archive as a container engine does, compares every digest,
# and prints the user and the entry point.
unpack_image() {
  python3 - "$@" <<'PROGRAM'
import hashlib, io, json, sys, tarfile

with tarfile.open(sys.argv[1]) as archive:
    def blob(descriptor):
        kind, digest = descriptor["digest"].split(":")
        content = archive.extractfile(f"blobs/{kind}/{digest}").read()
        assert hashlib.new(kind, content).hexdigest() == digest and len(content) == descriptor["size"], descriptor
        return content

    index = json.load(archive.extractfile("index.json"))
    manifest = json.loads(blob(index["manifests"][0]))
    config = json.loads(blob(manifest["config"]))
    for layer in manifest["layers"]:
        with tarfile.open(fileobj=io.BytesIO(blob(layer))) as files:
            files.extractall(sys.argv[2], filter="tar")
print(config["config"]["User"], *config["config"]["Entrypoint"])
PROGRAM
}

# from_image loads the OCI archive, and runs it as the user of the image.
from_image() {
  local at=$work/image archive user entry
  release
  archive=$(ls "$dist"/dptrain_*_linux_amd64.oci.tar)
  mkdir -p "$at"
  if command -v podman >/dev/null && podman load -q -i "$archive"; then
    data_folder "$at"
    podman run --rm --network none -v "$at/data:/data" "$(podman images -q --filter reference=localhost/dptrain)" "${fit_arguments[@]}"
  else
    printf 'unpacked as its manifest says: podman is not there, or cannot run\n'
    read -r user entry < <(unpack_image "$archive" "$at")
    printf 'user %s, entry point %s\n' "$user" "$entry"
    data_folder "$at"
    env -i /usr/sbin/chroot --userspec="$user" "$at" "$entry" "${fit_arguments[@]}"
  fi
  opened image "$at/data/out/release/report.html"
}

# from_wheel has an empty home, a fresh environment, and an empty folder in the place of Go.
from_wheel() {
  local at=$work/wheel python
  release
  mkdir -p "$at/home"
  cp "$root/testdata/houses.csv" "$at/"
  python=$(python3 -c 'import sys; print(sys.executable)')
  cat >"$at/first.py" <<'PROGRAM'
import pandas
from dptrain import DPRegressor

houses = pandas.read_csv("houses.csv")
X, y = houses.drop(columns="price"), houses["price"]
model = DPRegressor(epsilon=1.0, categories={"ocean": ["inland", "near bay", "near ocean", "island"]}).fit(X, y)
print(model.predict(X.head(2)))
print(model.guarantee_["meaning"])
model.save("release")
PROGRAM
  # shellcheck disable=SC2016 # variables of the inner shell
  clean HOME="$at/home" PATH="$at/env/bin:/usr/bin:/bin" "$(command -v unshare)" -m /bin/sh -c '
    set -e
    if test -d "$2"; then mount -t tmpfs none "$2"; fi
    if command -v go; then echo "there is a Go" >&2; exit 1; fi
    cd "$1"
    "$3" -m venv env
    pip install -q --disable-pip-version-check "$4" pandas
    python first.py
    dptrain version
  ' from-wheel "$at" "$(go env GOROOT)" "$python" "$(ls "$dist"/*manylinux*_x86_64*.whl)"
  opened wheel "$at/release/report.html"
}

# from_containerfile follows the Containerfile, and runs the result as the user of the image.
from_containerfile() {
  local at=$work/containerfile tag=localhost/dptrain-first-run container
  release
  mkdir -p "$at/context/dist"
  sources "$at/context"
  cp -r "$dist/bin" "$at/context/dist/bin"
  data_folder "$at"
  if command -v buildah >/dev/null && buildah bud -q --isolation chroot -t "$tag" "$at/context" >/dev/null; then
    container=$(buildah from "$tag")
    buildah inspect --type image --format $'user {{.OCIv1.Config.User}}, entrypoint {{.OCIv1.Config.Entrypoint}}\n' "$tag"
    buildah run --isolation chroot -v "$at/data:/data" "$container" -- /dptrain "${fit_arguments[@]}"
    buildah rm "$container" >/dev/null
    buildah rmi "$tag" >/dev/null
  else
    printf 'by hand: the files of the Containerfile and its user\n'
    mkdir -p "$at/root"
    cp "$at/context/LICENSE" "$at/context/dist/bin/linux_amd64/dptrain" "$at/root/"
    mv "$at/data" "$at/root/data"
    env -i /usr/sbin/chroot --userspec=65532:65532 "$at/root" /dptrain "${fit_arguments[@]}"
    mv "$at/root/data" "$at/data"
  fi
  opened containerfile "$at/data/out/release/report.html"
}

for way in "${ways[@]}"; do
  say "$way, of commit $(git -C "$root" rev-parse --short HEAD)"
  case $way in
  source) from_source ;;
  install) by_install ;;
  *) "from_$way" ;;
  esac
done
printf '\nAll ways lead to a report.\n'
printf 'Not proved here: Homebrew, Scoop, macOS and Windows, which need machines of their own.\n'
