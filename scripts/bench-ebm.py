"""Measures DP-EBM (InterpretML), and diffprivlib's logistic regression, beside dptrain.

Both are told what dptrain is not: the smallest and largest value of every column
of the whole table, and of the target. Everything else is their default. The
splits are those of `dptrain bench`: its permutation is computed here again, so
trial t trains and tests on the same rows in both. Metrics are exact, without
clipping. Called by bench-ebm.sh.

Parts: regression (R² on every table of the folder), curves (R² against epsilon
on four of them), time (of training on --tables, in turn, beside LightGBM without
privacy; the processor time of dptrain includes reading and the metric) and
classification (accuracy at epsilon 1; diffprivlib's epsilon has no delta). Each
ends with a table.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
from compete.common import bounds, splits, types
from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor

EPSILON, DELTA = math.log(3), 1e-5
CURVES = ("361072_cpu_act", "361078_houses", "361096_diamonds", "361076_wine_quality")
EPSILONS = (0.1, 0.3, 1, 3, 10)
CLASSES = (  # table, target
    ("adult.raw", "income"),
    ("credit_default.raw", "default.payment.next.month"),
    ("spambase", "target"),
)
OURS_CLASSES = ("auto", "logistic", "boosted-additive", "joint-gram", "svm")


def load(args, kind, name):
    return pd.read_csv(os.path.join(args.data, kind, name + ".csv.gz"))


def ebm_regressor(table, epsilon):
    x, y = table.iloc[:, :-1], table.iloc[:, -1]
    return DPExplainableBoostingRegressor(
        feature_names=list(x), feature_types=types(x), epsilon=epsilon, delta=DELTA,
        privacy_bounds=bounds(x), privacy_target_min=float(y.min()), privacy_target_max=float(y.max()),
    )  # fmt: skip


def ebm_r2(table, epsilon, trials):
    """R² on the test rows of each trial."""
    x, y = table.iloc[:, :-1], table.iloc[:, -1].to_numpy(float)
    out = []
    for train, test in splits(len(table), trials):
        model = ebm_regressor(table, epsilon).fit(x.iloc[train], y[train])
        rest = y[test] - model.predict(x.iloc[test])
        out.append(1 - np.square(rest).sum() / np.square(y[test] - y[test].mean()).sum())
    return out


def ours(args, kind, name, methods, trials, *more):
    """Medians of `dptrain bench` by method, with the training seconds."""
    path = os.path.join(args.data, kind, name + ".csv.gz")
    command = [args.dptrain, "bench", "--public", "--json", "--trials", str(trials), "--data", path, "--method", ",".join(methods), *more]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = [json.loads(line) for line in text.splitlines()]
    return {m: [r for r in rows if r.get("method") == m and "trial" in r] for m in methods}


def middle(rows):
    return statistics.median(r["value"] for r in rows)


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def table_of(head, lines):
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for line in lines:
        print("| " + " | ".join(x if isinstance(x, str) else f"{x:.3f}" for x in line) + " |")
    print(flush=True)


def regression(args):
    lines = []
    for file in sorted(os.listdir(os.path.join(args.data, "regression"))):
        name = file.removesuffix(".csv.gz")
        table = load(args, "regression", name)
        trials = min(args.trials, args.trials_large) if len(table) > 100_000 else args.trials
        mine = ours(args, "regression", name, ("auto", "nonprivate-ols"), args.trials, "--epsilon", "ln(3)")
        ebm = ebm_r2(table, EPSILON, trials)
        lines.append((name, middle(mine["auto"]), middle(mine["nonprivate-ols"]), statistics.median(ebm), f"{trials}"))
        say(*lines[-1])
    table_of(("set", "auto", "least squares", "DP-EBM told the true bounds", "trials of DP-EBM"), lines)


def curves(args):
    lines = []
    for name in CURVES:
        table = load(args, "regression", name)
        mine, theirs = [], []
        for epsilon in EPSILONS:
            rows = ours(args, "regression", name, ("auto",), args.trials, "--epsilon", str(epsilon))
            mine.append(middle(rows["auto"]))
            theirs.append(statistics.median(ebm_r2(table, epsilon, args.trials_curves)))
            say(name, epsilon, mine[-1], theirs[-1])
        lines += [(name, "auto", *mine), ("", "DP-EBM", *theirs)]
    table_of(("set", "method", *(f"{e}" for e in EPSILONS)), lines)


def measure_time(args):
    """Training alone, from the table in memory, on the rows of the first trial: by the clock, and in processor time."""
    for name in args.tables.split(","):
        time_table(args, name)


def time_table(args, name):
    from lightgbm import LGBMRegressor

    table = load(args, "regression", name)
    train, _ = next(splits(len(table), 1))
    x, y = table.iloc[train, :-1].to_numpy(float), table.iloc[train, -1].to_numpy(float)
    limits = np.array(list(bounds(table.iloc[:, :-1]).values()))
    clock, work = {}, {}

    def note(what, seconds, processor):
        clock.setdefault(what, []).append(seconds)
        work.setdefault(what, []).append(processor)

    def fit(what, model):
        start, processor = time.perf_counter(), time.process_time()
        model.fit(x, y)
        note(what, time.perf_counter() - start, time.process_time() - processor)

    for _ in range(args.rounds):
        before = os.times()
        seconds = ours(args, "regression", name, ("auto",), 1, "--epsilon", "ln(3)")["auto"][0]["seconds"]
        after = os.times()
        note("dptrain auto", seconds, after.children_user + after.children_system - before.children_user - before.children_system)
        fit("LightGBM without privacy", LGBMRegressor(n_jobs=os.cpu_count(), verbose=-1))
        model = ebm_regressor(table, EPSILON)
        model.privacy_bounds = limits
        fit("DP-EBM", model)
        say(*(f"{k} {v[-1]:.2f} s" for k, v in clock.items()), f"load {os.getloadavg()[0]:.1f}")
    median = statistics.median
    table_of(
        (f"training on {name}", "least, s", "median, s", "processor, median, s"),
        [(k, f"{min(v):.2f}", f"{median(v):.2f}", f"{median(work[k]):.2f}") for k, v in clock.items()],
    )
    for other in ("LightGBM without privacy", "DP-EBM"):
        ratios = [f(clock["dptrain auto"]) / f(clock[other]) for f in (min, median)]
        print(f"ratio dptrain/{other}: {ratios[0]:.3f} (least), {ratios[1]:.3f} (median)", flush=True)


def one_hot(table):
    """Numbers mapped to [0, 1] by their true bounds, one column for every category."""
    numbers = table.select_dtypes("number")
    low, high = numbers.min(), numbers.max()
    scaled = (numbers - low) / (high - low).replace(0, 1)
    rest = table.drop(columns=list(numbers))
    return np.hstack([scaled.to_numpy(float), *([pd.get_dummies(rest).to_numpy(float)] if len(rest.columns) else [])])


def classification(args):
    from diffprivlib.models import LogisticRegression

    lines = []
    for name, target in CLASSES:
        table = load(args, "classification", name)
        y = table.pop(target).astype(str).to_numpy()
        flags = ("--task", "classification", "--categories", "--target", target, "--epsilon", "1")
        mine = ours(args, "classification", name, OURS_CLASSES, args.trials, *flags)
        x = one_hot(table)
        norm = float(np.linalg.norm(x, axis=1).max())
        ebm, linear = [], []
        for train, test in splits(len(table), args.trials):
            model = DPExplainableBoostingClassifier(feature_names=list(table), feature_types=types(table), epsilon=1, delta=DELTA, privacy_bounds=bounds(table))
            model.fit(table.iloc[train], y[train])
            ebm.append(float((model.predict(table.iloc[test]) == y[test]).mean()))
            line = LogisticRegression(epsilon=1, data_norm=norm).fit(x[train], y[train])
            linear.append(float((line.predict(x[test]) == y[test]).mean()))
        lines.append((name, *(middle(mine[m]) for m in OURS_CLASSES), statistics.median(ebm), statistics.median(linear)))
        say(*lines[-1])
    table_of(("set", *OURS_CLASSES, "DP-EBM told the true bounds", "diffprivlib logistic, told the true bounds"), lines)


PARTS = {"regression": regression, "curves": curves, "time": measure_time, "classification": classification}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS), help="which parts, with commas between them")
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--trials-large", type=int, default=3, help="of DP-EBM on more than 100,000 rows")
    parser.add_argument("--trials-curves", type=int, default=5, help="of DP-EBM for a point of a curve")
    parser.add_argument("--rounds", type=int, default=5, help="of the times")
    parser.add_argument("--tables", default="361089_california,361104_SGEMM", help="of the times")
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("dptrain", help="the program")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    for part in args.parts.split(","):
        PARTS[part](args)


if __name__ == "__main__":
    main()
