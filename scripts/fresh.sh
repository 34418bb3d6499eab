#!/usr/bin/env bash
# Runs every statistical test many times with fresh randomness and compares how often it fails with the rate that it states.
#   scripts/fresh.sh [RUNS [PACKAGE]]     200 runs by default, of all packages
# It prints a line for each test: the package, its runs, its failures, how many failures the stated rate explains (with odds
# below 1e-6 for more), and the margin between the two. It ends with 1 if a test fails more often than that.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

runs=${1:-200}
only=${2:-}
list=scripts/statistical-tests.tsv
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Reads the results of all runs, and prints the table.
table() {
  awk -F '\t' '
    # The smallest number of failures that at most one in a million series exceeds: the law is binomial.
    function explained(n, p,    k, term, sum) {
      term = (1 - p) ^ n
      sum = term
      for (k = 0; 1 - sum > 1e-6 && k < n; k++) {
        term *= (n - k) / (k + 1) * p / (1 - p)
        sum += term
      }
      return k
    }
    FILENAME == ARGV[1] && !/^#/ { rate[$1 "\t" $2] = $3; next }
    FILENAME != ARGV[1] { runs[$1 "\t" $2]++; failed[$1 "\t" $2] += $3 == "FAIL" }
    END {
      printf "%-24s %-32s %5s %8s %9s %6s\n", "package", "test", "runs", "failures", "explained", "margin"
      for (test in runs) {
        split(test, name, "\t")
        limit = explained(runs[test], rate[test])
        printf "%-24s %-32s %5d %8d %9d %6d\n", name[1], name[2], runs[test], failed[test], limit, limit - failed[test] | "sort"
        if (failed[test] > limit) beyond++
      }
      close("sort")
      exit beyond > 0
    }' "$list" "$1"
}

for package in $(grep -v '^#' "$list" | cut -f 1 | sort -u); do
  [[ -z $only || $package == "$only" ]] || continue
  tests=$(awk -F '\t' -v package="$package" '$1 == package { print $2 }' "$list" | paste -sd '|')
  go test -C "$package" -tags replay -c -o "$folder/test" .
  (
    cd "$package"
    DPTRAIN_TEST_SEED=fresh RAPID_SEED=0 "$folder/test" -test.run "^($tests)\$" -test.count "$runs" -test.v -test.timeout 24h 2>&1 || true
  ) >"$folder/log"
  awk -v package="$package" '/^--- (PASS|FAIL): / { sub(":", "", $2); print package "\t" $3 "\t" $2 }' "$folder/log" >>"$folder/results"
  grep -A 8 '^--- FAIL' "$folder/log" >&2 || true
done
table "$folder/results"
