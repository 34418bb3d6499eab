"""Measures `dptrain fit --engine stream` on generated tables of 20 numeric features, Parquet or CSV.

usage: bench-large.py DPTRAIN FOLDER [--rows N]... [--recipes joint-gram,auto] [--engine stream] [--csv] [--rounds N] [--plot FILE.svg] [--peer]

A file of at most 10^7 rows is generated once per size and linked as often as the rows need, so a table of
10^8 rows is ten names of one file. Prints the rows of a table: wall and processor seconds, the latter per record too
and without what the system does (files, pages of memory), the largest memory of the process, and what
the disk of the folder had less. It prints the medians of all rounds. A round goes over all sizes, up and down in turn, so that a machine that
becomes slower or faster does so for all of them. A size is run once without being counted, and then up to fifty times at once: a short
run meets a fast or a slow moment, and the first one memory that the host of a virtual machine has taken back. With one round, all is
counted. Then it says how much the cost per row differs between sizes, and what each further row costs.

With --peer, and Parquet, polars and scikit-learn do the same in memory, without privacy: read all files, hold a tenth out, fit, and
tell R2; by least squares beside joint-gram and by histogram boosting beside auto. A folder needs about 30 GB for 10^8 rows: all of it takes

    bench-large.py ./dptrain /data/tmp --rows 1000000 --rows 10000000 --rows 100000000 --plot large.svg
"""
import argparse, ast, math, os, shutil, statistics, subprocess, sys, threading

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

MOST = 10_000_000
START = 1000  # records of a run that is hardly more than start, plan and report
GROUP = 500_000
REPEAT = 50  # The most runs of a size in a round, so that a small one takes as many seconds as a large one.


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
        if not writer:
            write = pyarrow.csv.CSVWriter if path.endswith(".csv") else pq.ParquetWriter
            writer = write(path, table.schema)
        writer.write_table(table)
    writer.close()


