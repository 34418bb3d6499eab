#!/usr/bin/env bash
# What takes too long for .ci/run: every fuzz target for ten minutes, kills, the
# soak. It stops at the first failure. Two hours with the default.
#   scripts/long.sh            everything
#   scripts/long.sh fuzz 1m    the fuzz targets only, a minute each
#   scripts/long.sh full       all tests with every combination and repetition (DPTRAIN_TEST_FULL=1)
#   scripts/long.sh empty      records without a target: all shares, five times
#   scripts/long.sh kill       the processes that are killed
#   scripts/long.sh soak       the soak
#   scripts/long.sh replay     1,000 random recipes on neighbouring tables, from a new seed; every example on every neighbour
#                              under every seed, and on each engine from every number of files; every step at epsilon .5,
#                              1 and 3
#   scripts/long.sh peak       the memory that extreme lines of CSV take, as tables and as streams
#   scripts/long.sh floors     the accuracy of every trainer and selector against its floor, under 20 keys in place of 5
#   scripts/long.sh coverage F how often the intervals of the held-out R² hold, on public data (not part of all):
#                              200 releases or fits of each setting, lines of JSON in file F; it goes on where it ended
#   scripts/long.sh coverage-classes F  the same for the accuracy, recalls, AUC and log loss of classifiers
#   scripts/long.sh coverage-describe   how often the intervals of descriptions hold, on generated tables (not part of all; minutes)
#   scripts/long.sh fresh      all tests with fresh randomness instead of seeds, then 200 runs of every statistical test, whose
#                              margins are printed (scripts/fresh.sh; RUNS=20 has fewer)
#   scripts/long.sh exports    exported models on 10,000 records of each kind in every runtime
#   scripts/long.sh python     the tests of the Python package with every check of scikit-learn for every kind of classifier
#   scripts/long.sh serve      requests to a server for a minute, and 1,200 random tables of each form
#   scripts/long.sh pages      what the pages show and no test runs: a release, its ways in, databases, suites (not part of all:
#                              hours; QUICK=1 has few trials; PAGE=docs/guide/install.md names one)
#   scripts/long.sh wheel      the Python wheel with the oldest and the newest libraries that it supports (not part of all: it
#                              installs them)
#   scripts/long.sh sql        ten million rows of a Postgres server and of a DuckDB file, in flat memory
#   scripts/long.sh machines   the releases on amd64, 386 and arm64 (Linux on amd64, with qemu-user)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

part=${1:-all}
fuzztime=${2:-10m}

step() {
  printf '\n== %s\n' "$*"
  "$@"
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# A run of go's fuzzer may end with "context deadline exceeded" and no failing
# input when its time is up while an input is tried. That is no finding.
fuzz() {
  step go test "./$1" -run '^$' -fuzz "^$2\$" -fuzztime "$fuzztime" -fuzzminimizetime 2s -parallel "${PARALLEL:-1}" 2>&1 | tee "$log" ||
    { grep -q '^ *context deadline exceeded' "$log" && ! grep -qi 'failing input\|panic\|fatal error' "$log"; }
}

# The releases of a file but for those of kernels, whose features are made of eigenvectors, and what is measured of them.
fixed() {
  awk 'NR == FNR { if ($2 ~ /boosted-kernel/) kernel[$1]; next } !($1 in kernel && $2 ~ /boosted-kernel|holdout/)' "$1" "$1"
}

# Under one key the integers that are released are the same on every processor, but for those of kernels.
machines() {
  local here=$PWD dir arch
  dir=$(mktemp -d)
  for arch in amd64 386 arm64; do
    CGO_ENABLED=0 GOARCH=$arch step go test -tags replay -c -o "$dir/audit.$arch" ./internal/audit
    CGO_ENABLED=0 GOARCH=$arch step go test -c -o "$dir/scaling.$arch" ./internal/train/scaling
    local run=()
    [[ $arch == arm64 ]] && run=(qemu-aarch64)
    cd "$here/internal/train/scaling" && step "${run[@]}" "$dir/scaling.$arch" -test.run '^TestSameRowsOnEveryMachine$'
    cd "$here/internal/audit" && step "${run[@]}" "$dir/audit.$arch" -test.run '^TestSameReleasesOnEveryMachine$' -machines "$dir/$arch"
    cd "$here"
    step diff <(fixed "$dir/amd64") <(fixed "$dir/$arch")
    printf 'releases of kernels, and what is measured of them: %s of %s are other integers\n' \
      "$(diff "$dir/amd64" "$dir/$arch" | grep -c '^<' || true)" "$(diff "$dir/amd64" <(fixed "$dir/amd64") | grep -c '^<' || true)"
  done
  rm -r "$dir"
}

case $part in all | full | empty | floors | peak | fuzz | kill | soak | replay | exports | python | fresh | machines | serve | sql | pages | wheel | coverage | coverage-classes | coverage-describe) ;; *)
  echo "usage: scripts/long.sh [all|full|empty|floors|peak|fuzz|kill|soak|replay|exports|python|fresh|serve|sql|pages|wheel|machines] [time for each fuzz target] | coverage FILE | coverage-classes FILE | coverage-describe" >&2
  exit 2
  ;;
esac

if [[ $part == all || $part == fresh ]]; then
  step env DPTRAIN_TEST_SEED=fresh RAPID_SEED=0 go test -tags replay -count 1 -timeout 60m ./...
  step env DPTRAIN_TEST_SEED=fresh RAPID_SEED=0 go test -C experiments -tags replay -count 1 -timeout 60m ./...
  step scripts/fresh.sh "${RUNS:-200}"
