"""The estimators, as installed from the wheel: scripts/wheel-test.sh runs this."""

import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import dptrain
from dptrain import DPClassifier, DPRegressor, DptrainError, InvalidInput, NoProbabilities

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
DATA = os.environ.get("DPTRAIN_TESTDATA") or os.path.join(os.path.dirname(__file__), "..", "..", "testdata")


@pytest.fixture(scope="module")
def houses():
    table = pandas.read_csv(os.path.join(DATA, "houses.csv"))
    return table.drop(columns="price"), table["price"]


@pytest.fixture(scope="module")
def loans():
    table = pandas.read_csv(os.path.join(DATA, "loans.csv"))
    return table.drop(columns="repaid"), table["repaid"]


@pytest.fixture(scope="module")
def regression(houses):
    return DPRegressor(2, categories={"ocean": ["inland", "near bay", "near ocean", "island"]}).fit(*houses)


@pytest.fixture(scope="module")
def classification(loans):
    return DPClassifier(2, classes=["no", "yes"], method="boosted-additive").fit(*loans)


def test_regression(regression, houses):
    X, y = houses
    assert regression.score(X, y) > 0.5
    assert regression.predict(X).shape == (len(X),)
    intervals = regression.predict_interval(X)
    assert (intervals[:, 1] <= intervals[:, 0]).all() and (intervals[:, 0] <= intervals[:, 2]).all()
    assert regression.guarantee_["epsilon"] == 2 and "found" in json.dumps(regression.report_)
    assert list(regression.feature_names_in_) == list(X.columns)


def test_predictions_are_those_of_the_command(regression, houses, tmp_path):
    X, _ = houses
    regression.save(tmp_path)
    assert {"model.json", "report.json", "report.html", "recipe.yaml"} <= set(os.listdir(tmp_path))
    X.to_csv(tmp_path / "X.csv", index=False)
    out = subprocess.run([dptrain.program(), "predict", str(tmp_path / "model.json"), str(tmp_path / "X.csv")], capture_output=True, check=True)
    np.testing.assert_allclose(regression.predict(X), [float(line) for line in out.stdout.split()[1:]], rtol=1e-9)
    assert dptrain.load(tmp_path).predict(X).tolist() == regression.predict(X).tolist()


def test_tables_of_all_libraries(regression, houses):
    X, _ = houses
    y = houses[1]
    want = regression.predict(X).tolist()
    numbers = X.drop(columns="ocean")
    assert regression.predict(polars.read_csv(os.path.join(DATA, "houses.csv"))).tolist() == want
    assert regression.predict(houses[0][sorted(houses[0])]).tolist() == want  # by names, in any order
    array = DPRegressor(5).fit(numbers.to_numpy(), y.to_numpy())
    assert array.predict(numbers.to_numpy()).tolist() == array.predict(numbers).tolist()
    assert array.score(numbers.to_numpy(), y) > 0.5
    with pytest.raises(ValueError, match="is expecting 8 features"):
        array.predict(numbers.to_numpy()[:, :3])


def test_cells_cause_no_error(regression, houses):
    X = houses[0].head(12).astype(object).copy()
    odd = [None, float("nan"), float("inf"), -float("inf"), "", "abc", 'a "quoted", cell\nof two lines', b"\xff", True, 10**400, pandas.NA, pandas.NaT]
    for name in X:
        X[name] = odd
    got = regression.predict(X)
    assert np.isfinite(got).all() and len(got) == len(odd)
    assert len(DPRegressor(5).fit(X.to_numpy(), odd).predict(X.to_numpy())) == len(odd)  # of training either
    one = DPRegressor(10).fit(np.array([[np.nan], [1.0]] * 500), np.arange(1000.0))
    assert len(one.predict(np.array([[np.nan], [1.0], [np.nan]]))) == 3  # an empty line is a record


@pytest.mark.parametrize("form", ["csr_matrix", "csc_array", "coo_array", "dok_array", "lil_matrix", "dia_array", "bsr_array"])
def test_sparse_matrices_are_tables_with_zeros(regression, form):
    make = getattr(pytest.importorskip("scipy.sparse"), form)
    dense = np.zeros((600, 4))
    dense[::3, 0], dense[1::5, 2], dense[::2, 3] = 2.0, -1.5, np.arange(300.0)
    y = dense @ [1.0, 0, 2, 0.1]
    model = DPRegressor(50, ranges={"x0": (0, 2), "x2": (-2, 2), "x3": (0, 300)}, method="joint-gram").fit(make(dense), y)
    assert model.n_features_in_ == 4
    np.testing.assert_allclose(model.predict(make(dense)), model.predict(dense), rtol=1e-9)
    assert model.score(make(dense), y) > 0.5
    with pytest.raises(ValueError, match="is expecting 4 features"):
        model.predict(make(dense[:, :3]))
    with pytest.raises(TypeError, match=r"sparse data was passed as y.*use y\.toarray\(\)"):
        DPClassifier(1).fit(np.eye(6), make(np.ones((6, 1))))


