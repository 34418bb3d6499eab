"""Options, prices, ledgers, progress, and what a fitted estimator shows of its model."""

import datetime
import os
import pickle
import subprocess

import numpy as np
import pytest

import dptrain
from dptrain import Abstained, BudgetRefused, DPClassifier, DPRegressor, InvalidInput, Ledger, TooFewClasses

pandas = pytest.importorskip("pandas")
DATA = os.environ.get("DPTRAIN_TESTDATA") or os.path.join(os.path.dirname(__file__), "..", "..", "testdata")
OCEAN = ["inland", "near bay", "near ocean", "island"]


@pytest.fixture(scope="module")
def houses():
    table = pandas.read_csv(os.path.join(DATA, "houses.csv"))
    return table.drop(columns="price"), table["price"]


@pytest.fixture(scope="module")
def loans():
    table = pandas.read_csv(os.path.join(DATA, "loans.csv"))
    return table.drop(columns="repaid"), table["repaid"]


def by_program(model, X, *flags):
    """What the command predicts for X, as rows of texts."""
    return model._predict(model._records(X), *flags)


def test_every_option_reaches_the_recipe(houses):
    X, y = houses
    model = DPRegressor(
        "ln(20)", method="joint-gram", select="kendall", k=4, share=0.2, exclude=["garden"], hash={"ocean": 8}, prefix={"ocean": 6}, encode=["ocean"],
        fold="case", numbers="strict", missing=[-999, 7.5], format={"decimal": "."}, target_transform="sqrt", target_range=(0, 1e6), engine="memory",
    ).fit(X, y)
    recipe = model.release_["recipe.yaml"].decode()
    for line in ("epsilon: 2.99573", "method: kendall", "k: 4", "share: 0.2", "exclude: [garden]", "hash: 8", "prefix: 6", "encode: target", "fold: case", "numbers: strict", "missing: [-999, 7.5]", "transform: sqrt", "upper: 1e+06"):
        assert line in recipe, recipe
    with pytest.raises(ValueError, match="format has the key 'separator'"):
        DPRegressor(format={"separator": ";"}).fit(X, y)


def test_the_target_alone_may_be_private(houses):
    X, y = houses
    model = DPRegressor(3, relation="substitute-private-columns", private=["price"], exclude=["ocean"], method="joint-gram").fit(X, y)
    assert model.report_["guarantee"]["relation"] == "substitute-private-columns" and model.score(X, y) > 0.5
    assert "private: true" in model.release_["recipe.yaml"].decode()
    with pytest.raises(InvalidInput, match="private columns need the relation"):
        DPRegressor(3, private=["price"], exclude=["ocean"]).fit(X, y)


def test_metrics_by_group(houses):
    X, y = houses
    model = DPRegressor(8, method="joint-gram", by="ocean", exclude=["ocean"], categories={"ocean": OCEAN}).fit(X, y)
    groups = model.report_["metrics"]["groups"]
    assert groups["column"] == "ocean" and [g["name"] for g in groups["groups"]] == [*OCEAN, ""]
    assert "ocean" not in model.report_["features"]["considered"]
    assert all("r2" in g for g in groups["groups"] if not g["too_few"])
    np.testing.assert_allclose(model.predict(X), model.predict(X.assign(ocean="elsewhere")))


def test_a_search_keeps_one_of_its_tries(houses):
    X, y = houses
    candidates = [{"model": {"method": "joint-gram"}}, {"model": {"method": "boosted-additive"}}]
    model = DPRegressor(5, search={"runs": 2, "candidates": candidates}).fit(X, y)
    assert model.report_["model"]["method"] in ("joint-gram", "boosted-additive")


def test_a_recipe_may_describe_a_file_of_another_dialect(houses, tmp_path):
    X, y = houses
    path = tmp_path / "recipe.yaml"
    path.write_text("data:\n  path: elsewhere.csv\n  target: price\n  format: {separator: ';', encoding: latin1, skip: 2}\nprivacy: {epsilon: 3}\nmodel: {method: joint-gram}\n")
    model = DPRegressor(3, recipe=path, undeclared="numbers").fit(X, y)
    assert model.report_["model"]["method"] == "joint-gram" and model.score(X, y) > 0.3


