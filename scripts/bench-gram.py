"""Interleaves numpy's float64 X.T @ X with the Go benchmark BenchmarkTall.

Each round times both sides, one after the other, as the mean of the same
number of runs; the ratio is that of the medians over the rounds. numpy keeps
its default threads, the Go side uses two goroutines. Called by bench-gram.sh.
"""

import argparse
import re
import statistics
import subprocess
import sys
import time

import numpy as np

ROWS, COLUMNS = 500_000, 90  # as in internal/numeric/gram/bench_test.go


def time_numpy(x, runs):
    x.T @ x  # wakes the threads
    start = time.perf_counter()
    for _ in range(runs):
        x.T @ x
    return (time.perf_counter() - start) / runs


def time_ours(binary, runs):
    command = [binary, "-test.run=^$", "-test.bench=^BenchmarkTall$", f"-test.benchtime={runs}x"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.search(r"^BenchmarkTall\S*\s+\d+\s+([\d.]+) ns/op", out, re.M)
    if not found:
        sys.exit(f"bench-gram: no BenchmarkTall in the output of {binary}:\n{out}")
    return float(found.group(1)) / 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--runs", type=int, default=5, help="runs of each side in a round")
    parser.add_argument("--order", choices="CF", default="C", help="memory order of numpy's X")
    parser.add_argument("binary", help="test binary of internal/numeric/gram")
    args = parser.parse_args()

    x = np.asarray(np.random.default_rng(1).uniform(-1, 1, (ROWS, COLUMNS)), order=args.order)
    numpy_s, ours_s = [], []
    for _ in range(args.rounds):
        numpy_s.append(time_numpy(x, args.runs))
        ours_s.append(time_ours(args.binary, args.runs))
        print(f"numpy {numpy_s[-1]:.4f} s  ours {ours_s[-1]:.4f} s", file=sys.stderr)
    print(f"ratio numpy/ours: {statistics.median(numpy_s) / statistics.median(ours_s):.2f}")


if __name__ == "__main__":
    main()
