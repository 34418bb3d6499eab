"""Measures `dptrain fit --engine stream` on generated Parquet tables of 20 numeric features.

usage: bench-large.py DPTRAIN FOLDER [--rows N]... [--recipes joint-gram,auto] [--engine stream]

A file of at most 10^7 rows is generated once per size and linked as often as the rows need, so a table of
10^8 rows is ten names of one file. Prints one line per run: wall and processor seconds, and the largest
memory of the process in MB.
"""
import argparse, os, shutil, time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

MOST = 10_000_000
GROUP = 500_000


def generate(path, rows):
    """Writes rows of features that are correlated, skewed or discrete, and a target with curves."""
    rng = np.random.default_rng(1)
    writer = None
    for start in range(0, rows, GROUP):
        n = min(GROUP, rows - start)
        common = rng.normal(size=n)
        x = [np.round(.5 * common + rng.normal(size=n), 2) for _ in range(12)]
        x += [np.round(np.exp(rng.normal(size=n)), 2) for _ in range(4)]
        x += [rng.integers(0, 50, size=n).astype(float) for _ in range(4)]
        y = np.round(sum(x[:6]) + np.sin(2 * x[6]) + np.log1p(x[12]) - .02 * x[16] + rng.normal(size=n), 2)
        table = pa.table({**{f"x{j:02d}": c for j, c in enumerate(x)}, "y": y})
        writer = writer or pq.ParquetWriter(path, table.schema, compression="snappy")
        writer.write_table(table)
    writer.close()


def measure(command):
    """Returns wall seconds, processor seconds and the peak of memory in MB."""
    begin = time.time()
    pid = os.spawnvp(os.P_NOWAIT, command[0], command)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)}: status {status}")
    return time.time() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dptrain")
    parser.add_argument("folder")
    parser.add_argument("--rows", type=int, action="append")
    parser.add_argument("--recipes", default="joint-gram,auto")
    parser.add_argument("--engine", default="stream")
    args = parser.parse_args()
    for rows in args.rows or [1_000_000, 10_000_000]:
        folder = os.path.join(args.folder, f"table-{rows}")
        os.makedirs(folder)
        first, size = os.path.join(folder, "part-000.parquet"), min(rows, MOST)
        generate(first, size)
        for k in range(1, rows // size):
            os.link(first, os.path.join(folder, f"part-{k:03d}.parquet"))
        for method in args.recipes.split(","):
            recipe = os.path.join(folder, method + ".yaml")
            with open(recipe, "w") as f:
                f.write("data: {path: 'part-*.parquet', target: y}\nprivacy: {epsilon: 1, delta: 1e-9}\n")
                if method != "auto":
                    f.write(f"model: {{method: {method}}}\n")
            out = os.path.join(folder, "out-" + method)
            wall, cpu, peak = measure([args.dptrain, "fit", recipe, "--engine", args.engine, "--scratch", args.folder, "--out", out, "-q"])
            print(f"{rows:>11} rows  {method:<16} {args.engine:<6} {wall:7.1f} s  {cpu:7.1f} s of processor"
                  f"  {cpu / rows * 1e6:6.2f} us a row  {peak:6.0f} MB", flush=True)
        shutil.rmtree(folder)


main()