def test_numbers_may_be_written_with_decimal_commas(houses):
    X, y = houses
    X = X.drop(columns="ocean")
    written = X.astype(str).apply(lambda column: column.str.replace(".", ",", regex=False))
    written["area"] = X["area"]  # a column of numbers among texts
    model = DPRegressor(20, method="joint-gram", format={"decimal": ","}, undeclared="numbers").fit(written, y)
    assert model.score(written, y) > 0.5
    np.testing.assert_allclose(model.predict(written), model.predict(X), rtol=1e-9)
    np.testing.assert_allclose(model.predict(written), [float(row[0]) for row in by_program(model, written)], rtol=1e-9)


def dated(houses):
    """Tables of all libraries with a column of dates "sold", by name of the library."""
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    X = houses[0].head(3000).drop(columns="ocean")
    days = pandas.Series(np.datetime64("2020-01-31T10:30:00.25") + np.arange(len(X)).astype("m8[h]"), index=X.index)
    days.iloc[::7] = pandas.NaT
    frame = X.assign(sold=days)
    yield "pandas", frame
    yield "pandas, with a zone", X.assign(sold=days.dt.tz_localize("UTC").dt.tz_convert("Asia/Kolkata"))
    yield "pandas, of pyarrow", pyarrow.Table.from_pandas(frame, preserve_index=False).to_pandas(types_mapper=pandas.ArrowDtype)
    yield "polars", polars.from_pandas(frame)
    yield "polars, days", polars.from_pandas(frame).with_columns(polars.col("sold").cast(polars.Date))
    yield "pyarrow", pyarrow.Table.from_pandas(frame, preserve_index=False)
    yield "numpy", days.to_numpy().reshape(-1, 1)


def test_a_dtype_of_dates_declares_dates(houses):
    y = houses[1].head(3000)
    for name, table in dated(houses):
        model = DPRegressor(10, method="joint-gram", undeclared="numbers").fit(table, y)
        column = "x0" if name == "numpy" else "sold"
        columns = [c["name"] for c in model.model_["columns"]]
        assert {f"{column}.days", f"{column}.month", f"{column}.weekday"} <= set(columns), (name, columns)
        np.testing.assert_allclose(model.predict(table), [float(row[0]) for row in by_program(model, table)], rtol=1e-9, err_msg=name)
        assert model.contributions(table).values.shape == (3000, model.n_features_in_)


def test_a_model_of_dates_reads_texts_and_objects(houses):
    y = houses[1].head(3000)
    texts = pandas.DataFrame({"sold": ["31.01.2020", "1.2.2021", "x"] * 1000, "area": houses[0]["area"].head(3000)})
    model = DPRegressor(10, method="joint-gram", dates={"sold": "2.1.2006"}).fit(texts, y)
    objects = texts.assign(sold=pandas.Series([datetime.date(2020, 1, 31), datetime.date(2021, 2, 1), None] * 1000, dtype=object))
    expected = [float(row[0]) for row in by_program(model, texts)]
    np.testing.assert_allclose(model.predict(texts), expected, rtol=1e-9)
    assert model.predict(objects.assign(sold=pandas.to_datetime(objects["sold"]))).tolist() == model.predict(texts).tolist()


METHODS = [
    ("joint-gram", {}), ("adassp", {}), ("boosted-adassp", {}), ("boosted-additive", {}), ("boosted-kernel", {}),
    ("tukey", {"ranges": {name: (0, 300) for name in ("area", "rooms", "age", "distance", "quality")}, "exclude": ["latitude", "longitude", "garden"], "fallback": "joint-gram"}),
]
CLASS_METHODS = [("joint-gram", {}), ("boosted-additive", {}), ("boosted-kernel", {}), ("svm", {}), ("logistic", {}), ("prototypes", {}), ("brc", {})]
# By default, kernels learn from fewer records: they take longest to train.
KERNEL_RECORDS = None if os.environ.get("DPTRAIN_TEST_FULL") else 2000
# A model that auto chose is of one of these kinds. scripts/long.sh full and python try it as well.
if os.environ.get("DPTRAIN_TEST_FULL") or os.environ.get("DPTRAIN_ALL_CHECKS"):
    METHODS, CLASS_METHODS = [("auto", {}), *METHODS], [("auto", {}), *CLASS_METHODS]


