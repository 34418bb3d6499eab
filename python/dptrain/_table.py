"""Tables of pandas, polars, pyarrow, NumPy and SciPy: their columns, and their text as CSV."""

import csv
import decimal as decimals
import io
import math
import re

import numpy as np

from ._labels import MISSING_WORDS, is_missing

_LINE_BREAK = re.compile("\r?\n")


class Table:
    """The columns of a table.

    names lists the names of the columns, rows is the number of records, and named reports whether the table has names of
    its own.
    """

    def __init__(self, names, columns, rows, named, matrix=None):
        self.names, self.rows, self.named = names, rows, named
        self._columns, self._matrix = columns, matrix

    def cells(self, j, short=False):
        """Return the cells of column j as a list of Python objects.

        short asks for numbers of 16 and 32 bits as their shortest decimals, which are the categories of a CSV file: 0.1.
        """
        return self._columns[j].cells(short)

    def numbers(self, j):
        """Return column j as float64, with NaN for missing values, or None if its dtype is neither numeric nor boolean."""
        return self._columns[j].numbers()

    def stored(self, j):
        """Return column j as float64, with NaN for missing and infinite values, or None if its dtype is not numeric."""
        return self._columns[j].stored()

    def dates(self, j):
        """Return column j as datetime64 in local time, or None if its dtype is not a date."""
        return self._columns[j].dates()

    def is_date(self, j):
        """Whether the dtype of column j is a date or a timestamp."""
        return self._columns[j].is_date()

    def distinct(self, j, write):
        """Return the distinct texts of column j, and the index of the text of every record.

        write returns the text of a cell.
        """
        return self._columns[j].distinct(write)

    def matrix(self):
        """Return the whole table as a two-dimensional float64 array, or None if that needs more than a view or one copy."""
        return self._matrix() if self._matrix is not None else None


class _Column:
    """A column of a sequence of Python objects."""

    def __init__(self, raw):
        self.raw = raw

    def cells(self, short=False):
        return list(self.raw)

    def numbers(self):
        return None

    def stored(self):
        dtype = getattr(self.raw, "dtype", None) or getattr(self.raw, "type", None)
        numbers = None if str(dtype).lower().startswith("bool") else self.numbers()
        if numbers is None:
            return None
        numbers = np.asarray(numbers, dtype=np.float64)
        return numbers if np.isfinite(numbers).all() else np.where(np.isinf(numbers), np.nan, numbers)

    def dates(self):
        return None

    def is_date(self):
        return False

    def distinct(self, write):
        places = {}
        cells = self.cells(short=True)
        codes = np.empty(len(cells), dtype=np.intp)
        for i, cell in enumerate(cells):
            key = cell if type(cell) is str else write(cell)
            codes[i] = places.setdefault(key, len(places))
        return [write(key) for key in places], codes


class _ArrayColumn(_Column):
    """A column of a NumPy array."""

    def cells(self, short=False):
        if self.raw.dtype.kind == "M":
            return self.raw.astype("M8[us]").tolist()
        return _numbers(self.raw, short)

    def numbers(self):
        return self.raw.astype(np.float64, copy=False) if self.raw.dtype.kind in "iufb" else None

    def dates(self):
        return self.raw if self.is_date() else None

    def is_date(self):
        return self.raw.dtype.kind == "M"

    def distinct(self, write):
        raw = self.raw
        if raw.dtype.kind not in "iufb":
            return super().distinct(write)
        values, codes = np.unique(raw, return_inverse=True)
        return [write(value) for value in _numbers(values, short=True)], codes.reshape(-1)


class _SparseColumn(_ArrayColumn):
    """A column of a SciPy sparse matrix. Entries that are not stored are 0."""

    def __init__(self, matrix, j):
        self.matrix, self.j = matrix, j

    @property
    def raw(self):
        return np.asarray(self.matrix[:, [self.j]].toarray()).reshape(-1)