fi
if [[ $part == all || $part == full ]]; then
  step env DPTRAIN_TEST_FULL=1 scripts/runtimes.sh go test -tags replay -count 1 -timeout 60m ./...
  step env DPTRAIN_TEST_FULL=1 scripts/runtimes.sh go test -C experiments -tags replay -count 1 -timeout 60m ./...
  step env DPTRAIN_TEST_FULL=1 scripts/runtimes.sh scripts/wheel-test.sh
fi
if [[ $part == all || $part == empty ]]; then
  step go test ./internal/train/pipeline -run '^TestEmpty' -count 5 -timeout 60m -args -long
fi
if [[ $part == all || $part == floors ]]; then
  step go test -tags replay ./internal/audit -run '^TestFloors$' -count 1 -timeout 60m -args -floor-keys 20
fi
if [[ $part == all || $part == peak ]]; then
  step go test ./dataset -run '^TestPeakMemory$' -count 1 -timeout 60m -args -full
fi
if [[ $part == all || $part == fuzz ]]; then
  fuzz dataset FuzzSlowFast          # CSV, the fast readers against the slow one
  fuzz dataset FuzzFormats           # CSV in other dialects
  fuzz dataset FuzzJSONLines         # JSON Lines
  fuzz dataset FuzzParquet           # Parquet
  fuzz dataset FuzzPacked            # workbooks and Arrow
  fuzz internal/tablefile/parquetfile FuzzPages # pages of Parquet, as a whole and as streams
  fuzz internal/recipe FuzzParse              # recipes
  fuzz regression FuzzDecodeModel    # model files
  fuzz internal/publish/report FuzzDecode             # reports
  fuzz internal/ledger FuzzFile               # the ledger's store
  fuzz internal/ledger FuzzEntry              # the ledger's entries
  fuzz internal/tablefile/fastfloat FuzzParse  # numbers
fi
if [[ $part == all || $part == kill ]]; then
  step scripts/ledger-kill.sh
  step go test ./internal/publish/report -run '^TestKilled' -count 1 -v -timeout 60m -args -kills 200
fi
if [[ $part == all || $part == soak ]]; then
  step go test ./cmd/dptrain -run '^TestSoak$' -count 1 -v -timeout 60m -args -fits 500
fi
if [[ $part == all || $part == replay ]]; then
  step go test -tags replay ./internal/audit -run '^TestReplayRandomRecipes$' -count 1 -v -timeout 60m -args -recipes 1000 -first "${FIRST:-$((RANDOM * 32768 + RANDOM))}"
  step go test -tags replay ./internal/audit -run '^(TestRecordAndReplay|TestReplay(WithoutTarget|WithPrivateTarget|OnTinyTables)|Test(Stream|Cluster|Engines)Agrees?|TestPairOnEngines|Test(Steps|Mixtures)ComeClose)$' -count 1 -timeout 60m -args -full
fi
if [[ $part == all || $part == exports ]]; then
  step scripts/runtimes.sh go test ./internal/export -count 1 -timeout 60m -args -records 10000
fi
if [[ $part == all || $part == python ]]; then
  step env DPTRAIN_ALL_CHECKS=1 scripts/runtimes.sh scripts/wheel-test.sh
fi
if [[ $part == all || $part == serve ]]; then
  step go test ./cmd/dptrain -run '^TestServeEqualsPredict$' -count 1 -timeout 10m -args -served-tables 1200
  step go test ./internal/serve -run '^TestLoad$' -count 1 -v -timeout 10m -args -load 60s
fi
if [[ $part == pages ]]; then
  step scripts/runtimes.sh go test -tags replay ./cmd/dptrain -run '^TestPages$'"/page/${PAGE:-}" -count 1 -v -timeout 48h -args -by long ${QUICK:+-quick}
fi
if [[ $part == wheel ]]; then
  step scripts/wheel-libraries.sh
fi
if [[ $part == all || $part == sql ]]; then
  step scripts/runtimes.sh go test -C sql ./cmd/dptrain-sql -run '^TestMemory$' -count 1 -v -timeout 60m -args -rows 10000000
  step go test -C sql -tags duckdb ./cmd/dptrain-sql -run '^TestDuckMemory$' -count 1 -v -timeout 60m -args -rows 10000000
fi
if [[ $part == coverage ]]; then
  file=$(realpath -m "${2:?a file for the lines of JSON}")
  step go test -C experiments ./coverage -run 'Laws|Tables|Split' -count 1 -timeout 24h -v -args -runs 200 -epsilons 0.3,1,3 -sizes 500,1000,2000,5000,16000 -out "$file"
fi
if [[ $part == coverage-classes ]]; then
  file=$(realpath -m "${2:?a file for the lines of JSON}")
  step go test -C experiments ./coverage -run Classes -count 1 -timeout 24h -v -args -runs 200 -epsilons 0.3,1,3 -sizes 500,2000,10000 -out "$file"
fi
if [[ $part == coverage-describe ]]; then
  step go test -C experiments ./coverage -run Descriptions -count 1 -timeout 1h -v -args -runs 200 -epsilons 0.3,0.5,1,3
fi
if [[ $part == all || $part == machines ]]; then
  machines
fi
printf '\nAll long checks passed.\n'