def nested_columns():
    """Tables with a column "items" of lists or structures, by the name of its type."""
    numbers = list(range(30))
    lists, structures = [[i, i + 1] for i in numbers], [{"first": i, "second": -i} for i in numbers]
    for name, cells, dtype in (
        ("List", lists, polars.List(polars.Int64)),
        ("Array", lists, polars.Array(polars.Int64, 2)),
        ("Struct", structures, polars.Struct({"first": polars.Int64, "second": polars.Int64})),
        ("empty List", [None] * len(numbers), polars.List(polars.String)),
    ):
        yield name, polars.DataFrame({"area": [float(i) for i in numbers], "items": polars.Series(cells, dtype=dtype)})
    try:
        import pyarrow
    except ImportError:
        return
    for name, cells, dtype in (
        ("list", lists, pyarrow.list_(pyarrow.int64())),
        ("struct", structures, pyarrow.struct({"first": pyarrow.int64(), "second": pyarrow.int64()})),
        ("map", [[("a", i)] for i in numbers], pyarrow.map_(pyarrow.string(), pyarrow.int64())),
        ("empty list", [None] * len(numbers), pyarrow.large_list(pyarrow.string())),
    ):
        table = pyarrow.table({"area": [float(i) for i in numbers], "items": pyarrow.array(cells, dtype)})
        yield "pyarrow " + name, table
        yield "pandas " + name, table.to_pandas(types_mapper=pandas.ArrowDtype)


def test_columns_of_lists_are_refused_before_anything_is_spent(tmp_path):
    ledger = tmp_path / "d.ledger"
    subprocess.run([dptrain.program(), "ledger", "init", str(ledger), "--dataset", "d", "--epsilon", "1"], check=True, capture_output=True)
    before = ledger.read_bytes()
    model = DPRegressor(1).fit(pandas.DataFrame({"area": np.arange(30.0)}), np.arange(30.0))
    for name, table in nested_columns():
        with pytest.raises(TypeError, match="column 'items' has the type .*leave it out"):
            DPRegressor(1, dataset="d", ledger=str(ledger)).fit(table, np.arange(30.0))
        assert len(model.predict(table)) == 30, name  # the model does not read the column
    assert ledger.read_bytes() == before


def test_arrays_with_other_columns_are_refused(regression, houses):
    numbers = houses[0].drop(columns="ocean").to_numpy()
    for columns in (1, 8, 20):
        with pytest.raises(ValueError, match=f"X has {columns} features, but DPRegressor is expecting 9 features"):
            regression.predict(np.resize(numbers, (3, columns)))


def test_cells_that_are_lists_cause_no_error(regression, houses):
    X = houses[0].head(3).astype(object).copy()
    X["area"] = [[1, 2], {"a": 1}, (3,)]  # the dtype says nothing, so that a record does not decide
    assert np.isfinite(regression.predict(X)).all()


def test_tables_of_pyarrow_are_those_of_pandas(regression, houses):
    pyarrow = pytest.importorskip("pyarrow")
    X, _ = houses
    table = pyarrow.Table.from_pandas(X)
    assert regression.predict(table).tolist() == regression.predict(X).tolist()
    assert regression.predict(table.to_batches()[0]).tolist() == regression.predict(X).tolist()
    position = table.column_names.index("ocean")
    coded = table.set_column(position, "ocean", table["ocean"].dictionary_encode())
    assert regression.predict(coded).tolist() == regression.predict(X).tolist()


def test_categories_of_short_numbers_are_those_of_a_csv_file():
    numbers = np.arange(4000)
    cells = np.array([0.1, 0.2, 0.3], np.float32)[numbers % 3]
    table = pandas.DataFrame({"g": cells, "x": numbers % 7 / 7})
    tables = {
        "pandas": table,
        "16 bits": table.assign(g=table.g.astype(np.float16)),
        "Float32": table.assign(g=table.g.astype("Float32")),
        "categories": table.assign(g=table.g.astype("category")),
        "polars": polars.from_pandas(table),
    }
    if tables["categories"].g.cat.categories.dtype != np.float32:  # pandas below 2 widens them: 0.1 is 0.10000000149
        del tables["categories"]
    public = {"categories": {"g": ["0.1", "0.2", "0.3"]}, "ranges": {"x": (0, 1)}, "target_range": (0, 30)}
    y = numbers % 3 * 10 + numbers % 7 / 7
    for name, X in tables.items():
        model = DPRegressor(20, method="joint-gram", holdout=0, **public).fit(X, y)
        assert model.score(X, y) > 0.9, name
        program = [float(row[0]) for row in model._predict(model._records(X))]
        np.testing.assert_allclose(model.predict(X), program, rtol=1e-9, err_msg=name)


