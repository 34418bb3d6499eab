"""Models in process: predictions with NumPy that agree with ``dptrain predict``.

The program writes a model as a module of Python once (``dptrain export --python``). That module holds the rules by which a
cell is read. Columns of numbers and the arithmetic are NumPy's.
"""

import base64
import functools
import json
import tempfile
from pathlib import Path

import numpy as np

from ._program import exchange, run
from ._sums import Sum
from ._table import comma_text, text

_KERNEL_BLOCK = 256  # records, so that the numbers of a block stay in the cache of a processor
_MOST_KERNEL_RECORDS = 200  # in process: beyond, the program is faster, including its start
_SENT_RECORDS = 16384  # per block for the program
_MATRIX_CELLS = 40960  # of a block of an array, in which all columns are treated at once

_KINDS = {"linear", "clipped-linear", "additive", "kernel", "votes", "tree", "prototypes"}


class Uncompiled(Exception):
    """The model or the table is not supported in process; the program has to predict."""


@functools.lru_cache(maxsize=32)
def compiled(model):
    """Return the [Predictor] for the bytes of a model.json. Raises [Uncompiled] for kinds without an export."""
    return Predictor(model)


class Predictor:
    """A model that is ready to predict. Predictions do not change it."""

    def __init__(self, model):
        file = json.loads(model)
        parts = file.get("scores", [file]) if file["kind"] == "classifier" else [file]
        if not all(part["kind"] in _KINDS for part in parts):
            raise Uncompiled(file["kind"])
        with tempfile.TemporaryDirectory(prefix="dptrain-") as folder:
            path = Path(folder) / "model.json"
            path.write_bytes(model)
            code = run(["export", str(path), "--python"]).decode()
        self._model = model
        self._rules = {"__name__": "dptrain_model"}
        exec(compile(code, "model.py", "exec"), self._rules)
        self.file = self._rules["MODEL"]
        self._missing = self.file["reading"]["missing"]
        self._write = comma_text if self.file["reading"]["decimal"] == "," else text
        self._scores = [_Score(k, score.model, score.kind, score.columns) for k, score in enumerate(self._rules["_SCORES"])]

    def scores(self, table):
        """Return the scores of a table, one column per score; for a regression, its predictions.

        Raises [Uncompiled] if the table lacks a column.
        """
        if len(self._scores) == 1:
            fast = self._scores[0].of_matrix(table) if not self._missing and not self._needs_rules() else None
            if fast is not None:
                return fast.reshape(-1, 1)
        columns = self._columns(table)
        if table.rows > _MOST_KERNEL_RECORDS and any(score.kind == "kernel" for score in self._scores):
            return self._scores_of_program(columns, table.rows)
        out = np.empty((table.rows, len(self._scores)))
        for k, score in enumerate(self._scores):
            own = {name: columns[k, name] for name in score.columns}
            for rows in score.blocks(table.rows):
                out[rows, k] = score.of(own, rows)
        return out

    def _scores_of_program(self, columns, rows):
        """Return the scores of a table that the program computes. It receives the cells and returns the scores as binary numbers."""
        sent, arrays = [], []
        for k, score in enumerate(self._scores):
            for name, column in score.columns.items():
                if any(name == other["name"] for other in sent):
                    continue  # the scores of a classifier read a column alike
                coded = column["type"] != "numeric" or "values" in column
                sent.append({"name": name, "categories": list(column["categories"]) if coded else None})
                arrays.append((columns[k, name], "<i4" if coded else "<f8"))
        starts = range(0, rows, _SENT_RECORDS)

        def blocks():
            yield json.dumps({"columns": sent}).encode() + b"\n"
            for start in starts:
                yield min(_SENT_RECORDS, rows - start).to_bytes(4, "little")
                for cells, dtype in arrays:
                    yield np.ascontiguousarray(cells[start : start + _SENT_RECORDS], dtype=dtype).data

        out = np.empty((rows, len(self._scores)))

        def receive(pipe):
            for start in starts:
                block = np.empty((len(self._scores), min(_SENT_RECORDS, rows - start)), dtype="<f8")
                if pipe.readinto(block.data.cast("B")) < block.nbytes:
                    raise EOFError("dptrain ended before the last record")
                out[start : start + block.shape[1]] = block.T

        with tempfile.TemporaryDirectory(prefix="dptrain-") as folder:
            path = Path(folder) / "model.json"
            path.write_bytes(self._model)
            exchange(["scores", str(path)], blocks(), receive)
        return out

    def contributions(self, table):
        """Return the contributions of columns to the scores of a table, relative to the model's values for missing numbers.

        It returns a list with one array per score, of one number per record and column of the score; an array of one number
        per record and score for what belongs to no single column; and the constants of the scores. Together they add up to
        scores(table).
        """
        columns, scores = self._columns(table), self.scores(table)
        parts, constants = [], []
        for score in self._scores:
            own = np.zeros((table.rows, len(score.columns)))
            raw = {name: columns[score.at, name] for name in score.columns}
            for rows in score.blocks(table.rows):
                own[rows] = score.parts(_Cells(score, raw, rows))
            usual = score.usual_parts()
            parts.append(own - usual)
            constants.append(float(score.model["intercept"]["coefficient"]) + usual.sum())
        joint = np.stack([scores[:, k] - constants[k] - parts[k].sum(axis=1) for k in range(len(parts))], axis=1)
        return parts, joint, np.array(constants)

    def _needs_rules(self):
        return any(c["type"] != "numeric" or "values" in c or "source" in c for c in self._scores[0].columns.values())

    def _columns(self, table):
        """The cells of the columns of the scores: numbers with NaN for missing ones, or places of categories."""
        places = {name: j for j, name in enumerate(table.names)}
        for name, j in list(places.items()):
            places.setdefault(name.strip(" \t"), j)
        out, shared = {}, {}
        for k, score in enumerate(self._scores):
            for name, column in score.columns.items():
                key = (name, tuple(column.get("categories", ())), column.get("fold"), column.get("prefix"), column.get("hash"))
                if key not in shared:
                    shared[key] = self._read(table, places, name, column)
                out[k, name] = shared[key]
        return out

    def _read(self, table, places, name, column):
        if name not in places and column.get("source") not in places:
            raise Uncompiled(name)  # the program reports the missing columns
        if column["type"] != "numeric" or "values" in column:
            texts, codes = table.distinct(places[name], self._write)
            code = self._rules["_code"]
            return np.array([code(column, _written(t)) for t in texts], dtype=np.intp)[codes]
        if name not in places and "source" in column:
            j = places[column["source"]]
            dates = table.dates(j)
            if dates is not None:
                return _date_part(dates, column["part"])
            part = self._rules["_part"]
            texts, codes = table.distinct(j, self._write)
            return np.array([part(column, _written(t)) for t in texts])[codes]
        numbers = table.numbers(places[name])
        if numbers is None:
            texts, codes = table.distinct(places[name], self._write)
            number = self._rules["_number"]
            return np.array([number(_written(t)) for t in texts])[codes]
        if self._missing:
            numbers = np.where(np.isin(numbers, self._missing), np.nan, numbers)
        return numbers


