#!/usr/bin/env bash
# Builds the site of docs/ with MkDocs, into site/. It stops at a link that leads nowhere.
#
#   scripts/site.sh              into site/
#   scripts/site.sh --optional   the same, and skips with a reason where MkDocs cannot be installed
#   scripts/site.sh --serve      shows it at http://127.0.0.1:8000 while you write
#
# It needs Python; scripts/site-requirements.txt is installed once, below the cache folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
wanted=scripts/site-requirements.txt
home=${XDG_CACHE_HOME:-$HOME/.cache}/dptrain/site-$(cksum <"$wanted" | cut -d ' ' -f 1)
if [[ ! -e $home/complete ]]; then
  rm -rf "$home"
  if ! { python3 -m venv "$home" && "$home/bin/python" -m pip install -q --disable-pip-version-check -r "$wanted"; }; then
    printf 'site: MkDocs cannot be installed\n' >&2
    if [[ ${1:-} == --optional ]]; then exit 0; fi
    exit 1
  fi
  touch "$home/complete"
fi
export NO_MKDOCS_2_WARNING=1
if [[ ${1:-} == --serve ]]; then
  exec "$home/bin/mkdocs" serve
fi
"$home/bin/mkdocs" build --strict --clean --site-dir site
