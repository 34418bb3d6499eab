#!/usr/bin/env bash
# Runs a command with the runtimes that models are exported to:
#
#   scripts/runtimes.sh go test -tags replay ./internal/export
#
# DPTRAIN_PYTHON is a Python with the libraries of python/tests/requirements.txt, installed once
# below the cache folder. DPTRAIN_POSTGRES is a server that ends with the command, if Postgres is
# installed: on a socket, and on the port of loopback that DPTRAIN_POSTGRES_PORT names, if it does. DPTRAIN_AXE is the accessibility checker axe-core for the tests in Chromium, of one version and
# hash, fetched once by npm. What cannot be had is left out with a word, and its tests are skipped.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
without() { printf 'without %s: %s\n' "$1" "$2" >&2; }

python_with_libraries() {
  local wanted=$root/python/tests/requirements.txt home
  if ! command -v python3 >/dev/null; then without Python 'there is no python3' && return; fi
  home=${XDG_CACHE_HOME:-$HOME/.cache}/dptrain/python-$(cksum <"$wanted" | cut -d ' ' -f 1)
  if [[ ! -e $home/complete ]]; then
    rm -rf "$home"
    if ! { python3 -m venv "$home" && "$home/bin/python" -m pip install -q --disable-pip-version-check -r "$wanted"; } >&2; then
      without 'the libraries of Python' 'they cannot be installed' && return
    fi
    touch "$home/complete"
  fi
  export DPTRAIN_PYTHON=$home/bin/python
}

# as runs a command of Postgres, which refuses root.
as() {
  if ((EUID == 0)); then runuser -u postgres -- "$@"; else "$@"; fi
}

postgres() {
  local bin folder port=${DPTRAIN_POSTGRES_PORT:-}
  bin=$(command -v initdb || find /usr/lib/postgresql -name initdb 2>/dev/null | sort | tail -1)
  if [[ -z $bin ]]; then without Postgres 'there is no initdb' && return; fi
  if ((EUID == 0)) && ! id postgres >/dev/null 2>&1; then without Postgres 'root has no user postgres to run it' && return; fi
  bin=$(dirname "$bin")
  folder=$(mktemp -d)
  if ((EUID == 0)); then chown postgres "$folder"; fi
  if ! { as "$bin/initdb" -D "$folder/data" -U dptrain --auth trust -E UTF8 --no-sync &&
    as "$bin/pg_ctl" -D "$folder/data" -w -l "$folder/log" -o "-k $folder -c listen_addresses='${port:+127.0.0.1}' -p ${port:-5432} -c fsync=off" start; } >/dev/null 2>"$folder.err"; then
    without Postgres "$(tail -1 "$folder.err")" && return
  fi
  # shellcheck disable=SC2064 # the folder of now
  trap "as '$bin/pg_ctl' -D '$folder/data' -m immediate stop >/dev/null; rm -rf '$folder' '$folder.err'" EXIT
  export DPTRAIN_POSTGRES="host=$folder port=${port:-5432} user=dptrain dbname=postgres"
}

axe() {
  local version=4.14.1 hash=e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745 home
  if ! command -v npm >/dev/null; then without axe 'there is no npm' && return; fi
  home=${XDG_CACHE_HOME:-$HOME/.cache}/dptrain/axe-$version
  if [[ ! -e $home/package/axe.min.js ]]; then
    rm -rf "$home" && mkdir -p "$home"
    if ! (cd "$home" && npm pack --silent --ignore-scripts "axe-core@$version" && printf '%s  %s\n' "$hash" "axe-core-$version.tgz" | sha256sum --check --quiet &&
      tar -xzf "axe-core-$version.tgz") >&2; then
      rm -rf "$home"
      without axe 'it cannot be fetched, or is another file' && return
    fi
  fi
  export DPTRAIN_AXE=$home/package/axe.min.js
}

if [[ -z ${DPTRAIN_AXE:-} ]]; then axe; fi
if [[ -z ${DPTRAIN_PYTHON:-} ]]; then python_with_libraries; fi
if [[ -z ${DPTRAIN_POSTGRES:-} ]]; then postgres; fi
"$@"
