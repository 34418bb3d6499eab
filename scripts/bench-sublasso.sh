#!/bin/sh
# Measures the votes of SubLasso against scikit-learn's Lasso on the same
# buckets of SGEMM (241,600 x 15), both on this machine in one run, and ends with
# lines "M buckets, ratio sklearn/ours: X (all cores) Y (one core)".
# Arguments go to bench-sublasso.py (see --help). Needs Go, the public data in
# ../shared/data, and Python with numpy and scikit-learn; Python is for measuring
# only.
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
CGO_ENABLED=0 go test -c -o "$dir/selection.test" ./internal/train/selection
"${PYTHON:-python3}" scripts/bench-sublasso.py "$@" "$dir/selection.test"
