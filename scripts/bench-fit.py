"""Alternates `dptrain fit` with pandas and scikit-learn, or with polars and numpy, on one file.

The file is written once, from a fixed seed, and read once before anything is
measured, so that both sides find it in the file cache. Our side is the whole
process: start, reading, training, held-out metric, output. The other side is a
process too: it reads the file and fits LinearRegression, or solves the normal equations, nothing
else. Its time is told twice: of the whole process, as ours is, and from after its imports, which ours
has no part like. Both use their default number of threads. Ratios are those of the medians; memory is the largest resident set
that the system saw, the largest over the rounds. Processor time is that of all threads: where
others use the machine it is the fairer measure, though threads that wait for one another count
in it. Called by bench-fit.sh.
"""

import argparse
import multiprocessing
import os
import shutil
import statistics
import subprocess
import sys
import time

PEERS = {
    "pandas+scikit-learn": """
import sys, time
import pandas as pd
from sklearn.linear_model import LinearRegression
start, used = time.perf_counter(), time.process_time()
table = pd.read_parquet(sys.argv[1]) if sys.argv[1].endswith(".parquet") else pd.read_csv(sys.argv[1])
y = table.pop("y")
LinearRegression().fit(table, y)
print(time.perf_counter() - start, time.process_time() - used)
""",
    "polars+numpy": """
import sys, time
import numpy as np
import polars as pl
start, used = time.perf_counter(), time.process_time()
table = pl.read_parquet(sys.argv[1]) if sys.argv[1].endswith(".parquet") else pl.read_csv(sys.argv[1])
y = table["y"].to_numpy()
x = np.column_stack([table.drop("y").to_numpy(), np.ones(len(y))])
np.linalg.solve(x.T @ x, x.T @ y)
print(time.perf_counter() - start, time.process_time() - used)
""",
}


def write_table(path, rows, columns):
    """Features of many scales, a linear target with noise; seven digits a cell."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(1)
    k = columns - 1
    mix = rng.normal(size=(8, k))
    scale = np.exp(rng.normal(0, 2, k))
    theta = rng.normal(size=k)
    for start in range(0, rows, 50_000):
        n = min(50_000, rows - start)
        x = rng.normal(size=(n, 8)) @ mix + rng.normal(size=(n, k))
        y = x @ theta + 5 * rng.normal(size=n)
        block = pd.DataFrame(np.column_stack([x * scale, y]), columns=[f"x{j}" for j in range(k)] + ["y"])
        block.to_csv(path, mode="a", header=start == 0, index=False, float_format="%.7g")


def write_parquet(source, path):
    """The CSV again, with the defaults of pyarrow."""
    import pyarrow.csv
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.csv.read_csv(source), path)


def in_process(function, *args):
    """Runs a function in a process of its own: Linux counts the memory of a parent, at the moment
    it starts a child, in the child's largest resident set."""
    writer = multiprocessing.get_context("spawn").Process(target=function, args=args)
    writer.start()
    writer.join()
    if writer.exitcode != 0:
        sys.exit("bench-fit: the table could not be written")


def run(command):
    """Runs a command; returns its standard output, wall seconds, processor seconds and peak bytes."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"bench-fit: {command[0]} ended with code {child.returncode}")
    unit = 1 if sys.platform == "darwin" else 1024
    return out, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--columns", type=int, default=90, help="with the target")
    parser.add_argument("--format", choices=["csv", "parquet"], default="csv")
    parser.add_argument("--peer", choices=list(PEERS), default="pandas+scikit-learn")
    parser.add_argument("dptrain", help="the program")
    parser.add_argument("folder", help="an empty folder for the table and the results")
    args = parser.parse_args()

    table, out = os.path.join(args.folder, "table.csv"), os.path.join(args.folder, "out")
    in_process(write_table, table, args.rows, args.columns)
    if args.format == "parquet":
        source, table = table, os.path.join(args.folder, "table.parquet")
        in_process(write_parquet, source, table)
    size = os.path.getsize(table)
    print(f"{args.rows} x {args.columns}, {size / 1e6:.0f} MB", file=sys.stderr)
    with open(table, "rb") as f:
        while f.read(1 << 24):
            pass
    recipe = f"{table}.yaml"  # a linear model, as the peer's
    with open(recipe, "w") as f:
        f.write(f"data: {{path: {table}, target: y}}\nprivacy: {{epsilon: 1}}\nselection: {{method: none}}\nmodel: {{method: joint-gram}}\n")
    ours, peer, whole, ours_used, peer_used, ours_bytes, peer_bytes = [], [], [], [], [], [], []
    for _ in range(args.rounds):
        _, seconds, used, peak = run([args.dptrain, "fit", recipe, "--out", out])
        shutil.rmtree(out)
        ours.append(seconds)
        ours_used.append(used)
        ours_bytes.append(peak)
        text, seconds, _, peak = run([sys.executable, "-c", PEERS[args.peer], table])
        whole.append(seconds)
        seconds, used = map(float, text.split())
        peer.append(seconds)
        peer_used.append(used)
        peer_bytes.append(peak)
        print(f"dptrain {ours[-1]:.2f} s {ours_bytes[-1] / 1e9:.2f} GB  {args.peer} {whole[-1]:.2f} s, after its imports {peer[-1]:.2f} s, {peak / 1e9:.2f} GB", file=sys.stderr)
    print(
        f"ratio {args.peer}/dptrain: {statistics.median(whole) / statistics.median(ours):.2f} of whole processes,"
        f" {statistics.median(peer) / statistics.median(ours):.2f} after its imports"
        f"  ({statistics.median(whole):.2f} s, {statistics.median(peer):.2f} s and {statistics.median(ours):.2f} s;"
        f" processor time after its imports {statistics.median(peer_used):.2f} s and {statistics.median(ours_used):.2f} s;"
        f" memory {max(peer_bytes) / 1e9:.2f} GB and {max(ours_bytes) / 1e9:.2f} GB)"
    )


if __name__ == "__main__":
    main()
