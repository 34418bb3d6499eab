"""Tables of pandas, polars and NumPy as CSV."""

import csv
import io
import math
import re

import numpy as np

from ._labels import MISSING_WORDS


_LINE_BREAK = re.compile("\r?\n")


def columns(X, names=None):
    """The names and the columns of a table, each a list of cells. Names default to those of the table, or x0, x1, ..."""
    if hasattr(X, "toarray") and hasattr(X, "tocsr"):
        raise TypeError("sparse data was passed, but dense data is required: use X.toarray()")
    if hasattr(X, "iloc") and hasattr(X, "columns"):  # pandas
        found = [str(c) for c in X.columns]
        cells = [X.iloc[:, j].tolist() for j in range(len(found))]
    elif hasattr(X, "get_columns"):  # polars
        found = [str(c) for c in X.columns]
        cells = [c.to_list() for c in X.get_columns()]
    else:
        X = np.asarray(X)
        if X.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        if X.ndim != 2:
            raise ValueError(
                f"Expected 2D array, got {X.ndim}D array instead. Reshape your data: one row per record, one column per feature"
            )
        found = None
        cells = [X[:, j].tolist() for j in range(X.shape[1])]
    if found is None:
        found = [f"x{j}" for j in range(len(cells))] if names is None else list(names)
    if len({name.strip(" \t") for name in found}) != len(found):
        raise ValueError("the table has several columns of one name; blanks around names and types do not tell them apart")
    return found, cells


def text(cell):
    """A cell as dptrain reads it; what is missing is empty. A line break becomes a blank."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell if cell.isprintable() else _LINE_BREAK.sub(" ", cell.replace("\x00", ""))
    if isinstance(cell, (bool, np.bool_)):
        return "true" if cell else "false"
    if isinstance(cell, (float, np.floating)):
        cell = float(cell)
        if math.isnan(cell) or math.isinf(cell):
            return ""
        # One missing cell makes all numbers of a pandas column floats, so a whole number is written alike as either.
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e16 else repr(cell)
    if isinstance(cell, bytes):
        return text(cell.decode("utf-8", "replace"))
    if isinstance(cell, (list, tuple, dict, set, frozenset, np.ndarray)):
        return ""  # as an array or an object of JSON, it has no value
    plain = str(cell)
    return "" if plain in ("NaT", "<NA>", "nan") else text(plain)


def to_csv(names, cells):
    """The table as bytes of CSV with a header line, in which all names are quoted."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow(names)
    texts = [[text(c) for c in column] for column in cells]
    # Without quotes, a carriage return that ends a record would be taken for a part of the line break.
    quoting = csv.QUOTE_ALL if any("\r" in c for column in texts for c in column) else csv.QUOTE_MINIMAL
    csv.writer(out, lineterminator="\n", quoting=quoting).writerows(zip(*texts))
    return out.getvalue().encode("utf-8", "replace")


def with_named_column(names, cells):
    """The table with an empty column more if all names are numbers: a header of numbers looks like a record."""
    if not all(_is_number(name) for name in names):
        return names, cells
    return [*names, "(no feature)"], [*cells, [""] * len(cells[0])]


def _is_number(name):
    """Whether a name may be the cell of a column of numbers, as a missing one may."""
    try:
        float(name)
    except ValueError:
        return name.strip(" \t") in MISSING_WORDS
    return True


def listed(values):
    """A list as the value of a flag."""
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow([text(v) for v in values])
    return out.getvalue()
