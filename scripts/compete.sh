#!/bin/sh
# Measures a competitor on the splits and the budget of `dptrain bench`, favourably: it is told
# the true bounds of the data, and the best of its settings is picked on the test rows.
#   scripts/compete.sh ebm --trials 10 ../shared/data/regression/*.csv.gz
# Competitors: ebm, ibm, trees, network, synthetic, public (that is boosting without privacy); abalone FILE writes that table.
# Prints a line of JSON a table on standard output, and one a setting on standard error. Each script
# says in its first line what it needs; it is installed into a temporary folder, or PYTHON has it.
set -eu
cd "$(dirname "$0")/.."
script="scripts/compete/${1:?a competitor: ebm, ibm, trees, network, synthetic or public}.py"
shift
[ -f "$script" ] || { echo "scripts/compete.sh: there is no $script" >&2; exit 2; }
if [ -z "${PYTHON:-}" ]; then
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
	trap 'exit 130' INT TERM
	python3 -m venv "$dir"
	PYTHON="$dir/bin/python"
	# shellcheck disable=SC2046 # one word a package
	"$PYTHON" -m pip install -q $(sed -n '1s/^# requires: //p' "$script")
fi
"$PYTHON" "$script" "$@"