def _written(cell):
    """Return the text of a cell as the program receives it, in UTF-8."""
    return cell.encode("utf-8", "replace").decode()


def _date_part(dates, part):
    """Return a part of the dates as a number, NaN for missing ones."""
    unknown = np.isnat(dates)
    days = dates.astype("M8[D]")
    if dates.dtype == np.dtype("M8[ns]"):
        seconds = (dates - days.astype(dates.dtype)).astype(np.int64)
        seconds = seconds // 1_000_000_000 + seconds % 1_000_000_000 / 1e9
    else:
        micro = dates.astype("M8[us]")
        seconds = (micro - days.astype("M8[us]")).astype(np.int64)
        seconds = seconds // 1_000_000 + seconds % 1_000_000 * 1000 / 1e9
    number = days.astype(np.int64)
    if part == "month":
        out = (dates.astype("M8[M]").astype(np.int64) % 12 + 1).astype(np.float64)
    elif part == "weekday":
        out = ((number + 3) % 7 + 1).astype(np.float64)  # 1970-01-01 was a Thursday
    elif part == "hour":
        out = seconds / 3600
    else:
        out = number + seconds / 86400
    return np.where(unknown, np.nan, out)


class _Cells:
    """The preprocessed cells of a score for a block of records."""

    def __init__(self, score, columns, rows):
        self.rows, self.n = rows, rows.stop - rows.start
        self._score, self._columns, self._treated = score, columns, {}

    def number(self, name):
        """Return the preprocessed numbers of a column, and a mask of missing values or None."""
        if name not in self._treated:
            column, raw = self._score.columns[name], self._columns[name][self.rows]
            if "values" in column:
                self._treated[name] = np.asarray(column["values"])[raw], None  # -1, every other text, is the last
            else:
                missing = ~np.isfinite(raw)
                if missing.any():
                    x = np.where(missing, column["missing"], raw)
                else:
                    x, missing = raw, None
                self._treated[name] = np.minimum(np.maximum(x, column["lower"]), column["upper"]), missing
        return self._treated[name]

    def code(self, name):
        """Return the category indices of a column, -1 for others."""
        return self._columns[name][self.rows]


