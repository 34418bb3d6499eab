"""Tables of pandas, polars and NumPy as CSV."""

import csv
import io
import math
import re

import numpy as np

from ._labels import MISSING_WORDS


_LINE_BREAK = re.compile("\r?\n")


def columns(X, names=None):
    """The names and the columns of a table, each a list of cells. Names default to those of the table, or x0, x1, ...

    It raises TypeError for a sparse matrix, and for a column whose dtype says that it holds lists or structures. Of a table
    to predict, for which names are those of the model, that is checked of the columns of the model alone.
    """
    refuse_sparse(X, "X")
    if hasattr(X, "iloc") and hasattr(X, "columns"):  # pandas
        found = [str(c) for c in X.columns]
        _refuse_nested(found, [X.iloc[:, j].dtype for j in range(len(found))], names)
        cells = [X.iloc[:, j].tolist() for j in range(len(found))]
    elif hasattr(X, "get_columns"):  # polars
        found = [str(c) for c in X.columns]
        _refuse_nested(found, [c.dtype for c in X.get_columns()], names)
        cells = [c.to_list() for c in X.get_columns()]
    elif hasattr(X, "column_names") and hasattr(X, "schema"):  # a table or a batch of pyarrow
        found = [str(c) for c in X.column_names]
        _refuse_nested(found, list(X.schema.types), names)
        cells = [c.to_pylist() for c in X.columns]
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


def refuse_sparse(table, name):
    """Raise TypeError for a sparse matrix or array of SciPy. name is that of the argument."""
    if hasattr(table, "toarray") and hasattr(table, "nnz"):
        raise TypeError(f"sparse data was passed as {name}, but dense data is required: use {name}.toarray()")


def _refuse_nested(found, dtypes, names):
    """Raise TypeError for a column of lists or structures. The dtype decides, whatever the cells hold."""
    for name, dtype in zip(found, dtypes):
        if _is_nested(dtype) and (names is None or name in names):
            raise TypeError(
                f"the column {name!r} has the type {dtype}, and a cell must be a single value: "
                "make a column of each of its values, or leave the column out"
            )


def _is_nested(dtype):
    """Whether a dtype of pandas, polars or pyarrow is that of lists or structures."""
    if hasattr(dtype, "is_nested"):  # polars
        return dtype.is_nested()
    dtype = getattr(dtype, "pyarrow_dtype", dtype)
    dtype = getattr(dtype, "storage_type", dtype)  # of an extension type
    dtype = getattr(dtype, "value_type", dtype) if str(dtype).startswith("dictionary<") else dtype
    return str(dtype).startswith(("list<", "large_list<", "list_view<", "large_list_view<", "fixed_size_list<", "struct<", "map<", "union<", "sparse_union<", "dense_union<"))


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
