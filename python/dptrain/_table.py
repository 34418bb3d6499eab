"""Tables of pandas, polars and NumPy as CSV."""

import csv
import io
import math

import numpy as np


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
    if len(set(found)) != len(found):
        raise ValueError("the table has several columns of one name")
    return found, cells


def text(cell):
    """A cell as dptrain reads it; what is missing is empty. A line break becomes a blank."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell if cell.isprintable() else " ".join(cell.replace("\x00", "").splitlines())
    if isinstance(cell, (bool, np.bool_)):
        return "true" if cell else "false"
    if isinstance(cell, float):
        if math.isnan(cell) or math.isinf(cell):
            return ""
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, bytes):
        return text(cell.decode("utf-8", "replace"))
    plain = str(cell)
    return "" if plain in ("NaT", "<NA>", "nan") else text(plain)


def to_csv(names, cells):
    """The table as bytes of CSV with a header line."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(zip(*[[text(c) for c in column] for column in cells]))
    return out.getvalue().encode("utf-8", "replace")


def listed(values):
    """A list as the value of a flag."""
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow([text(v) for v in values])
    return out.getvalue()