def odd(X):
    """The table with cells that are missing, infinite, out of range, unknown or no numbers, as objects."""
    X = X.head(400).astype(object).copy()
    for j, name in enumerate(X):
        X.iloc[j::11, j] = [[None, np.inf, "45 yrs", "nowhere", 1e300, -1e300, True, "NA", " 12 "][i % 9] for i in range(len(X.iloc[j::11]))]
    return X


@pytest.mark.parametrize("method, more", METHODS, ids=[name for name, _ in METHODS])
def test_regressions_predict_as_the_command(houses, method, more):
    X, y = houses
    settings = {"categories": {"ocean": OCEAN}, **more}
    records = KERNEL_RECORDS if method == "boosted-kernel" else len(X)
    model = DPRegressor(8, method=method, **settings).fit(X[:records], y[:records])
    X = X.head(1000)
    for table in (X, odd(X), odd(X).tail(150)):  # the program predicts many records of a kernel
        np.testing.assert_allclose(model.predict(table), [float(row[0]) for row in by_program(model, table)], rtol=1e-9)
        parts = model.contributions(table)
        np.testing.assert_allclose(parts.constant + parts.values.sum(axis=1) + parts.together, model.predict(table), rtol=1e-9)
    level = model.model_["interval"][0]["level"]
    expected = np.array([[float(v) for v in row] for row in by_program(model, X, f"--interval={level}")])
    np.testing.assert_allclose(model.predict_interval(X, level), expected, rtol=1e-9, atol=1e-6)
    with pytest.raises(InvalidInput, match="0.123"):
        model.predict_interval(X, 0.123)


@pytest.mark.parametrize("method, more", CLASS_METHODS, ids=[name for name, _ in CLASS_METHODS])
def test_classifiers_predict_as_the_command(loans, method, more):
    X, y = loans
    records = KERNEL_RECORDS if method == "boosted-kernel" else len(X)
    model = DPClassifier(8, method=method, classes=["yes", "no"], undeclared="numbers", **more).fit(X[:records], y[:records])
    X = X.head(1000)
    for table in (X, odd(X), odd(X).tail(150)):  # the program predicts many records of a kernel
        assert model.predict(table).tolist() == [row[0] for row in by_program(model, table)]
        scores = model.decision_function(table)
        assert (model.classes_[(scores > 0).astype(int)] == model.predict(table)).all()
        parts = model.contributions(table)
        np.testing.assert_allclose(parts.constant + parts.values.sum(axis=1) + parts.together, scores, rtol=1e-9, atol=1e-9)
        if hasattr(model, "predict_proba"):
            second = np.array([float(row[1]) for row in by_program(model, table, "--probability")])
            np.testing.assert_allclose(model.predict_proba(table)[:, list(model.classes_).index(model.model_["classes"][1])], second, rtol=1e-9, atol=1e-12)


def test_many_classes_predict_as_the_command():
    table = pandas.read_csv(os.path.join(DATA, "leaves.csv"))
    X, y = table.drop(columns="species"), table["species"]
    names = sorted(set(y))
    model = DPClassifier(8, classes=names[::-1], method="prototypes").fit(X, y)
    assert model.predict(odd(X)).tolist() == [row[0] for row in by_program(model, odd(X))]
    scores = model.decision_function(X)
    assert scores.shape == (len(X), len(names)) and (model.classes_[scores.argmax(axis=1)] == model.predict(X)).all()
    expected = np.array([[float(v) for v in row[1:]] for row in by_program(model, X, "--probability")])
    np.testing.assert_allclose(model.predict_proba(X), expected[:, [model.model_["classes"].index(name) for name in model.classes_]], rtol=1e-9, atol=1e-12)
    parts = model.contributions(X)
    np.testing.assert_allclose(parts.constant + parts.values.sum(axis=1) + parts.together, scores, rtol=1e-9, atol=1e-9)


def test_predictions_start_one_program_only(houses, monkeypatch):
    X, y = houses
    for method, records in (("joint-gram", 6000), ("boosted-additive", 6000), ("boosted-kernel", 200)):
        with monkeypatch.context() as patch:
            model = DPRegressor(5, method=method).fit(X[:KERNEL_RECORDS], y[:KERNEL_RECORDS])
            first = model.predict(X[:records])
            patch.setenv("DPTRAIN", os.path.join(DATA, "absent"))
            assert model.predict(X[:records]).tolist() == first.tolist()