class _Score:
    """A model with a numeric prediction."""

    def __init__(self, at, model, kind, columns):
        self.at, self.model, self.kind, self.columns = at, model, kind, columns
        self.lower, self.upper = model["prediction"]["lower"], model["prediction"]["upper"]
        self._terms = self._compile(model.get("terms", []))
        score = model.get("score")
        self._total = Sum(model, columns, self._terms, self._compile(model["terms"], score["coefficients"]) if score else None)
        self._rest = {
            "clipped-linear": self._clipped_linear, "kernel": self._kernel, "votes": self._votes, "tree": self._tree, "prototypes": self._prototypes,
        }.get(kind)  # fmt: skip
        for member in model.get("members", []):
            member["compiled"] = self._compile(member["terms"])
        for node in model.get("nodes", []):
            node["compiled"] = self._compile(node["terms"])
        for prototype in model.get("prototypes", []):
            prototype["compiled"] = self._compile(prototype["terms"])
        if kind == "kernel":
            landmarks = np.array([list(base64.b64decode(t)) for t in model["landmarks"]], dtype=np.intp)
            self._inputs = [(i["of"], i["column"], np.frombuffer(base64.b64decode(i["bins"]), dtype=np.uint8)) for i in model["inputs"]]
            self._kernels = [_Kernel(k, landmarks.reshape(-1, len(self._inputs))) for k in model["kernels"]]

    def _compile(self, terms, coefficients=None):
        """Group terms in their order; consecutive terms of a category column become a lookup table."""
        out = []
        for i, term in enumerate(terms):
            coefficient = term["coefficient"] if coefficients is None else coefficients[i]
            name = term["column"]
            column = self.columns[name]
            if column["type"] == "numeric":
                out.append(("missing" if term.get("missing") else "number", name, coefficient))
                continue
            if not out or out[-1][:2] != ("table", name):
                out.append(("table", name, np.zeros(len(column["categories"]) + 1)))
            table = out[-1][2]
            if term.get("other"):
                table[-1] += coefficient
            else:
                for k, category in enumerate(column["categories"]):
                    if category == term["category"]:
                        table[k] += coefficient
        return out

    def _sum(self, cells, terms, total):
        total = np.full(cells.n, float(total)) if np.isscalar(total) else total
        for kind, name, coefficient in terms:
            if kind == "table":
                total += coefficient[cells.code(name)]
            elif kind == "number":
                total += coefficient * cells.number(name)[0]
            else:
                missing = cells.number(name)[1]
                if missing is not None:
                    total += coefficient * missing
        return total

    def blocks(self, rows):
        """Return the slices of the blocks of so many records."""
        step = _KERNEL_BLOCK if self.kind == "kernel" else self._total.block()
        return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]

    def of(self, columns, rows):
        """Return the predictions for the records of a slice. columns are the cells of the columns by name."""
        total = self._total.of(columns, rows)
        if self._rest is not None:
            total = self._rest(_Cells(self, columns, rows), total)
        return self._finish(total)

    def _finish(self, total):
        total = np.minimum(np.maximum(total, self.lower), self.upper)
        back = self.model.get("target_transform")
        if back is None:
            return total
        log, variance = back["transform"] == "log", back["variance"]
        total = np.minimum(np.maximum(back["intercept"] + back["slope"] * total, self.lower), self.upper)
        if log:
            mean = np.exp(np.minimum(total + variance / 2, 709))
        else:
            mean = np.minimum(np.maximum(total, 0), 1e153) ** 2 + variance
        return np.minimum(np.maximum(mean, back["lower"]), back["upper"])

    def parts(self, cells):
        """Return the contribution of each column before clamping: its terms and, in an additive model, its curve."""
        places = {name: i for i, name in enumerate(self.columns)}
        out = np.zeros((cells.n, len(places)))
        for term in self._terms:
            out[:, places[term[1]]] += self._sum(cells, [term], 0.0)
        for shape in self.model.get("shapes", []):
            out[:, places[shape["column"]]] += _step(shape, cells.number(shape["column"])[0])
        return out

    def usual_parts(self):
        """Return the contribution of each numeric column at its value for missing numbers; 0 for other columns."""
        places = {name: i for i, name in enumerate(self.columns)}
        out = np.zeros(len(places))
        for kind, name, coefficient in self._terms:
            if kind == "number" and "values" not in self.columns[name]:
                out[places[name]] += coefficient * self.columns[name]["missing"]
        for shape in self.model.get("shapes", []):
            if "values" not in self.columns[shape["column"]]:
                out[places[shape["column"]]] += _step(shape, self.columns[shape["column"]]["missing"])
        return out

    def of_matrix(self, table):
        """Return the predictions of a linear model for a table that is one float64 array, or None if that is not faster."""
        if self.kind != "linear" or any(kind == "table" for kind, _, _ in self._terms):
            return None
        X = table.matrix()
        if X is None or not (X.flags.c_contiguous or X.flags.f_contiguous):
            return None
        places = {name: j for j, name in enumerate(table.names)}
        if not all(name in places for name in self.columns):
            return None
        n, width = X.shape
        coefficients, indicators, usual = np.zeros(width), np.zeros(width), np.zeros(width)
        lower, upper = np.full(width, -np.inf), np.full(width, np.inf)
        for kind, name, coefficient in self._terms:
            (coefficients if kind == "number" else indicators)[places[name]] += coefficient
        for name, column in self.columns.items():
            j = places[name]
            lower[j], upper[j], usual[j] = column["lower"], column["upper"], column["missing"]
        by_row = X.flags.c_contiguous
        rows = max(1, (_MATRIX_CELLS if by_row else 2 * _MATRIX_CELLS) // width)
        # Numbers of one row after the other, or of one column after the other, as the array has them: a block is then read
        # in the order of memory.
        tile = (lambda v: np.tile(v, (rows, 1))) if by_row else (lambda v: v[:, None])
        low, high, usual = tile(lower), tile(upper), tile(usual)
        work, out = np.empty((rows, width) if by_row else (width, rows)), np.empty(n)
        with np.errstate(invalid="ignore", over="ignore"):
            for start in range(0, n, rows):
                m = min(rows, n - start)
                if by_row:
                    block, treated, least, most, fill = X[start : start + m], work[:m], low[:m], high[:m], usual[:m]
                else:
                    block, treated, least, most, fill = X.T[:, start : start + m], work[:, :m], low, high, usual
                missing = None
                if not np.isfinite(np.add.reduce(block, axis=None)):  # or a sum beyond float64, which the next line finds out
                    missing = ~np.isfinite(block)
                    block = np.where(missing, fill, block)
                if by_row:
                    np.maximum(block, least, out=treated)
                    np.minimum(treated, most, out=treated)
                else:  # NumPy clips faster than in two steps where the limits are the same number in a row of memory
                    np.clip(block, least, most, out=treated)
                total = out[start : start + m]
                np.dot(*((treated, coefficients) if by_row else (coefficients, treated)), out=total)
                if missing is not None and indicators.any():
                    total += missing @ indicators if by_row else indicators @ missing
                total += self.model["intercept"]["coefficient"]
                np.clip(total, self.lower, self.upper, out=total)
        return self._finish(out) if "target_transform" in self.model else out

    def _clipped_linear(self, cells, total):
        clip = self.model["clip"]
        norm = np.full(cells.n, float(clip["constant"]) ** 2)
        flagged = {t["column"] for t in self.model["terms"] if t.get("missing")}
        for name, column in self.columns.items():
            if column["type"] == "numeric":
                x, missing = cells.number(name)
                middle, half = column["lower"] / 2 + column["upper"] / 2, column["upper"] / 2 - column["lower"] / 2
                norm += np.minimum(np.maximum((x - middle) / half, -1), 1) ** 2
                if missing is not None and name in flagged:
                    norm += 0.2 * missing
            elif column["other"]:
                norm += 1
            else:
                norm += cells.code(name) >= 0
        center = clip.get("center", self.lower / 2 + self.upper / 2)
        return np.where(norm <= clip["norm"] ** 2, total, center + clip["norm"] / np.sqrt(norm) * (total - center))

    def _votes(self, cells, total):
        for member in self.model["members"]:
            score = self._sum(cells, member["compiled"], member["intercept"])
            total = total + np.where(score >= 0, member["weight"], -member["weight"])
        return total

    def _tree(self, cells, total):
        at = np.zeros(cells.n, dtype=np.intp)
        for place, node in enumerate(self.model["nodes"]):  # a node comes before those below it
            here = at == place
            if not here.any():
                continue
            score = self._sum(cells, node["compiled"], node["intercept"])
            split = node["split"]
            if split is None:
                total = np.where(here, total + score, total)
            else:
                at[here] = np.where(score[here] <= split["threshold"], split["low"], split["high"])
        return total

    def _prototypes(self, cells, total):
        scores = {False: [], True: []}
        for p in self.model["prototypes"]:
            score = self._sum(cells, p["compiled"], p["intercept"])
            scores[p.get("against", False)].append(np.minimum(np.maximum(score, self.lower), self.upper))
        return total + log_sum(scores[False]) - log_sum(scores[True])

    def _kernel(self, cells, total):
        bins = np.empty((cells.n, len(self._inputs)), dtype=np.intp)
        for i, (of, name, table) in enumerate(self._inputs):
            if of == "categories":
                bins[:, i] = table[cells.code(name)]  # the last for -1, others
                continue
            column = self.columns[name]
            x, missing = cells.number(name)
            if of == "missing":
                bins[:, i] = 0 if missing is None else missing
                continue
            middle, half = column["lower"] / 2 + column["upper"] / 2, column["upper"] / 2 - column["lower"] / 2
            scaled = (x - middle) * (16384 / half) if half > 0 else np.zeros(cells.n)
            scaled = np.minimum(np.maximum(scaled, -16384), 16384)
            bins[:, i] = np.minimum((np.trunc(scaled).astype(np.intp) + 16384) // 128, 255)
        for kernel in self._kernels:
            total = total + kernel.of(bins)
        return total


class _Kernel:
    """A feature map with coefficients, computed in integers except for its last step.

    Sums of products of whole numbers are made in float64, which holds them exactly below 2^53.
    """

    def __init__(self, kernel, landmarks):
        self.inputs = [c["input"] for c in kernel["coordinates"]]
        self.values = np.zeros((len(self.inputs), 256))
        for row, coordinate in zip(self.values, kernel["coordinates"]):
            values = _numbers(coordinate["values"])
            row[: len(values)] = values
        self.metric = np.array([_numbers(row) for row in kernel["metric"]]).reshape(len(self.inputs), -1)
        self.weights = np.array([_numbers(row) for row in kernel["weights"]]).reshape(-1, len(landmarks)).T
        self.scales = np.array([2.0**-shift for shift in kernel["shifts"]])
        self.coefficients = np.array(kernel["coefficients"])
        self.reach = np.floor(32767 / np.sqrt(max(self.metric.shape[1], 1)))
        self.points = self.point(landmarks)
        self.norms = (self.points**2).sum(axis=1)

    def point(self, bins):
        coordinates = np.stack([self.values[c, bins[:, i]] for c, i in enumerate(self.inputs)], axis=1) if self.inputs else np.zeros((len(bins), 0))
        sums = _int32(coordinates @ self.metric) >> 13
        return np.minimum(np.maximum(sums, -self.reach), self.reach).astype(np.float64)

    def of(self, bins):
        here = self.point(bins)
        d = here @ self.points.T
        d *= -2
        d += self.norms
        d += (here**2).sum(axis=1)[:, None]
        d = d.astype(np.int64).astype(np.uint32)  # modulo 2^32
        f = d & np.uint32(0xFFFF)
        d >>= np.uint32(16)
        np.minimum(d, np.uint32(31), out=d)
        p = f * np.uint32(2632)
        for constant in (15200, 45340):
            p >>= np.uint32(16)
            np.subtract(np.uint32(constant), p, out=p)
            p *= f
        p >>= np.uint32(16)
        np.subtract(np.uint32(0xFFFF), p, out=p)
        p >>= d
        p >>= np.uint32(2)
        q = _int32(p.astype(np.float64) @ self.weights) * self.scales
        by = 16384 * (1 - 2.0**-30) / np.maximum(np.sqrt((q * q).sum(axis=1)), 0.1)
        return np.trunc(q * by[:, None]) @ self.coefficients / 16384


def _int32(x):
    """Convert whole numbers in float64 to integers modulo 2^32, from -2^31."""
    return x.astype(np.int64).astype(np.uint32).view(np.int32).astype(np.int64)


def _numbers(text):
    return np.frombuffer(base64.b64decode(text), dtype="<i2").astype(np.float64)


def _step(curve, x):
    """Return the values of a step curve: number i, where i edges are at most x."""
    return np.asarray(curve["values"], dtype=np.float64)[np.searchsorted(curve["edges"], x, side="right")]


def log_sum(scores):
    """Return the logarithm of the sum of e^score over a list of arrays, or 0 for an empty list."""
    if not len(scores):
        return 0.0
    largest = np.maximum.reduce(scores)
    return largest + np.log(sum(np.exp(s - largest) for s in scores))