class _PandasColumn(_Column):
    def cells(self, short=False):
        narrow = _NARROW.get(str(getattr(self.raw.dtype, "categories", self.raw).dtype).lower())
        if short and narrow is not None:
            return _numbers(self.raw.to_numpy(narrow, na_value=np.nan), short)
        return self.raw.tolist()

    def numbers(self):
        kind = getattr(self.raw.dtype, "kind", "O")
        if kind not in "iufb" or hasattr(self.raw.dtype, "categories"):
            return None
        if isinstance(self.raw.dtype, np.dtype):
            return self.raw.to_numpy().astype(np.float64, copy=False)
        try:
            return self.raw.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            return None

    def dates(self):
        if not self.is_date():
            return None
        raw = self.raw
        if str(raw.dtype).endswith("[pyarrow]"):
            return _wall_clock(raw.tolist())
        if getattr(raw.dtype, "tz", None) is not None:
            raw = raw.dt.tz_localize(None)
        return raw.to_numpy()

    def is_date(self):
        dtype = self.raw.dtype
        return getattr(dtype, "kind", "") == "M" or str(dtype).startswith(("date32", "date64", "timestamp"))

    def distinct(self, write):
        dtype = self.raw.dtype
        if hasattr(dtype, "categories") and hasattr(self.raw, "cat"):
            texts = [write(value) for value in _numbers(dtype.categories, short=True)] + [""]
            return texts, np.asarray(self.raw.cat.codes, dtype=np.intp)  # -1, missing, is the last
        if isinstance(dtype, np.dtype) and dtype.kind in "iufb":
            return _ArrayColumn(self.raw.to_numpy()).distinct(write)
        return super().distinct(write)


class _PolarsColumn(_Column):
    def cells(self, short=False):
        if short and str(self.raw.dtype) == "Float32":
            return _numbers(self.raw.to_numpy(), short)
        return self.raw.to_list()

    def numbers(self):
        name = str(self.raw.dtype)
        if not (self.raw.dtype.is_numeric() or name == "Boolean"):
            return None
        import polars

        return self.raw.cast(polars.Float64).to_numpy()

    def dates(self):
        if not self.is_date():
            return None
        raw = self.raw
        if getattr(raw.dtype, "time_zone", None) is not None:
            raw = raw.dt.replace_time_zone(None)
        return raw.to_numpy()

    def is_date(self):
        return str(self.raw.dtype).startswith("Date")


class _ArrowColumn(_Column):
    def cells(self, short=False):
        narrow = {"float": np.float32, "halffloat": np.float16}.get(str(self.raw.type))
        if short and narrow is not None:
            return [None if cell is None else float(str(narrow(cell))) for cell in self.raw.to_pylist()]
        return self.raw.to_pylist()

    def numbers(self):
        name = str(self.raw.type)
        if name == "bool":
            return np.array([np.nan if cell is None else float(cell) for cell in self.cells()])
        if not name.startswith(("int", "uint", "float", "double", "halffloat")):
            return None
        numbers = self.raw.cast("float64", safe=False)
        return numbers.to_numpy() if hasattr(numbers, "chunks") else numbers.to_numpy(zero_copy_only=False)

    def dates(self):
        if not self.is_date():
            return None
        return _wall_clock(self.cells())

    def is_date(self):
        return str(self.raw.type).startswith(("date32", "date64", "timestamp"))


# The dtypes of pandas whose numbers have fewer than 64 bits.
_NARROW = {"float16": np.float16, "halffloat[pyarrow]": np.float16, "float32": np.float32, "float[pyarrow]": np.float32}


def _numbers(array, short):
    """Return the elements of an array or an index as Python objects, numbers of 16 and 32 bits as short asks for."""
    if short and getattr(array.dtype, "kind", "") == "f" and array.dtype.itemsize < 8:
        return [float(str(x)) for x in np.asarray(array)]
    return array.tolist()


