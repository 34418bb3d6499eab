#!/bin/sh
# Measures internal/numeric/kendall against scipy.stats.kendalltau on 500,000 rows of
# continuous values, both on this machine in one run, and ends with two lines:
# "pair, ratio scipy/ours: X" (both columns ranked inside, 2 cores) and
# "20 columns, ratio scipy/ours: X" (the target ranked once, 2 cores).
# Arguments go to bench-kendall.py (see --help). Needs Go, and Python with
# numpy and scipy; Python is for measuring only.
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
CGO_ENABLED=0 go test -c -o "$dir/kendall.test" ./internal/numeric/kendall
"${PYTHON:-python3}" scripts/bench-kendall.py "$@" "$dir/kendall.test"
