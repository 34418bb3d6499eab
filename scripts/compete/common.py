"""What the scripts of competitors share: tables, splits, bounds, and the loop over both.

The splits are those of `dptrain bench` with seed 0, computed here again: trial t trains
and tests on the same rows. Metrics are exact, without clipping.
"""

import argparse
import hashlib
import json
import math
import os
import statistics
import sys
import time
import warnings

import numpy as np
import pandas as pd

MASK = (1 << 64) - 1
CLASSES = {"adult.raw": "income", "credit_default.raw": "default.payment.next.month"}  # others: target


def permutation(n, number):
    """The permutation of `dptrain bench` with seed 0: see internal/bench/split.go."""
    text = b"dptrain.bench/1 split" + (0).to_bytes(8, "big") + number.to_bytes(8, "big")
    state = int.from_bytes(hashlib.sha256(text).digest()[:8], "big")

    def following():
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    order = list(range(n))
    for i in range(n - 1, 0, -1):
        product = following() * (i + 1)
        while product & MASK < (1 << 64) % (i + 1):
            product = following() * (i + 1)
        j = product >> 64
        order[i], order[j] = order[j], order[i]
    return np.array(order)


def splits(n, trials, rows=None):
    """Training and test rows of the trials, trained on as on a table of so many rows."""
    for t in range(trials):
        if t % 10 == 0:
            order = permutation(n, t // 10)
        lo, hi = t % 10 * n // 10, (t % 10 + 1) * n // 10
        train = np.delete(order, slice(lo, hi))
        if rows:
            train = train[: rows - rows // 10]
        yield np.sort(train), np.sort(order[lo:hi])


def bounds(table):
    """The true smallest and largest value of every number."""
    numbers = table.select_dtypes("number")
    return {c: (float(numbers[c].min()), float(numbers[c].max())) for c in numbers}


def types(table):
    return ["continuous" if pd.api.types.is_numeric_dtype(table[c]) else "nominal" for c in table]


def one_hot(table):
    """Numbers mapped to [-1, 1] by their true bounds, one 0/1 column for every category."""
    numbers = table.select_dtypes("number")
    low, high = numbers.min(), numbers.max()
    scaled = 2 * (numbers - low) / (high - low).replace(0, 1) - 1
    rest = table.drop(columns=list(numbers))
    return np.hstack([scaled.to_numpy(float), *([pd.get_dummies(rest).to_numpy(float)] if len(rest.columns) else [])])


def ranks(table):
    """Like one_hot, numbers mapped to [-1, 1] by their true ranks: told much more than bounds."""
    numbers = list(table.select_dtypes("number"))
    return one_hot(table.assign(**{c: table[c].rank(pct=True) for c in numbers}))


def r2(y, prediction):
    return 1 - np.square(y - prediction).sum() / np.square(y - y.mean()).sum()


def zcdp(epsilon, delta):
    """The largest rho whose Gaussian mechanism is (epsilon, delta)-DP by its exact curve."""

    def excess(rho):
        mu = math.sqrt(2 * rho)
        phi = lambda x: math.erfc(-x / math.sqrt(2)) / 2  # noqa: E731
        return phi(-epsilon / mu + mu / 2) - math.exp(epsilon) * phi(-epsilon / mu - mu / 2) - delta

    low, high = 1e-12, 1e3
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if excess(middle) <= 0 else (low, middle)
    return low


def parse(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--epsilon", type=lambda s: math.log(float(s[3:-1])) if s.startswith("ln(") else float(s), default=math.log(3))
    parser.add_argument("--delta", type=float, default=1e-5)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--rows", type=int, help="train as on a table of so many rows")
    parser.add_argument("--settings", help="numbers of the settings to try, from 0, as 0,2 (default all)")
    parser.add_argument("tables", nargs="+", help="CSV files (.csv.gz): the last column is a numeric target; of the tables of classes, the known one")
    return parser.parse_args()


def run(args, name, settings, regressor=None, classifier=None):
    """Tries every setting on every table and prints, favourably, the best median on the test rows.

    regressor and classifier are functions (features, target, train, test, setting, args) -> predictions
    of the test rows, None where the setting does not apply.
    """
    warnings.simplefilter("ignore")
    if args.settings:
        settings = [settings[int(i)] for i in args.settings.split(",")]
    for path in args.tables:
        table = pd.read_csv(path)
        base = os.path.basename(path).removesuffix(".csv.gz")
        classes = "classification" in os.path.abspath(path)
        target = CLASSES.get(base, "target" if "target" in table else table.columns[-1]) if classes else table.columns[-1]
        y = table.pop(target)
        y = y.astype(str).to_numpy() if classes else y.to_numpy(float)
        fit = classifier if classes else regressor
        if fit is None:
            continue
        best = None
        for setting in settings:
            values, start = [], time.perf_counter()
            for train, test in splits(len(table), args.trials, args.rows):
                prediction = fit(table, y, train, test, setting, args)
                if prediction is None:
                    break
                values.append(float((prediction == y[test]).mean()) if classes else float(r2(y[test], prediction)))
            if not values:
                continue
            seconds = (time.perf_counter() - start) / len(values)
            line = {"method": name, "data": base, "epsilon": args.epsilon, "delta": args.delta, "setting": setting,
                    "metric": "accuracy" if classes else "r2", "median": statistics.median(values), "trials": len(values), "seconds": round(seconds, 2)}  # fmt: skip
            print(json.dumps(line), file=sys.stderr, flush=True)
            if best is None or line["median"] > best["median"]:
                best = line
        if best:
            print(json.dumps(best), flush=True)
