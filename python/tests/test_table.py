import csv
import io
import random
import struct

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from dptrain import DPClassifier, DPRegressor, _fit, _table


def test_columns_of_numbers_are_written_as_their_cells_are():
    rng = random.Random(1)
    floats = [0.0, -0.0, 1.0, -1.0, 1e15, 1e16, -1e16, 123456789012345680.0, 1e22, 1e-5, 0.1, float("nan"), float("inf"), -float("inf"), 5e-324]
    for _ in range(3000):
        floats += [struct.unpack("<d", rng.randbytes(8))[0], float(rng.randrange(-(10**18), 10**18)), rng.gauss(0, 1)]
    whole = [0, -1, 10**30, *(rng.randrange(-(10**20), 10**20) for _ in range(100))]
    for column in (floats, whole, [*floats[:20], None], [True, 1, 1.0, "1.0"], []):
        assert _table.texts_of(column, _table.text) == [_table.text(cell) for cell in column]


def tables():
    """Tables of every library with odd cells."""
    odd = pandas.DataFrame(
        {
            "n": [1.0, float("nan"), float("inf"), -float("inf"), -0.0, 0.1, 1e300, 2.0**60],
            "i": np.array([1, -2, 3, 2**53 + 1, 5, 6, 7, 8]),
            "f": np.array([0.1] * 8, dtype=np.float32),
            "b": [True, False] * 4,
            "t": ["a", "", "ü,\"'", "two\nlines", " x ", "7", "NA", "\0"],
            "o": pandas.Series([None, 1, 2.5, "\ud800", b"\xff", True, 10**400, [1]], dtype=object),
            "d": pandas.to_datetime(["2024-02-29", None] * 4),
        }
    )
    yield odd
    yield odd.astype({"i": "Int64"}).assign(i2=pandas.array([1, None] * 4, dtype="Int64"), c=odd["b"].map(str).astype("category"))
    yield polars.DataFrame({"n": [1.5, None] * 4, "i": list(range(8)), "t": ["a", None] * 4, "b": [True, None] * 4})
    yield pyarrow.table({"n": [1.5, None] * 4, "i": pyarrow.array(range(8), "int8"), "t": ["a", None] * 4, "b": [True, None] * 4})
    yield np.array([[1.0, np.nan], [np.inf, 2.0]] * 4)
    yield np.array([[1, 2], [3, 4]] * 4)


@pytest.mark.parametrize("table", list(tables()))
@pytest.mark.parametrize("estimator", [DPRegressor(1), DPClassifier(1), DPRegressor(1, categories={"i": [1, 2]}), DPRegressor(1, unit="i", max_rows=2)])
def test_an_arrow_stream_has_the_cells_of_the_csv_file(monkeypatch, table, estimator):
    """What a large table is sent as has the numbers and the texts that a small one is written with."""

    def sent(cells):
        monkeypatch.setattr(_fit, "_ARROW_CELLS", cells)
        read = _fit.read_table(table)
        if isinstance(estimator, DPClassifier):
            return estimator._training_table(read, "y", ["a", "b"] * 4, None, str)
        y = np.array([1.5, 2, float("nan"), float("inf")] * 2)
        return estimator._training_table(read, "y", y.tolist(), _table.stored_numbers(y), None)

    path, text = sent(10**9)
    assert path == "-"
    names, *rows = csv.reader(io.StringIO(text.decode()))
    path, stream = sent(0)
    assert path == "-.arrows"
    arrow = pyarrow.ipc.open_stream(stream).read_all()
    assert arrow.column_names == names
    numbers = 0
    for name, column in zip(names, zip(*rows)):
        if pyarrow.types.is_floating(arrow[name].type):
            numbers += 1
            assert name not in (estimator.unit, *(estimator.categories or ()))
            got = np.array(arrow[name].to_pylist(), dtype=np.float64)
            assert np.array_equal(got, [float(cell or "nan") for cell in column], equal_nan=True), name
        else:
            assert arrow[name].to_pylist() == list(column), name
    assert numbers > 0


def test_a_recipe_or_a_format_may_read_numbers_as_texts(monkeypatch):
    monkeypatch.setattr(_fit, "_ARROW_CELLS", 0)
    table = _fit.read_table(np.ones((4, 2)))
    for estimator in (DPRegressor(1, recipe="r.yaml"), DPRegressor(1, format={"decimal": ","}), DPRegressor(1, settings={"data.columns": {}})):
        assert estimator._training_table(table, "y", [1.0] * 4, np.ones(4), None)[0] == "-"


def test_the_dtype_of_a_target_decides_how_it_is_sent(monkeypatch):
    """Not its cells, which are private: a list has no dtype, and texts stored as the target of a regression are refused."""
    monkeypatch.setattr(_fit, "_ARROW_CELLS", 0)
    table = _fit.read_table(np.ones((2, 2)))
    for y, path in (
        (np.array([1, 2]), "-.arrows"),
        (pandas.Series([1, None], dtype="Int64"), "-.arrows"),
        (polars.Series([1.5, None]), "-.arrows"),
        (pyarrow.array([1.5, None]), "-.arrows"),
        (np.array([True, False]), "-"),
        ([1.0, 2.0], "-"),
        (np.array([1.0, None]), "-"),
        (pandas.Series(["1", "2"]), "-"),
        (pandas.DataFrame({"y": [1, 2]}), "-"),
    ):
        assert DPRegressor(1)._training_table(table, "y", [1, 2], _table.stored_numbers(y), None)[0] == path, y