def test_what_a_linear_model_shows(houses):
    X, y = houses
    numbers = X.drop(columns="ocean")
    model = DPRegressor(50, method="joint-gram", select="fixed", settings={"selection.features": ["rooms", "area"]}).fit(numbers, y)
    assert model.coef_names_ == list(numbers.columns) and (model.coef_ != 0).tolist() == [name in ("rooms", "area") for name in numbers]
    inner = numbers.head(50).fillna(0)
    for c in model.model_["columns"]:
        inner[c["name"]] = inner[c["name"]].clip(c["lower"], c["upper"])
    linear = model.intercept_ + inner.to_numpy() @ model.coef_
    limits = model.model_["prediction"]
    np.testing.assert_allclose(model.predict(inner), np.clip(linear, limits["lower"], limits["upper"]), rtol=1e-9)
    texts = DPRegressor(20, method="joint-gram", categories={"ocean": OCEAN}).fit(X, y)
    assert "ocean=inland" in texts.coef_names_ and len(texts.coef_) == len(texts.coef_names_)
    assert texts.shapes_["ocean"]["categories"] == OCEAN
    classes = DPClassifier(5, method="joint-gram").fit(numbers, (y > y.median()).to_numpy())
    assert classes.coef_.shape == (1, numbers.shape[1]) and classes.intercept_.shape == (1,)
    assert classes.coef_[0][list(numbers).index("area")] > 0  # a larger house is more often expensive, and True is the second class


def test_what_an_additive_model_shows(houses):
    X, y = houses
    model = DPRegressor(20, method="boosted-additive", categories={"ocean": OCEAN}).fit(X, y)
    assert not hasattr(model, "coef_")
    shape = model.shapes_["area"]
    assert (np.diff(shape["x"]) >= 0).all() and len(shape["x"]) == len(shape["y"])
    importances = model.feature_importances_
    assert importances.shape == (X.shape[1],) and abs(importances.sum() - 1) < 1e-12 and importances.argmax() == list(X).index("area")
    parts = model.contributions(X)
    area = list(X).index("area")
    inside = X["area"].between(shape["x"][0], shape["x"][-1])
    # The curve has a step at every edge, so two records on one side of it differ as the curve does.
    at = np.interp(X["area"][inside], shape["x"], shape["y"])
    assert np.corrcoef(at, parts.values[inside, area])[0, 1] > 0.999
    assert not hasattr(DPRegressor(20, method="tukey", fallback="joint-gram"), "feature_importances_")


def test_the_head_of_the_report_is_html(houses):
    X, y = houses
    model = DPRegressor(2, target='price <script>"').fit(X, y)
    page = model._repr_mimebundle_()["text/html"]
    assert "ε 2" in page and "R²" in page and "&lt;script&gt;" in page and "<script>" not in page and "no-ledger" in page
    assert "DPRegressor" in DPRegressor(2)._repr_mimebundle_()["text/html"]


def test_one_class_is_a_value_error():
    column = np.arange(200.0)
    with pytest.raises(TooFewClasses) as error:
        DPClassifier(20, method="joint-gram", holdout=0).fit(np.column_stack([column, column % 7]), ["yes"] * 200)
    assert isinstance(error.value, ValueError) and isinstance(error.value, Abstained)
    assert error.value.code == 7


def test_prices_read_no_record(houses, loans, tmp_path):
    X, y = houses
    ledger = Ledger.create(tmp_path / "h.ledger", "h", epsilon=3)
    before = (tmp_path / "h.ledger").read_bytes()
    run = DPRegressor(1, method="joint-gram", ledger=ledger)  # others are not priced in another way, but simulated for seconds
    plan = run.plan(X, y, runs=4)
    assert plan["guarantee"]["epsilon"] == 1 and plan["target"] == "price" and plan["ledger"]["dataset"] == "h" and "fit/all" in repr(plan)
    assert plan == run.plan(X[:0], y[:0], runs=4) == run.plan(X.sample(10), y.sample(10), runs=4)
    expected = run.explain(X, y, rows=[2000])
    assert [row["rows"] for row in expected["sizes"]] == [2000] and "R²" in expected.text
    assert (tmp_path / "h.ledger").read_bytes() == before and not hasattr(run, "release_")
    plan = DPClassifier(1, method="joint-gram").plan(*loans)
    assert plan["target"] == "repaid"
    with pytest.raises(BudgetRefused):
        DPRegressor(1e-9, method="tukey").plan(X, y)


