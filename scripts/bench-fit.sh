#!/bin/sh
# Measures a whole `dptrain fit` of a 500,000 x 90 CSV against pandas read_csv
# plus scikit-learn LinearRegression on the same file, in one run, and ends with
# one line: the ratios of the times and the largest memory. Arguments
# go to bench-fit.py (see --help); --peer polars+numpy and --format parquet are others. Needs Go, Python with
# numpy, pandas, scikit-learn (polars and pyarrow where asked for), and 1 GB in the temporary folder (TMPDIR), which is given back.
# Python is for measuring only.
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
CGO_ENABLED=0 go build -o "$dir/dptrain" ./cmd/dptrain
"${PYTHON:-python3}" scripts/bench-fit.py "$@" "$dir/dptrain" "$dir"
