"""The estimators within pipelines, cross-validations and searches of scikit-learn."""

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_regression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, learning_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, PolynomialFeatures, StandardScaler

from dptrain import DPClassifier, DPRegressor, DptrainWarning, Ledger


@pytest.fixture(scope="module")
def records():
    return make_regression(2000, 3, random_state=1)


def said(code, run):
    """The messages of the warnings with a code that a function causes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    return [str(w.message) for w in caught if isinstance(w.message, DptrainWarning) and w.message.code == code]


def test_repeated_fits_are_counted(records):
    X, y = records
    run = DPRegressor(5, method="joint-gram", holdout=0)
    (message,) = said("repeated-fits", lambda: cross_val_score(run, X, y, cv=3))
    assert "3 releases with a total epsilon of 15 " in message
    (message,) = said("repeated-fits", lambda: cross_val_score(make_pipeline(run), X, y, cv=2))
    assert "2 releases with a total epsilon of 10 " in message
    (message,) = said("repeated-fits", lambda: GridSearchCV(run, {"epsilon": [1, 4], "holdout": [0, 0.1]}, cv=2).fit(X, y))
    assert "9 releases with a total epsilon of 24 " in message  # two splits of 1 + 1 + 4 + 4, and 4 at the end
    (message,) = said("repeated-fits", lambda: GridSearchCV(run, {"epsilon": [1, 4]}, cv=2, n_jobs=2).fit(X, y))
    assert "5 releases with a total epsilon of 14 " in message  # other processes fit the splits, and this one all records
    (message,) = said("repeated-fits", lambda: cross_val_predict(run, X, y, cv=2))
    assert "2 releases" in message
    assert len(said("repeated-fits", lambda: learning_curve(run, X, y, cv=2, train_sizes=[0.5, 1.0]))) == 1
    assert said("repeated-fits", lambda: run.fit(X, y)) == []
    assert len(said("no-ledger", lambda: run.fit(X, y))) == 1
    assert said("no-ledger", lambda: cross_val_score(run, X, y, cv=2)) == []


def test_a_ledger_counts_the_fits_of_a_search(records, tmp_path):
    X, y = records
    ledger = Ledger.create(tmp_path / "d.ledger", "d", epsilon=100)
    run = DPRegressor(5, method="joint-gram", holdout=0, ledger=ledger)
    assert said("repeated-fits", lambda: cross_val_score(run, X, y, cv=3)) == []
    assert len(ledger.runs) == 3
    assert clone(run).get_params()["ledger"] == ledger


def test_steps_that_learned_from_the_records_are_named(records):
    X, y = records
    run = DPRegressor(5, method="joint-gram", holdout=0)
    (message,) = said("unprotected-step", lambda: make_pipeline(StandardScaler(), run).fit(X, y))
    assert "'standardscaler' (StandardScaler)" in message and "mean_" in message
    nested = make_pipeline(make_column_transformer((OneHotEncoder(), [0]), (StandardScaler(), [1])), make_pipeline(run))
    rounded = np.round(X, 0)
    assert len(said("unprotected-step", lambda: nested.fit(rounded, y))) == 2
    harmless = make_pipeline(FunctionTransformer(), PolynomialFeatures(2), OneHotEncoder(categories=[[0.0, 1.0]] * 10, handle_unknown="ignore"), run)
    assert said("unprotected-step", lambda: harmless.fit(rounded, y)) == []
    assert len(said("unprotected-step", lambda: cross_val_score(make_pipeline(StandardScaler(), run), X, y, cv=2))) == 2


def test_what_is_refused_says_why(records):
    X, y = records
    for name in ("random_state", "class_weight", "sample_weight"):
        with pytest.raises(TypeError, match=f"no {name}: .*noise"):
            DPClassifier(**{name: None})
        with pytest.raises(TypeError, match=f"no {name}: .*noise"):
            DPRegressor().set_params(**{name: 1})
        with pytest.raises(TypeError, match=f"no {name}: .*noise"):
            DPRegressor().fit(X, y, **{name: np.ones(len(y))})
    with pytest.raises(TypeError, match="unexpected argument 'epsilon'"):
        DPClassifier().fit(X, y, epsilon=3)