def test_a_ledger_is_a_context(houses, tmp_path):
    X, y = houses
    with Ledger.create(tmp_path / "h.ledger", "h", epsilon=1.5) as ledger:
        DPRegressor(1, note="first").fit(X, y)
        assert [run["note"] for run in ledger.runs] == ["first"] and 0 < ledger.share_left < 1
        with pytest.raises(BudgetRefused, match="epsilon"):
            DPRegressor(1).fit(X, y)
    DPRegressor(1, method="joint-gram").fit(X, y)  # outside of it no ledger is used
    assert len(ledger.runs) == 1
    left = ledger.left["cost"]
    ledger.spend(rho=left / 2, note="counts")
    assert abs(ledger.left["cost"] - left / 2) < 1e-9
    with pytest.raises(BudgetRefused):
        ledger.spend(epsilon=3)
    ledger.verify()
    with pytest.raises(dptrain.LedgerRefused):
        DPRegressor(1, ledger=Ledger(tmp_path / "h.ledger", "other")).fit(X, y)
    with pytest.raises(ValueError, match="omit dataset"):
        DPRegressor(1, dataset="x", ledger=ledger).fit(X, y)


def test_progress_names_every_stage(houses, capfd):
    X, y = houses
    stages = []
    DPRegressor(2, progress=lambda stage, of, name: stages.append((stage, of, name))).fit(X, y)
    assert [stage for stage, _, _ in stages] == list(range(1, stages[0][1] + 1)) and stages[0][2] == "read" and stages[-1][2] == "write"
    DPRegressor(2, progress=True, method="joint-gram").fit(X, y)
    assert "dptrain: 1 of " in capfd.readouterr().err
    with pytest.raises(InvalidInput, match="magic"):
        DPRegressor(2, progress=True, method="magic").fit(X, y)

    class Stop(Exception):
        pass

    def stop(*_):
        raise Stop

    with pytest.raises(Stop):
        DPRegressor(2, progress=stop).fit(X, y)


def test_warnings_have_codes(houses):
    X, y = houses
    with pytest.warns(dptrain.DptrainWarning) as caught:
        model = DPRegressor(1).fit(X, y)
    expected = {w["code"] for w in model.report_["warnings"] if w["severity"] not in ("negligible", "note")}
    assert {w.message.code for w in caught} == expected and "no-ledger" in expected


def test_scikit_learn_is_not_needed(houses, tmp_path):
    """The package works where scikit-learn cannot be imported."""
    code = """
import sys
sys.modules["sklearn"] = sys.modules["sklearn.base"] = sys.modules["sklearn.exceptions"] = None
import numpy as np
from dptrain import DPRegressor
X = np.random.default_rng(0).normal(size=(3000, 2))
model = DPRegressor(10, method="joint-gram").fit(X, X @ [1.0, 2.0])
assert model.score(X, X @ [1.0, 2.0]) > 0.5 and model.get_params()["epsilon"] == 10
try:
    model.set_params(random_state=1)
except TypeError as e:
    assert "seed" in str(e)
else:
    raise AssertionError
"""
    subprocess.run([os.sys.executable, "-W", "ignore", "-c", code], check=True)


@pytest.mark.parametrize("named", [False, True])
def test_report_of_a_run_without_a_model(tmp_path, named):
    """A run that ends without a model has its report in the exception, and the message names no folder that is gone."""
    X = np.arange(2000.0).reshape(-1, 1)
    out = tmp_path / "run"
    for estimator, y in ((DPClassifier, ["only"] * 2000), (DPRegressor, [float("nan")] * 2000)):
        with pytest.raises(Abstained) as error:
            estimator(epsilon=1.0, out=out / estimator.__name__ if named else None).fit(X, y)
        for caught in (error.value, pickle.loads(pickle.dumps(error.value))):
            assert caught.report["format"].startswith("dptrain.report/")
            assert ("attribute report" in str(caught)) is not named
            assert (str(out) in str(caught)) is named