def _wall_clock(cells):
    """Convert dates and times of Python or pandas to datetime64 without time zones. Missing values become NaT."""
    out = np.empty(len(cells), dtype="M8[us]")
    for i, cell in enumerate(cells):
        if getattr(cell, "tzinfo", None) is not None:
            cell = cell.replace(tzinfo=None)
        out[i] = "NaT" if is_missing(cell) else str(cell)[:26].replace(" ", "T")
    return out


def column_name(name):
    """The name of a column in the program, which reads names from one line of text and trims them."""
    plain = _LINE_BREAK.sub(" ", str(name)).replace("\r", " ").replace("\x00", "")
    return plain.encode("utf-8", "replace").decode().strip(" \t")


def read_table(X, names=None):
    """Return the [Table] of X. Names default to those of X, or x0, x1, ...

    Raises TypeError for a column whose dtype is a list or a structure. For a table to predict, whose names are those of
    the model, only the columns of the model are checked. Raises ValueError for complex
    numbers, for an array that is not two-dimensional, and for two columns of one name.
    """
    matrix = None
    if is_sparse(X):
        if len(X.shape) != 2:
            raise ValueError(f"Expected 2D array, got {len(X.shape)}D array instead. Reshape your data: one row per record, one column per feature")
        if X.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        by_column = X.tocsc()
        found, columns, rows = None, [_SparseColumn(by_column, j) for j in range(X.shape[1])], X.shape[0]
    elif hasattr(X, "iloc") and hasattr(X, "columns"):  # pandas
        found, rows = [column_name(c) for c in X.columns], len(X)
        columns = [_PandasColumn(X.iloc[:, j]) for j in range(len(found))]
        _refuse_nested(found, [c.raw.dtype for c in columns], names)
        if all(c.raw.dtype == np.dtype(np.float64) for c in columns):
            matrix = X.to_numpy
    elif hasattr(X, "get_columns"):  # polars
        found, rows = [column_name(c) for c in X.columns], X.height
        columns = [_PolarsColumn(c) for c in X.get_columns()]
        _refuse_nested(found, [c.raw.dtype for c in columns], names)
    elif hasattr(X, "schema") and hasattr(X, "num_rows"):  # a table or a batch of pyarrow
        found, rows = [column_name(c) for c in X.schema.names], X.num_rows
        columns = [_ArrowColumn(c) for c in X.columns]
        _refuse_nested(found, list(X.schema.types), names)
    else:
        array = np.asarray(X)
        if array.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        if array.ndim != 2:
            raise ValueError(f"Expected 2D array, got {array.ndim}D array instead. Reshape your data: one row per record, one column per feature")
        found, rows = None, array.shape[0]
        columns = [_ArrayColumn(array[:, j]) for j in range(array.shape[1])]
        if array.dtype.kind in "iuf":
            matrix = lambda: array.astype(np.float64, copy=False)
    named = found is not None
    if found is None:
        found = list(names) if names is not None and len(names) == len(columns) else [f"x{j}" for j in range(len(columns))]
    if len(set(found)) != len(found):
        raise ValueError("the table has several columns with the same name, ignoring types, line breaks and surrounding blanks")
    return Table(found, columns, rows, named, matrix)


def is_sparse(table):
    """Whether a table is a SciPy sparse matrix or array."""
    return hasattr(table, "toarray") and hasattr(table, "nnz")


def refuse_sparse(table, name):
    """Raise TypeError for a SciPy sparse matrix or array. name is that of the argument."""
    if is_sparse(table):
        raise TypeError(f"sparse data was passed as {name}, but dense data is required: use {name}.toarray()")


def _refuse_nested(found, dtypes, names):
    """Raise TypeError for a column of lists or structures, judged by its dtype and not by its cells."""
    for name, dtype in zip(found, dtypes):
        if _is_nested(dtype) and (names is None or name in names):
            raise TypeError(
                f"column {name!r} has the type {dtype}, but a cell must be a single value: "
                "split it into several columns, or leave it out"
            )


