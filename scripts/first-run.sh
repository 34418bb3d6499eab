#!/usr/bin/env bash
# Goes the ways of a newcomer on a machine that has nothing but what the way needs, each to a report
# that a browser opens:
#
#   scripts/first-run.sh                  all ways, with a release that it builds
#   scripts/first-run.sh --dist FOLDER    with a release that is there
#   scripts/first-run.sh python image     some of: go python image
#
# go      a root folder with the sources, the Go toolchain and certificates: no shell, no C library
# python  an empty home and a fresh environment; there is no Go
# image   the steps of the Containerfile by buildah, or by hand where there is none
#
# It needs root (for mounts and chroot), git, and for the last step Chromium. Nothing of the machine
# is changed. DPTRAIN_SHOTS names a folder for pictures of the reports.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dist='' ways=()
while (($#)); do
  case $1 in
  --dist) dist=$(cd "$2" && pwd) && shift ;;
  go | python | image) ways+=("$1") ;;
  *) printf 'first-run: unknown argument %s\n' "$1" >&2 && exit 2 ;;
  esac
  shift
done
if ((${#ways[@]} == 0)); then ways=(go python image); fi
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

# only_go has the sources, Go and certificates in its root folder, and nothing else.
only_go() {
  local at=$work/go
  mkdir -p "$at"/{src,home,tmp,dev,proc,etc/ssl/certs,usr/local/go}
  sources "$at/src"
  cp -L /etc/resolv.conf /etc/hosts "$at/etc/"
  cp -L /etc/ssl/certs/ca-certificates.crt "$at/etc/ssl/certs/"
  # shellcheck disable=SC2016 # variables of the inner shell
  clean HOME=/home PATH=/usr/local/go/bin "$(command -v unshare)" -m /bin/sh -c '
    set -e
    /bin/mount --rbind /dev "$1/dev"
    /bin/mount --rbind /proc "$1/proc"
    /bin/mount --bind "$2" "$1/usr/local/go"
    exec /usr/sbin/chroot "$1" /usr/local/go/bin/go -C /src run ./cmd/dptrain fit \
      --data testdata/houses.csv --target price --exclude ocean --epsilon 1 --out /home/out --quiet
  ' only-go "$at" "$(go env GOROOT)"
  opened go "$at/home/out/release/report.html"
}

release() {
  if [[ -n $dist ]]; then return; fi
  dist=$work/dist
  "$root/scripts/release.sh" --here --out "$dist"
}

# only_python has an empty home, a fresh environment, and an empty folder in the place of Go.
only_python() {
  local at=$work/python python
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
  ' only-python "$at" "$(go env GOROOT)" "$python" "$(ls "$dist"/*manylinux*_x86_64*.whl)"
  opened python "$at/release/report.html"
}

# image goes through the Containerfile, and runs what comes out as the user of the image.
image() {
  local at=$work/image tag=localhost/dptrain-first-run container
  release
  mkdir -p "$at/context/dist" "$at/data"
  sources "$at/context"
  cp -r "$dist/bin" "$at/context/dist/bin"
  cp "$root/testdata/houses.csv" "$at/data/"
  chown -R 65532:65532 "$at/data"
  local fit=(fit --data /data/houses.csv --target price --exclude ocean --epsilon 1 --out /data/out --quiet)
  if command -v buildah >/dev/null && buildah bud -q --isolation chroot -t "$tag" "$at/context" >/dev/null; then
    container=$(buildah from "$tag")
    buildah inspect --type image --format $'user {{.OCIv1.Config.User}}, entrypoint {{.OCIv1.Config.Entrypoint}}\n' "$tag"
    buildah run --isolation chroot -v "$at/data:/data" "$container" -- /dptrain "${fit[@]}"
    buildah rm "$container" >/dev/null
    buildah rmi "$tag" >/dev/null
  else
    printf 'by hand: the files of the Containerfile and its user\n'
    mkdir -p "$at/root"
    cp "$at/context/LICENSE" "$at/context/dist/bin/linux_amd64/dptrain" "$at/root/"
    mv "$at/data" "$at/root/data"
    env -i chroot --userspec=65532:65532 "$at/root" /dptrain "${fit[@]}"
    mv "$at/root/data" "$at/data"
  fi
  opened image "$at/data/out/release/report.html"
}

for way in "${ways[@]}"; do
  say "$way, of commit $(git -C "$root" rev-parse --short HEAD)"
  case $way in
  go) only_go ;;
  python) only_python ;;
  image) image ;;
  esac
done
printf '\nAll ways lead to a report.\n'