def make(folder, rows, kind, methods):
    """Makes a folder with a table of so many rows and a recipe per method."""
    os.makedirs(folder)
    first, size = os.path.join(folder, "part-000." + kind), min(rows, MOST)
    generate(first, size)
    for k in range(1, rows // size):
        os.link(first, os.path.join(folder, f"part-{k:03d}.{kind}"))
    for method in methods:
        with open(os.path.join(folder, method + ".yaml"), "w") as f:
            f.write(f"data: {{path: 'part-*.{kind}', target: y}}\nprivacy: {{epsilon: 1, delta: 1e-9}}\n")
            if method != "auto":
                f.write(f"model: {{method: {method}}}\n")


# The program of a peer: its files, then which of the two models.
PEER = """
import sys, numpy as np, polars as pl
from sklearn.linear_model import LinearRegression
from sklearn.ensemble import HistGradientBoostingRegressor
table = pl.read_parquet(sys.argv[1])
y = table["y"].to_numpy()
x = table.drop("y").to_numpy()
del table
held = np.random.default_rng(1).random(len(y)) < .1
model = LinearRegression(copy_X=False) if sys.argv[2] == "joint-gram" else HistGradientBoostingRegressor()
model.fit(x[~held], y[~held])
print("R2", model.score(x[held], y[held]), file=sys.stderr)
"""


# A process that starts others. The system counts what a process held before it became another program to the latter's memory, so
# this one holds little.
STARTER = """
import os, sys, time
for line in sys.stdin:
    command = eval(line)
    begin = time.time()
    pid = os.spawnvp(os.P_NOWAIT, command[0], command)
    _, status, usage = os.wait4(pid, 0)
    print([status, time.time() - begin, usage.ru_utime + usage.ru_stime, usage.ru_utime, usage.ru_maxrss / 1000], flush=True)
"""


def measure(command, folder, settle=True):
    """Returns wall seconds, processor seconds, those of them that are the program's own, the peak of memory in MB and of the
    disk in GB."""
    free = lambda: os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
    if settle:
        os.sync()  # what was removed before gives its blocks back
    ended, before, least = threading.Event(), free(), [free()]

    def watch():
        while not ended.wait(.2):
            least[0] = min(least[0], free())

    watcher = threading.Thread(target=watch)
    watcher.start()
    with subprocess.Popen([sys.executable, "-S", "-c", STARTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as starter:
        answer, _ = starter.communicate(repr(command) + "\n")
    status, *used = ast.literal_eval(answer)
    ended.set()
    watcher.join()
    if status:
        raise SystemExit(f"{' '.join(command)}: status {status}")
    return *used, (before - least[0]) / 1e9


def plot(path, runs):
    """Draws processor time per row by the number of rows, a panel for each method, and the peak of memory of all."""
    methods = list(dict.fromkeys(r[1] for r in runs))
    colors = dict(zip(methods, ["#0072b2", "#d55e00", "#009e73", "#cc79a7"]))
    panels = [(f"{m}: µs of processor per row", 3, [m]) for m in methods] + [("peak of memory, MB", 4, methods)]
    wide = 290 * len(panels)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} 230" font-family="sans-serif" font-size="12"><rect width="{wide}" height="230" fill="#fff"/>']
    sizes = sorted({r[0] for r in runs})
    for panel, (title, of, shown) in enumerate(panels):
        left, top, width, height = 55 + 290 * panel, 30, 205, 160
        most = 1.1 * max(r[of] for r in runs if r[1] in shown)
        span = max(math.log10(sizes[-1] / sizes[0]), 1)
        x = lambda n: left + width * math.log10(n / sizes[0]) / span
        y = lambda v: top + height * (1 - v / most)
        out.append(f'<text x="{left}" y="18">{title}</text><path d="M{left} {top}V{top + height}H{left + width}" fill="none" stroke="#555"/>')
        for v in (0, most / 2.2, most / 1.1):
            out.append(f'<text x="{left - 6}" y="{y(v) + 4:.0f}" text-anchor="end">{v:.3g}</text>')
        for n in sizes:
            out.append(f'<text x="{x(n):.0f}" y="{top + height + 18}" text-anchor="middle">{n / 1e6:g} M</text>')
        for method in shown:
            points = [(x(r[0]), y(r[of])) for r in runs if r[1] == method]
            line = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
            out.append(f'<polyline points="{line}" fill="none" stroke="{colors[method]}" stroke-width="2"/>')
            out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colors[method]}"/>' for a, b in points]
            if len(shown) > 1:
                out.append(f'<text x="{points[-1][0]:.0f}" y="{points[-1][1] + 18:.0f}" text-anchor="end" fill="{colors[method]}">{method}</text>')
    with open(path, "w") as f:
        f.write("\n".join(out) + "\n</svg>\n")


def row(rows, method, wall, cpu, own, peak, disk):
    print(f"| {rows:,} | {method} | {wall:.1f} s | {cpu:.1f} s | {cpu / rows * 1e6:.2f} µs | {own / rows * 1e6:.2f} µs | {peak:.0f} MB | {disk:.1f} GB |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dptrain")
    parser.add_argument("folder")
    parser.add_argument("--rows", type=int, action="append")
    parser.add_argument("--recipes", default="joint-gram,auto")
    parser.add_argument("--engine", default="stream")
    parser.add_argument("--csv", action="store_true")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--plot")
    parser.add_argument("--peer", action="store_true")
    args = parser.parse_args()
    methods, sizes = args.recipes.split(","), [START] + sorted(args.rows or [1_000_000, 10_000_000])
    kind = "csv" if args.csv else "parquet"
    folders = {rows: os.path.join(args.folder, f"table-{rows}") for rows in sizes}
    for rows in sizes:
        make(folders[rows], rows, kind, methods)
    rounds = {}  # The measurements of a size and a method, of all rounds.
    for number in range(args.rounds):
        for method in methods:
            for rows in sizes if number % 2 == 0 else sizes[::-1]:
                out = os.path.join(folders[rows], "out-" + method)
                recipe = os.path.join(folders[rows], method + ".yaml")
                command = [args.dptrain, "fit", recipe, "--engine", args.engine, "--scratch", args.folder, "--out", out, "-q"]
                some = []
                for _ in range(1 + min(REPEAT, sizes[-1] // rows) if args.rounds > 1 else 1):
                    shutil.rmtree(out, ignore_errors=True)
                    some.append(measure(command, args.folder, settle=not some))
                some = some[1:] or some  # The first run makes the machine ready for those that follow at once.
                rounds.setdefault((rows, method), []).extend(some)
                print(f"round {number + 1}: {method}, {rows:,} records: {statistics.median(r[1] for r in some):.3f} s of a processor", file=sys.stderr)
    runs = []
    print("| records | method | clock | processor | per record | its own | peak of memory | disk |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
    for rows in sizes[1:]:
        for method in methods:
            wall, cpu, own, peak, disk = map(statistics.median, zip(*rounds[rows, method]))
            start = [statistics.median(r[k] for r in rounds[START, method]) for k in (1, 2)]
            runs.append((rows, method, wall, cpu / rows * 1e6, peak, own / rows * 1e6, (own - start[1]) / rows * 1e6, (cpu - start[0]) / rows * 1e6))
            row(rows, f"`{method}`", wall, cpu, own, peak, disk)
            if args.peer:
                peer = measure([sys.executable, "-c", PEER, os.path.join(folders[rows], "part-*.parquet"), method], args.folder)
                row(rows, f"polars + scikit-learn beside `{method}`", *peer)
                print(f"processor time of the peer: {peer[1] / cpu:.2f} times, memory {peer[3] / peak:.1f} times", file=sys.stderr)
    for rows in sizes:
        shutil.rmtree(folders[rows])
    for method in methods:
        of = [r for r in runs if r[1] == method]
        apart = lambda k: 100 * (max(r[k] for r in of) / min(r[k] for r in of) - 1)
        print(f"{method}: the cost per row differs by {apart(3):.0f}% between sizes, without the start by {apart(7):.0f}%, without what the system does by {apart(5):.0f}%, without both by {apart(6):.0f}%, the peak of memory by {apart(4):.0f}%")
        more = [(b[0] * b[3] - a[0] * a[3]) / (b[0] - a[0]) for a, b in zip(of, of[1:])]
        if len(more) > 1:
            print(f"{method}: from size to size a further row costs {', '.join(f'{x:.3f}' for x in more)} µs, which differ by {100 * (max(more) / min(more) - 1):.0f}%")
    if args.plot:
        plot(args.plot, runs)


main()