def _is_nested(dtype):
    """Whether a dtype of pandas, polars or pyarrow is a list or a structure."""
    if hasattr(dtype, "is_nested"):  # polars
        return dtype.is_nested()
    dtype = getattr(dtype, "pyarrow_dtype", dtype)
    dtype = getattr(dtype, "storage_type", dtype)  # of an extension type
    dtype = getattr(dtype, "value_type", dtype) if str(dtype).startswith("dictionary<") else dtype
    return str(dtype).startswith(("list<", "large_list<", "list_view<", "large_list_view<", "fixed_size_list<", "struct<", "map<", "union<", "sparse_union<", "dense_union<"))


def text(cell):
    """Format a cell for dptrain. A missing value becomes empty, and a line break becomes a blank."""
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


def comma_text(cell):
    """Like text, but with a decimal comma in numbers. Text is unchanged."""
    if isinstance(cell, (float, np.floating, decimals.Decimal)):
        return text(cell).replace(".", ",")
    return text(cell)


def texts_of(cells, write):
    """Return write of every cell, faster for a column of whole numbers or of floats that text writes."""
    if write is text:
        kinds = set(map(type, cells))
        if kinds == {int}:
            return list(map(repr, cells))
        if kinds == {float}:
            return [_float_text(s) for s in map(repr, cells)]
    return [write(cell) for cell in cells]


def _float_text(s):
    """Return what text writes for the float whose repr is s."""
    if s.endswith(".0"):
        return s[:-2] if s != "-0.0" else "0"
    return "" if "n" in s else s  # nan, inf


def to_csv(names, cells, write=text):
    """Return the table as CSV bytes with a header line of quoted names. write converts a cell to text."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow(names)
    texts = [texts_of(column, write) for column in cells]
    # Without quotes, a carriage return that ends a record would be taken for a part of the line break.
    quoting = csv.QUOTE_ALL if any("\r" in c for column in texts for c in column) else csv.QUOTE_MINIMAL
    csv.writer(out, lineterminator="\n", quoting=quoting).writerows(zip(*texts))
    return out.getvalue().encode("utf-8", "replace")


def stored_numbers(y):
    """Return a target like [Table.stored], or None if it has no numeric dtype, as a list has none."""
    if isinstance(y, np.ndarray):
        return _ArrayColumn(y).stored() if y.ndim == 1 else None
    if hasattr(y, "iloc"):
        return _PandasColumn(y).stored() if hasattr(y, "dtype") else None
    if hasattr(y, "to_pylist"):
        return _ArrowColumn(y).stored()
    return _PolarsColumn(y).stored() if hasattr(getattr(y, "dtype", None), "is_numeric") else None


def to_arrow(names, columns):
    """Return the table as the bytes of an Arrow stream, or None without pyarrow. A column is an array of float64 or a list of texts."""
    try:
        import pyarrow
    except ImportError:
        return None
    arrays = [pyarrow.array(c) if isinstance(c, np.ndarray) else pyarrow.array([t.encode("utf-8", "replace") for t in c], pyarrow.binary()).cast(pyarrow.string()) for c in columns]
    table = pyarrow.Table.from_arrays(arrays, names=names)
    out = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=65536)
    return out.getvalue()


def with_named_column(names, cells):
    """Add an empty column if all names are numbers, because a header of numbers looks like a record."""
    if not all(_is_number(name) for name in names):
        return names, cells
    return [*names, "(no feature)"], [*cells, [""] * len(cells[0])]


def _is_number(name):
    """Whether a name could be a cell of a numeric column, including a missing value."""
    try:
        float(name)
    except ValueError:
        return name.strip(" \t") in MISSING_WORDS
    return True


def listed(values):
    """Format a list as the value of a flag."""
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow([text(v) for v in values])
    return out.getvalue()
