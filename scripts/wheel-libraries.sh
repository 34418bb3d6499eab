#!/usr/bin/env bash
# Runs python/tests on the wheel of this machine's platform in two fresh environments: with the oldest libraries that it
# supports (python/tests/oldest.txt), and with the newest ones that the package index has.
#
#   scripts/wheel-libraries.sh [oldest|newest]
#
# OLDEST_PYTHON and NEWEST_PYTHON name the interpreters, python3.10 and python3 by default. Needs access to a package index.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
which=${1:-both}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
wheel=$("$root/scripts/wheel.sh" here "$folder/dist" --fast)
mkdir -p "$folder/python"
cp -r "$root/python/tests" "$folder/tests"
cp -r "$root/testdata" "$folder/testdata"
cp -r "$root/python/tutorial" "$folder/python/tutorial"

# try NAME PYTHON PIP_ARGUMENT… tests the wheel with these libraries.
try() {
  local name=$1 python=$2
  shift 2
  "$python" -m venv "$folder/$name"
  "$folder/$name/bin/python" -m pip install -q --disable-pip-version-check "$@" "$wheel"
  printf '\n== %s\n' "$name"
  "$folder/$name/bin/python" -m pip list --disable-pip-version-check | grep -iE '^(numpy|pandas|polars|pyarrow|scikit-learn|dptrain) '
  (cd "$folder/tests" && env -u DPTRAIN -u PYTHONPATH DPTRAIN_ALL_CHECKS=1 PATH="$folder/$name/bin:$PATH" DPTRAIN_TESTDATA="$folder/testdata" DPTRAIN_TUTORIAL="$folder/python/tutorial" \
    "$folder/$name/bin/python" -m pytest -q --no-header -p no:cacheprovider -W ignore --ignore test_pages.py)
}

case $which in both | oldest | newest) ;; *) printf 'usage: scripts/wheel-libraries.sh [oldest|newest]\n' >&2 && exit 2 ;; esac
if [[ $which != newest ]]; then try oldest "${OLDEST_PYTHON:-python3.10}" --only-binary :all: -r "$root/python/tests/oldest.txt"; fi
if [[ $which != oldest ]]; then try newest "${NEWEST_PYTHON:-python3}" numpy pandas polars pyarrow scikit-learn pytest nbclient ipykernel; fi