def test_classification(classification, loans):
    X, y = loans
    assert classification.classes_.tolist() == ["no", "yes"]
    p = classification.predict_proba(X)
    assert p.shape == (len(X), 2) and np.allclose(p.sum(axis=1), 1) and (p >= 0).all()
    assert set(classification.predict(X)) <= {"no", "yes"} and classification.score(X, y) > 0.6


def test_labels_keep_their_type(loans):
    X, y = loans
    for labels in ((y == "yes").to_numpy(), (y == "yes").to_numpy().astype(int) * 7 - 3):
        c = DPClassifier(3, method="joint-gram").fit(X, labels)
        assert c.classes_.tolist() == sorted(set(labels.tolist()))
        assert c.predict(X).dtype == labels.dtype and c.score(X, labels) > 0.6


def test_names_of_columns_are_taken_as_they_are():
    """Names with line breaks, blanks, marks of equality, separators and quotes can be learned from, declared and predicted."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(1500, 2))
    for name in (" a", "a\nb", "a\rb", "a=b", "a,b:c", 'say "a"', "a\\b", "=1", "a\tb"):
        X = pandas.DataFrame({name: x[:, 0], "c=d": np.where(x[:, 1] > 0, "u", "v")})
        y = 3 * x[:, 0] + 5 * (x[:, 1] > 0)
        m = DPRegressor(20, method="joint-gram", ranges={name: (-4, 4)}, categories={"c=d": ["u", "v"]}).fit(X, y)
        assert m.score(X, y) > 0.8, name
        m = DPRegressor(20, method="joint-gram", exclude=[name], hash={"c=d": 8}).fit(X, y)
        assert [c["name"] for c in m.model_["columns"]] == ["c=d"], name


def test_labels_that_no_class_can_be_named_as_are_found(loans):
    """Labels longer than a name that is found, with joiners, or without an order are classes as they are."""
    import enum

    color = enum.Enum("color", ["red", "blue"])
    X, y = loans
    for first, second in (("x" * 65, "x" * 64 + "y"), ("д" * 40, "\u00a0" + "д" * 40), ("می\u200cخواهم", "میخواهم"), (color.red, color.blue), (("a", 1), ("a", 2))):
        labels = np.empty(len(y), dtype=object)
        for i, yes in enumerate(y == "yes"):
            labels[i] = first if yes else second
        c = DPClassifier(5, method="joint-gram").fit(X, labels)
        assert len(c.classes_) == 2 and set(c.classes_.tolist()) == {first, second}
        assert np.mean([a == b for a, b in zip(c.predict(X), labels)]) > 0.6


def test_three_classes_have_a_column_each():
    table = pandas.read_csv(os.path.join(DATA, "leaves.csv"))
    X, y = table.drop(columns="species"), table["species"]
    names = sorted(set(y))
    c = DPClassifier(3, classes=names[::-1], method="prototypes").fit(X, y)
    assert c.classes_.tolist() == names
    p = c.predict_proba(X)
    assert p.shape == (len(X), len(names)) and np.allclose(p.sum(axis=1), 1)
    assert (c.classes_[p.argmax(axis=1)] == c.predict(X)).mean() > 0.99


def test_probabilities_are_there_or_not():
    """hasattr says whether a fitted model has probabilities, as scikit-learn asks; a model without them says why."""
    x = np.repeat(np.arange(4.0), 600)
    X = np.column_stack([x, np.tile(np.arange(3.0), 800)])
    assert hasattr(DPClassifier(5), "predict_proba")  # not fitted: nothing is known
    two, four = X[:, 0] > 1, X[:, 0].astype(int)
    for y, method, there in ((two, "joint-gram", True), (two, "logistic", False), (four, "prototypes", True), (four, "joint-gram", False), (four, "logistic", False)):
        c = DPClassifier(20, classes=np.unique(y).tolist(), method=method).fit(X, y)
        assert hasattr(c, "predict_proba") == there, method
        if there:
            p = c.predict_proba(X[:5])
            assert p.shape == (5, len(c.classes_))
            assert np.allclose(p.sum(axis=1), 1)
        else:
            with pytest.raises(NoProbabilities, match="two classes" if y is four else "does not estimate them"):
                c.predict_proba(X[:5])
            with pytest.raises(DptrainError, match="no probabilities"):
                c._predict_proba(X[:5])  # the program refuses too


def test_errors_are_those_of_the_program(regression, houses):
    X, y = houses
    with pytest.raises(InvalidInput, match="epsilon: must be greater than 0") as caught:
        DPRegressor(0).fit(X, y)
    assert caught.value.code == 3 and pickle.loads(pickle.dumps(caught.value)).code == 3
    for parameters in ({"epsilon": float("nan")}, {"epsilon": np.float32("inf")}, {"missing": [np.nan]}, {"ranges": {"area": (np.nan, 5)}}):
        with pytest.raises(DptrainError, match="nan|inf") as caught:
            DPRegressor(**parameters).fit(X, y)
        assert "is empty" not in str(caught.value)
    with pytest.raises(InvalidInput, match="magic"):
        DPRegressor(method="magic").fit(X, y)
    with pytest.raises(DptrainError, match="area"):
        regression.predict(X.drop(columns="area"))
    with pytest.raises(ValueError, match="inconsistent"):
        DPRegressor().fit(X, y[:10])
    with pytest.raises(ValueError, match="2D"):
        DPRegressor().fit(y.to_numpy(), y)
    with pytest.raises(ValueError, match="same name as a column of X, 'area'"):
        DPRegressor(target="area").fit(X, y)
    with pytest.raises(DptrainError, match="no probabilities"):
        few = DPClassifier(1, classes=["no", "yes"], method="svm").fit(np.zeros((40, 1)), ["no", "yes"] * 20)
        few.predict_proba(np.zeros((1, 1)))
    with pytest.raises(AttributeError):
        DPRegressor().predict_interval(X)


def test_ledger_holds_the_sum(houses, tmp_path):
    ledger = str(tmp_path / "houses.ledger")
    subprocess.run([dptrain.program(), "ledger", "init", ledger, "--dataset", "houses", "--epsilon", "1.5"], capture_output=True, check=True)
    run = DPRegressor(1, dataset="houses", ledger=ledger)
    run.fit(*houses)
    with pytest.raises(dptrain.BudgetRefused, match="epsilon"):
        run.fit(*houses)


def test_nothing_private_is_left(houses, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    model = DPRegressor(1).fit(*houses)
    assert os.listdir(tmp_path) == [] and "run.json" not in model.release_
    kept = DPRegressor(1, out=tmp_path / "out").fit(*houses)
    assert sorted(os.listdir(tmp_path / "out")) == ["curator", "release"] and kept.release_
    with pytest.raises(InvalidInput, match="out"):
        DPRegressor(1, out=tmp_path / "out").fit(*houses)  # results are not replaced
    assert pickle.loads(pickle.dumps(model)).predict(houses[0]).tolist() == model.predict(houses[0]).tolist()


def test_console_command():
    out = subprocess.run([sys.executable, "-m", "dptrain", "version"], capture_output=True, check=True, text=True)
    assert out.stdout.startswith("dptrain ") and dptrain.version() in out.stdout


def test_every_key_of_a_recipe_can_be_set(houses):
    X, y = houses
    model = DPRegressor(
        2, select="kendall", k=2, method="tukey", fallback="joint-gram", budget={"selection": 0.3}, settings={"model.check_share": np.float64(0.5)}
    ).fit(X, y)
    recipe = model.release_["recipe.yaml"].decode()
    for line in ("method: kendall", "k: 2", "method: tukey", "fallback: joint-gram", "selection: 0.3", "check_share: 0.5"):
        assert line in recipe, recipe
    with pytest.raises(InvalidInput, match="model.nonsense"):
        DPRegressor(2, settings={"model.nonsense": 1}).fit(X, y)
    with pytest.raises(InvalidInput, match="unknown stage"):
        DPRegressor(2, budget={"choice": 0.5}).fit(X, y)


def test_metrics_are_withheld_as_by_the_program():
    """The head of a report withholds a value in the cases in which the program does; package report tests the same cases."""
    from dptrain._estimators import _withheld

    with open(os.path.join(os.path.dirname(__file__), "measured.json")) as file:
        cases = json.load(file)
    assert [sorted(_withheld(case["metrics"])) for case in cases] == [case["withheld"] for case in cases]
