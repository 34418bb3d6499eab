#!/usr/bin/env bash
# 1,000,000 records of five numbers, without and with a column of 50,000 different codes (Zipf counts): processor time
# and largest memory of a fit that finds the codes. Both sides alternate.
#   scripts/bench-words.sh [fits of each, 3] [records, 1000000]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
fits=${1:-3} records=${2:-1000000}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/dptrain" ./cmd/dptrain

# Code k has a share of about 1/k. The first thirty matter.
awk -v n="$records" -v out="$dir" 'BEGIN {
  srand(7); codes = log(50001)
  print "a,b,c,d,e,y" > (out "/numbers.csv"); print "a,b,c,d,e,code,y" > (out "/codes.csv")
  for (i = 0; i < n; i++) {
    k = int(exp(rand() * codes)); row = ""; sum = 0
    for (j = 1; j <= 5; j++) { x = rand(); sum += j * x; row = row sprintf("%.4f,", x) }
    y = sprintf("%.3f", sum + (k <= 30 ? k % 7 : 0) + rand())
    print row y > (out "/numbers.csv"); printf "%sK%05d,%s\n", row, k, y > (out "/codes.csv")
  }
}'

python3 - "$dir" "$fits" <<'PYTHON'
import os, statistics, subprocess, sys

folder, fits = sys.argv[1], int(sys.argv[2])
seen = {"numbers": [], "codes": []}
for trial in range(fits):
    for name, runs in seen.items():
        child = subprocess.Popen(
            [f"{folder}/dptrain", "fit", "--data", f"{folder}/{name}.csv", "--target", "y", "--epsilon", "1", "--out", f"{folder}/out", "--force"],
            stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        if status:
            sys.exit(f"the fit of {name}.csv failed")
        runs.append((used.ru_utime + used.ru_stime, used.ru_maxrss / 1024))
        print(f"{name:8} {runs[-1][0]:6.1f} s of a processor, {runs[-1][1]:4.0f} MB at most", flush=True)
for at, what in enumerate(["processor time", "largest memory"]):
    numbers, codes = (statistics.median(run[at] for run in seen[name]) for name in ("numbers", "codes"))
    print(f"{what}: {codes / numbers:.2f} times that without the column")
PYTHON
