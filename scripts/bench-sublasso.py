"""Interleaves scikit-learn's Lasso with BenchmarkSubLasso on one set of buckets.

Each round lets both vote for the five largest coefficients in every bucket of
SGEMM; a ratio is that of the medians over the rounds. scikit-learn is handed
standardised buckets and timed on fits and votes alone, with and without a
precomputed Gram matrix, of which the faster counts; ours is timed on dealing
the records to buckets, standardising, fitting and voting. The counts of both
are compared. Called by bench-sublasso.sh.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

DATA = "../shared/data/regression/361104_SGEMM.csv.gz"
K, LAMBDA, BUCKETS = 5, 0.1, (492, 2438)  # as in internal/train/selection/sublasso_bench_test.go


def split_mix(x):
    with np.errstate(over="ignore"):
        x = x + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))


def standardised(table, m):
    bucket = split_mix(np.arange(len(table), dtype=np.uint64)) % np.uint64(m)
    parts = []
    for b in range(m):
        part = table[bucket == b]
        deviation = part.std(0)
        # A constant column stays at 0 and gets no coefficient.
        part = (part - part.mean(0)) / np.where(deviation > 1e-12, deviation, np.inf)
        parts.append((np.asfortranarray(part[:, :-1]), np.ascontiguousarray(part[:, -1])))
    return parts


def vote_sklearn(parts, precompute):
    counts = np.zeros(parts[0][0].shape[1], dtype=int)
    model = Lasso(alpha=LAMBDA, fit_intercept=False, precompute=precompute)
    start = time.perf_counter()
    for x, y in parts:
        size = np.abs(model.fit(x, y).coef_)
        order = np.argsort(-size, kind="stable")[:K]
        counts[order[size[order] > 0]] += 1
    return time.perf_counter() - start, counts


def vote_ours(binary, m, cores, runs):
    command = [binary, "-test.run=^$", f"-test.bench=^BenchmarkSubLasso$/^{m}$", f"-test.benchtime={runs}x", f"-test.cpu={cores}"]
    out = subprocess.run(command, check=True, capture_output=True, text=True, cwd="selection").stdout
    took = re.search(r"^BenchmarkSubLasso/\S+\s+\d+\s+([\d.]+) ns/op", out, re.M)
    votes = re.search(r"votes \[([\d ]+)\]", out)
    if not took or not votes:
        sys.exit(f"bench-sublasso: no result in the output of {binary}:\n{out}")
    return float(took.group(1)) / 1e9, np.array(votes.group(1).split(), dtype=int)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=5, help="runs of ours in a round")
    parser.add_argument("binary", help="test binary of selection")
    args = parser.parse_args()

    if not os.path.exists(DATA):
        sys.exit(f"bench-sublasso: {DATA} is not here")
    warnings.simplefilter("ignore", ConvergenceWarning)
    table = np.loadtxt(DATA, delimiter=",", skiprows=1)
    cores = os.cpu_count()
    for m in BUCKETS:
        parts = standardised(table, m)
        times = {"sklearn": [], "sklearn with Gram": [], "ours": [], "ours on one core": []}
        for _ in range(args.rounds):
            for name, precompute in (("sklearn", False), ("sklearn with Gram", True)):
                took, theirs = vote_sklearn(parts, precompute)
                times[name].append(took)
            for name, n in (("ours", cores), ("ours on one core", 1)):
                took, ours = vote_ours(args.binary, m, n, args.runs)
                times[name].append(took)
            print(f"{m} buckets:", *(f"{k} {v[-1]:.4f} s " for k, v in times.items()), f"load {os.getloadavg()[0]:.2f}", file=sys.stderr)
        print(f"{m} buckets, votes of sklearn: {theirs.tolist()}", file=sys.stderr)
        print(f"{m} buckets, votes of ours:    {ours.tolist()}", file=sys.stderr)
        median = {k: statistics.median(v) for k, v in times.items()}
        best = min(median["sklearn"], median["sklearn with Gram"])
        print(f"{m} buckets, ratio sklearn/ours: {best / median['ours']:.2f} (all cores) {best / median['ours on one core']:.2f} (one core)")


if __name__ == "__main__":
    main()
