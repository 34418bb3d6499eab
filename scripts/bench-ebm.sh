#!/bin/sh
# Measures `dptrain bench` against DP-EBM (interpret-core) and diffprivlib's
# logistic regression, both told the true bounds of the data, on the public
# tables of ../shared/data: R², R² against epsilon, times of training california
# and SGEMM in one run, beside LightGBM without privacy, accuracy. Prints one
# table a part. Arguments go to bench-ebm.py
# (see --help); all parts take about 25 minutes on two idle cores. Needs Go and
# Python 3; without PYTHON the packages are installed into a temporary folder.
# Python is for measuring only.
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
CGO_ENABLED=0 go build -o "$dir/dptrain" ./cmd/dptrain
if [ -z "${PYTHON:-}" ]; then
	python3 -m venv "$dir/python"
	PYTHON="$dir/python/bin/python"
	"$PYTHON" -m pip install -q interpret-core==0.7.8 diffprivlib==0.6.6 scikit-learn==1.6.1 lightgbm==4.5.0 numpy==2.2.6 pandas==2.2.3
fi
"$PYTHON" scripts/bench-ebm.py "$@" "$dir/dptrain"
