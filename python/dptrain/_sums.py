"""Sums over columns: the terms and the step curves of a model, for blocks of records."""

import numpy as np

# Numbers of cells to try for a curve: in the first that suffices, no two edges share a cell.
_CELLS = (256, 1024, 4096, 16384)
_BITS = 2.0**52  # plus a smaller whole number, a float64 has that number in its last bits
_MASK = (1 << 40) - 1
_BLOCK_NUMBERS = 65536  # of a block: enough that calls of NumPy take no time, and few enough for the cache of a processor


class Curves:
    """Step curves, one for each row of a matrix of numbers. Value i of a curve applies where i edges are at most x.

    A number is scaled and rounded to its cell in a grid, which never decreases with the number. So the edges of other cells
    are above or below it, as their cells are, and it has to be compared with at most one edge.
    """

    def __init__(self, curves, lower, upper):
        """curves are pairs of edges and values. The numbers of row i are within lower[i] and upper[i]."""
        grids, self._searched, start = [], [], 0
        for row, ((edges, values), low, high) in enumerate(zip(curves, lower, upper)):
            edges, values = np.asarray(edges, dtype=np.float64), np.asarray(values, dtype=np.float64)
            grid = _grid(edges, values, low, high, start)
            if grid is None:
                self._searched.append((row, edges, values))
                grid = 0.0, _BITS, np.full(1, np.inf), np.zeros(2)
            grids.append(grid)
            start += len(grid[2])
        scales, offsets, edges, pairs = zip(*grids)
        self._scales, self._offsets = np.array(scales)[:, None], np.array(offsets)[:, None]
        self._edges, self._pairs = np.concatenate(edges), np.concatenate(pairs)

    def __call__(self, x):
        """Return the values of the curves at x, in the form of x: one row for each curve."""
        work = np.multiply(x, self._scales)
        work += self._offsets
        cells = np.bitwise_and(work.view(np.int64), _MASK)
        np.take(self._edges, cells, out=work, mode="clip")
        above = x >= work
        cells += cells
        cells += above
        np.take(self._pairs, cells, out=work, mode="clip")
        for row, edges, values in self._searched:
            work[row] = values[np.searchsorted(edges, x[row], side="right")]
        return work


def _grid(edges, values, low, high, start):
    """Return the grid of a curve for numbers from low to high, or None if its edges are too close together.

    That is the scale and the offset of the cells, the edge in each cell, infinite for none, and for each cell the value below
    its edge and that from it. start is the number of cells of the curves before.
    """
    first = np.searchsorted(edges, low, side="right")
    edges, values = edges[first:], values[first:]  # the other ones are at most low
    edges = edges[edges <= high]
    for count in _CELLS:
        with np.errstate(all="ignore"):
            scale = (count - 3) / (high - low) if high > low else 0.0
            offset = _BITS + (start + 1) - low * scale
            low_cell, high_cell, *cells = np.concatenate([[low, high], edges]) * scale + offset - (_BITS + start)
        if not (0 <= low_cell and high_cell < count):  # of numbers so large that they are rounded
            continue
        own = np.array(cells, dtype=np.intp)
        if len(np.unique(own)) == len(own):
            edge = np.full(count, np.inf)
            edge[own] = edges
            below = np.searchsorted(own, np.arange(count))
            above = np.minimum(below + 1, len(edges))
            return scale, offset, edge, np.stack([values[below], values[above]], axis=1).ravel()
    return None


class Sum:
    """The sum of the terms and curves of a model before clamping."""

    def __init__(self, model, columns, terms, score_terms):
        """terms, and score_terms for the curve of the score, are those of _Score._compile."""
        shapes = {shape["column"]: shape for shape in model.get("shapes", [])}
        used = {name for kind, name, _ in terms if kind != "table"}.union(shapes)
        numeric = [name for name in columns if name in used]
        self._names = [name for name in numeric if name in shapes] + [name for name in numeric if name not in shapes]
        self._curved = len(shapes)
        score = model.get("score")
        totals = 1 if score is None else 2
        self._starts = np.zeros((totals, 1))
        self._starts[0] = model["intercept"]["coefficient"]
        if score is not None:
            self._starts[1] = score["intercept"]
        self._weights, self._gaps = np.zeros((totals, len(numeric))), np.zeros((totals, len(numeric)))
        self._tables = {}
        places = {name: i for i, name in enumerate(self._names)}
        for k, list_of in enumerate([terms, score_terms][:totals]):
            for kind, name, coefficient in list_of:
                if kind == "table":
                    table = self._tables.setdefault(name, np.zeros((totals, len(coefficient))))
                    table[k] += coefficient
                elif kind == "number":
                    self._weights[k, places[name]] += coefficient
                else:
                    self._gaps[k, places[name]] += coefficient
        self._values = {name: np.asarray(columns[name]["values"], dtype=np.float64) for name in numeric if "values" in columns[name]}
        bounds = np.array([self._bounds(name, columns[name]) for name in self._names]).reshape(-1, 3)
        self._lower, self._upper, self._usual = bounds.T[:, :, None]
        self._curves = self._score = None
        if shapes:
            curves = [(shapes[name]["edges"], shapes[name]["values"]) for name in self._names[: self._curved]]
            self._curves = Curves(curves, bounds[:, 0], bounds[:, 1])
        if score is not None:
            # Numbers beyond the edges have the values of the ends, however far they are.
            edges = score["edges"] or [0.0]
            pad = max(edges[-1] - edges[0], abs(edges[0]), 1.0) / 16
            self._ends = edges[0] - pad, edges[-1] + pad
            self._score = Curves([(score["edges"], score["values"])], [self._ends[0]], [self._ends[1]])

    def _bounds(self, name, column):
        if name in self._values:
            values = self._values[name]
            return values.min(), values.max(), 0.0
        return column["lower"], column["upper"], column["missing"]

    def block(self):
        """Return the number of records per block."""
        return max(256, _BLOCK_NUMBERS // max(len(self._names), 1))

    def of(self, columns, rows):
        """Return the sums of the records of a slice. columns are the raw cells by name."""
        x = np.empty((len(self._names), rows.stop - rows.start))
        for row, name in zip(x, self._names):
            if name in self._values:
                np.take(self._values[name], columns[name][rows], out=row, mode="wrap")  # -1, every other text, is the last
            else:
                row[:] = columns[name][rows]
        missing = None
        if not np.isfinite(np.add.reduce(x, axis=None)):  # or a sum beyond float64, which the next line finds out
            missing = ~np.isfinite(x)
            np.copyto(x, self._usual, where=missing)
        np.maximum(x, self._lower, out=x)
        np.minimum(x, self._upper, out=x)
        totals = self._weights @ x
        totals += self._starts
        if missing is not None and self._gaps.any():
            totals += self._gaps @ missing
        for name, table in self._tables.items():
            totals += np.take(table, columns[name][rows], axis=1, mode="wrap")
        if self._curves is not None:
            totals[0] += np.add.reduce(self._curves(x[: self._curved]), axis=0)
        if self._score is not None:
            score = np.minimum(np.maximum(totals[1:], self._ends[0]), self._ends[1])
            totals[0] += self._score(score)[0]
        return totals[0]
