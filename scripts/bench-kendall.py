"""Interleaves scipy.stats.kendalltau with the Go benchmarks of internal/numeric/kendall.

Each round times scipy and ours, one after the other, on one pair of columns
and on 20 columns against one target; a ratio is that of the medians over the
rounds. The values are continuous and independent on both sides. scipy has no
way to keep the order of the target. Called by bench-kendall.sh.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import time

import numpy as np
from scipy.stats import kendalltau

ROWS, COLUMNS = 500_000, 20  # as in internal/numeric/kendall/bench_test.go


def time_scipy(columns, target, runs):
    start = time.perf_counter()
    for _ in range(runs):
        for column in columns:
            kendalltau(column, target)
    return (time.perf_counter() - start) / runs


def time_ours(binary, name, runs):
    command = [binary, "-test.run=^$", f"-test.bench=^{name}$", f"-test.benchtime={runs}x"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.search(rf"^{name}\S*\s+\d+\s+([\d.]+) ns/op", out, re.M)
    if not found:
        sys.exit(f"bench-kendall: no {name} in the output of {binary}:\n{out}")
    return float(found.group(1)) / 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--pairs", type=int, default=10, help="runs of each side on one pair in a round")
    parser.add_argument("binary", help="test binary of internal/numeric/kendall")
    args = parser.parse_args()

    rng = np.random.default_rng(1)
    target = rng.normal(size=ROWS)
    columns = [rng.normal(size=ROWS) for _ in range(COLUMNS)]
    kendalltau(columns[0], target)  # imports and caches
    tasks = [("pair", columns[:1], "BenchmarkPair", args.pairs), ("20 columns", columns, "BenchmarkTwenty", 1)]
    times = {name: ([], []) for name, *_ in tasks}
    for _ in range(args.rounds):
        for name, some, benchmark, runs in tasks:
            scipy_s, ours_s = times[name]
            scipy_s.append(time_scipy(some, target, runs))
            ours_s.append(time_ours(args.binary, benchmark, runs))
            load = os.getloadavg()[0]
            print(f"{name}: scipy {scipy_s[-1]:.4f} s  ours {ours_s[-1]:.4f} s  load {load:.2f}", file=sys.stderr)
    for name, (scipy_s, ours_s) in times.items():
        print(f"{name}, ratio scipy/ours: {statistics.median(scipy_s) / statistics.median(ours_s):.2f}")


if __name__ == "__main__":
    main()
