#!/bin/sh
# Measures the exact int16 Gram kernel (internal/numeric/gram) against numpy's float64
# X.T @ X on 500,000 x 90, both on this machine in one run, and ends with one
# line: "ratio numpy/ours: X". Arguments go to bench-gram.py (see --help).
# Needs Go, and Python with numpy; Python is for measuring only.
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
CGO_ENABLED=0 go test -c -o "$dir/gram.test" ./internal/numeric/gram
"${PYTHON:-python3}" scripts/bench-gram.py "$@" "$dir/gram.test"
