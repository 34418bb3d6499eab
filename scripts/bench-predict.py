#!/usr/bin/env python3
"""Compares the time of a prediction with that of LinearRegression.predict of scikit-learn, as a ratio within one run.

    PYTHONPATH=python DPTRAIN=./dptrain python3 scripts/bench-predict.py [--rows 1000000] [--repeat 7]

Records have 10 columns of numbers, as an array in the order of rows, an array in the order of columns, and data frames of
pandas. It prints the median of the ratios of neighbouring calls, and the seconds of both. The aim is a ratio of at most 2
for linear models; curves and kernels do more work for a record. Every column has a curve.
"""

import argparse
import statistics
import time
import warnings

import numpy as np
import pandas
from sklearn.linear_model import LinearRegression

from dptrain import DPRegressor


def seconds(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    small = rng.normal(size=(5000, 10))
    target = (small + 2 * np.sin(2 * small)) @ np.arange(5.0, 15.0)
    large = rng.normal(size=(options.rows, 10))
    missing = large.copy()
    missing[::1000, 3] = np.nan
    reference = LinearRegression().fit(small, target)
    print(f"{'method':18}{'records':24}{'ratio':>7}{'dptrain':>10}{'reference':>11}   (seconds, {options.rows:,} records)")
    for method in ("joint-gram", "boosted-additive", "boosted-kernel"):
        model = DPRegressor(10, method=method).fit(small, target)
        for name, X in (("array by rows", large), ("array by columns", np.asfortranarray(large)), ("data frame", pandas.DataFrame(large)), ("array, missing numbers", missing)):
            if method == "boosted-kernel":
                X = X[: options.rows // 20]
            known = X if name != "array, missing numbers" else large[: len(X)]  # of which the reference has none
            model.predict(X[:10])
            pairs = [(seconds(lambda: model.predict(X)), seconds(lambda: reference.predict(known))) for _ in range(options.repeat)]
            ratio = statistics.median(ours / theirs for ours, theirs in pairs)
            part = f" ({len(X):,})" if len(X) != options.rows else ""
            print(f"{method:18}{name + part:24}{ratio:7.2f}{statistics.median(p[0] for p in pairs):10.4f}{statistics.median(p[1] for p in pairs):11.4f}")


if __name__ == "__main__":
    main()
