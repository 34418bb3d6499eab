"""The estimators."""

import csv
import io
import json
import os
import tempfile
import warnings
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

import numpy as np

from ._labels import Labels, as_array, declared_kind, is_missing, kind_of
from ._program import InvalidInput, NoProbabilities, run
from ._table import columns, listed, refuse_sparse, text, to_csv, with_named_column

try:
    from sklearn.base import BaseEstimator as _Base
    from sklearn.base import ClassifierMixin as _ClassifierMixin
    from sklearn.base import RegressorMixin as _RegressorMixin
    from sklearn.exceptions import DataConversionWarning, NotFittedError
except ImportError:  # scikit-learn is not needed
    import inspect

    class _Base:
        def get_params(self, deep=True):
            return {name: getattr(self, name) for name in inspect.signature(type(self).__init__).parameters if name != "self"}

        def set_params(self, **params):
            known = self.get_params()
            for name, value in params.items():
                if name not in known:
                    raise ValueError(f"{name!r} is no parameter of {type(self).__name__}")
                setattr(self, name, value)
            return self

    class _RegressorMixin:
        pass

    class _ClassifierMixin:
        pass

    class DataConversionWarning(UserWarning):
        """The shape of an array was changed."""

    class NotFittedError(ValueError, AttributeError):
        """The estimator was not fitted."""



class DptrainWarning(UserWarning):
    """A warning or an error of the report of a fit. ``code`` names its kind, ``severity`` says how serious it is."""

    def __init__(self, message, code="", severity=""):
        super().__init__(message)
        self.code, self.severity = code, severity

    def __reduce__(self):
        return type(self), (str(self), self.code, self.severity)


# The severities that are only remarks.
_REMARKS = ("negligible", "note")



def _yaml(value):
    """A value of a recipe as YAML, of which JSON is a part. Numbers and arrays of NumPy are taken like Python's."""
    return json.dumps(value, default=lambda x: x.tolist() if hasattr(x, "tolist") else str(x))


# Parameters are the fields of a class: it takes them by name, epsilon by place too.
_parameters = dataclass(eq=False, repr=False)


@_parameters
class _Estimator(_Base):
    """What both estimators share.

    Parameters
    ----------
    epsilon, delta : the privacy budget. delta is 1e-6 if it is None.
    relation : "add-remove" (default) or "substitute": what is hidden.
    method, select : how to train and how to choose columns, by name; None lets dptrain decide.
    k : how many columns to choose. rounds : rounds of boosting. fallback : what is trained in case method makes no model.
    budget : a dict from stages to their shares of the training budget, such as {"selection": .05, "model": .9}.
    settings : a dict from any other keys of a recipe to their values, such as {"model.rounds": 3}.
    holdout : the share of records for the private metrics, .2 if it is None; 0 leaves them out.
    categories : a dict from columns to their public values, or to "private".
    undeclared : "found" or "numbers": what columns are that nothing is said of. None finds text columns privately, as the
        command line does, where that has a price.
    dates : a dict from columns of dates to how these are written, such as "2006-01-02", or "auto".
    ranges : a dict from columns to public pairs (lower, upper).
    target : the name of the target in the model; that of y if it has one, else "target".
    target_range : of DPRegressor, a public pair for the target.
    classes : of DPClassifier, the public classes. None finds them privately.
    public_classes : of DPClassifier, True declares that the labels in y are public knowledge: all are classes.
    most_classes : of DPClassifier, how many classes are found at most, 32 if it is None.
    unit, max_rows : the column of X that says whose record it is, and how many records of one are kept.
    dataset, ledger : enter the run in a ledger under this name of the data set.
    recipe : the path of a recipe; the other parameters replace its values.
    out : a new folder for release/ and curator/. None keeps the release in memory and drops what is private.
    """

    _task = ""

    epsilon: float = 1.0
    _: KW_ONLY
    delta: "float | None" = None
    relation: "str | None" = None
    method: "str | None" = None
    select: "str | None" = None
    k: "int | None" = None
    rounds: "int | None" = None
    fallback: "str | None" = None
    budget: "dict | None" = None
    settings: "dict | None" = None
    holdout: "float | None" = None
    categories: "dict | None" = None
    undeclared: "str | None" = None
    dates: "dict | None" = None
    ranges: "dict | None" = None
    target: "str | None" = None
    unit: "str | None" = None
    max_rows: "int | None" = None
    dataset: "str | None" = None
    ledger: "str | None" = None
    recipe: "str | os.PathLike | None" = None
    out: "str | os.PathLike | None" = None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _arguments(self, target):
        """The arguments of fit, but for the folder."""
        out = ["fit"] + ([os.fspath(self.recipe)] if self.recipe is not None else [])
        out += ["--data", "-", "--target", target, "--task", self._task, "--epsilon", text(self.epsilon), "--quiet"]
        for flag in ("delta", "relation", "method", "select", "k", "rounds", "fallback", "holdout", "undeclared", "unit", "max_rows", "dataset", "ledger"):
            value = getattr(self, flag)
            if value is not None:
                out += ["--" + flag.replace("_", "-"), value if isinstance(value, str) else text(value)]
        for stage, share in (self.budget or {}).items():
            out += ["--budget", f"{stage}={text(share)}"]
        for key, value in (self.settings or {}).items():
            out += ["--set", f"{key}={_yaml(value)}"]
        for name, values in (self.categories or {}).items():
            out += ["--categories", f"{name}={values if isinstance(values, str) else listed(values)}"]
        for name, layout in (self.dates or {}).items():
            out += ["--date", f"{name}={layout}"]
        ranges = dict(self.ranges or {})
        if getattr(self, "target_range", None) is not None:
            ranges[target] = self.target_range
        for name, (lower, upper) in ranges.items():
            out += ["--range", f"{name}={text(lower)}:{text(upper)}"]
        return out

    def _fit(self, X, y, cell=text, more=()):
        """Fit to records X and targets y, which cell turns into text. more are further arguments of the command."""
        names, cells = columns(X)
        target = self._target(names, y)
        y = _cells(y)
        records = len(cells[0]) if cells else 0
        if not cells:
            raise ValueError(f"0 feature(s) (shape=({len(y)}, 0)) while a minimum of 1 is required.")
        if records == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        if len(y) != records:
            raise ValueError("Found input variables with inconsistent numbers of samples: X and y differ")
        table = to_csv([*names, target], [*cells, [cell(label) for label in y]])
        with tempfile.TemporaryDirectory(prefix="dptrain-") as folder:
            out = Path(self.out if self.out is not None else Path(folder) / "out")
            run([*self._arguments(target), *more, "--out", str(out)], table)
            self.release_ = {p.name: p.read_bytes() for p in sorted((out / "release").iterdir()) if p.is_file()}
        if _named(X):
            self.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.n_features_in_ = len(names)
        for w in self.report_.get("warnings", []):
            if w["severity"] not in _REMARKS:
                warnings.warn(DptrainWarning(f"{w['code']}: {w['text']}", w["code"], w["severity"]), stacklevel=3)
        return self

    def _target(self, names, y):
        target = self.target or getattr(y, "name", None)
        if target is None or target == "":
            target = "target"
            while target in names:
                target += "_"
        if str(target) in names:
            raise ValueError(f"the target is named {str(target)!r} as a column of X is: give another name as target")
        return str(target)

    @property
    def model_(self):
        """The model as it is written to model.json."""
        return json.loads(self._file("model.json"))

    @property
    def report_(self):
        """The report of the run: guarantee, metrics, importances, every step that was paid for."""
        return json.loads(self._file("report.json"))

    @property
    def guarantee_(self):
        """What is promised: epsilon, delta, relation, and their meaning."""
        return self.model_["guarantee"] if "report.json" not in self.release_ else self.report_["guarantee"]

    def _file(self, name):
        if not hasattr(self, "release_"):
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet: call fit first")
        return self.release_[name]

    def save(self, folder):
        """Write the release to a folder: model.json, report.json, report.html, recipe.yaml. All may be published."""
        self._file("model.json")
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, content in self.release_.items():
            (Path(folder) / name).write_bytes(content)
        return self

    def _predict(self, X, *flags):
        """The rows that predict prints, without the header line."""
        model = self._file("model.json")
        known = getattr(self, "feature_names_in_", None)
        names, cells = columns(X, known)
        if len(names) != self.n_features_in_ and not _named(X):
            raise ValueError(
                f"X has {len(names)} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input"
            )
        if _named(X) and known is None and self.n_features_in_ == len(names):
            names = [f"x{j}" for j in range(len(names))]
        if not cells or not len(cells[0]):
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        with tempfile.TemporaryDirectory(prefix="dptrain-") as folder:
            path = Path(folder) / "model.json"
            path.write_bytes(model)
            if "recipe.yaml" in self.release_:  # it says how dates are read
                (Path(folder) / "recipe.yaml").write_bytes(self.release_["recipe.yaml"])
            out = run(["predict", str(path), "-", *flags], to_csv(*with_named_column(names, cells)))
        rows = csv.reader(io.StringIO(out.decode()))
        next(rows)
        return list(rows)


@_parameters
class DPRegressor(_RegressorMixin, _Estimator):
    __doc__ = "A regression that is trained with differential privacy.\n" + _Estimator.__doc__.split("\n", 1)[1]

    _task = "regression"

    _: KW_ONLY
    target_range: "tuple | None" = None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # of few records
        return tags

    def fit(self, X, y):
        """Train on records X, one row each, and targets y. It raises DptrainError."""
        if declared_kind(y) == "text":
            raise InvalidInput(
                "the dtype of y says that it holds text, and a regression needs numbers: use DPClassifier for class labels, or convert y to floats", 2
            )
        return self._fit(X, y)

    def predict(self, X):
        """The predictions for records, as floats. Columns are found by their names."""
        return np.array([float(row[0]) for row in self._predict(X)])

    def predict_interval(self, X, level=0.9):
        """The predictions and the ends of their intervals: an array with the columns prediction, lower, upper."""
        return np.array([[float(v) for v in row] for row in self._predict(X, f"--interval={level}")])

    def score(self, X, y, sample_weight=None):
        """R² on these records. It is exact: publish report_["metrics"] of private records instead."""
        truth = np.asarray(y, dtype=float).ravel()
        weight = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        rest = np.sum(weight * (truth - self.predict(X)) ** 2)
        whole = np.sum(weight * (truth - np.average(truth, weights=weight)) ** 2)
        return float(1 - rest / whole) if whole > 0 else float(rest == 0)


@_parameters
class DPClassifier(_ClassifierMixin, _Estimator):
    __doc__ = "A classifier that is trained with differential privacy.\n" + _Estimator.__doc__.split("\n", 1)[1]

    _task = "classification"

    _: KW_ONLY
    classes: "list | None" = None
    public_classes: bool = False
    most_classes: "int | None" = None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # of few records
        return tags

    def fit(self, X, y):
        """Train on records X, one row each, and labels y. It raises DptrainError.

        A label stays what it is: classes_ and predictions have labels of y. Missing labels are None, NaN and the missing
        values of pandas and NumPy. The dtype of classes_ is that of the declared classes, or follows from the labels that
        were found: whole numbers are integers even where y has floats.
        """
        kind, declared = declared_kind(y), self._declared(y)
        labels = Labels(textual=kind == "text")
        more = []
        if declared is not None:
            of = kind_of(declared)
            if kind is not None and of is not None and kind != of:
                raise InvalidInput(f"the classes are of the kind {of!r} and y, by its dtype, of the kind {kind!r}: no label of y is one of the classes", 2)
            more += ["--classes", listed([labels.write(label) for label in declared])]
        if self.most_classes is not None:
            more += ["--most-classes", text(self.most_classes)]
        self._fit(X, y, labels.write, more)
        self._names = self.model_["classes"]
        labels.forget(self._names)
        self._read = labels
        found = [labels.read(name) for name in self._names]
        if declared is not None:
            found = [{labels.write(label): label for label in declared}.get(name, label) for name, label in zip(self._names, found)]
        self.classes_ = as_array(found)
        self._order = np.arange(len(found))
        if len({type(v) for v in found}) == 1 and hasattr(found[0], "__lt__"):
            self._order = np.array(sorted(range(len(found)), key=found.__getitem__))
            self.classes_ = self.classes_[self._order]
        return self

    def _declared(self, y):
        """The classes that are declared to be public, or None."""
        if self.public_classes and self.classes is not None:
            raise ValueError("public_classes declares the labels in y, and classes lists others: give one of the two")
        if not self.public_classes:
            return None if self.classes is None else list(self.classes)
        seen = {label: None for label in _cells(y) if not is_missing(label)}
        if kind_of(seen) is not None:
            return sorted(seen)
        return sorted(seen, key=lambda label: (type(label).__name__, str(label)))  # not in the order of the records

    def predict(self, X):
        """The classes of records."""
        rows = self._predict(X)
        place = {self._names[k]: i for i, k in enumerate(self._order)}
        return self.classes_[[place[row[0]] for row in rows]]

    @property
    def predict_proba(self):
        """A method that returns the probabilities of the classes for records X, in the order of classes_.

        A fitted estimator whose model has no probabilities does not have it, so hasattr is False: reading it raises
        NoProbabilities, which is a DptrainError and an AttributeError. Models of two classes mostly have probabilities, and
        those of more classes do with the method prototypes.
        """
        if hasattr(self, "release_") and not _has_probabilities(self.model_):
            reason = "the training records were too few at this budget, or the method does not estimate them"
            if len(self.classes_) > 2:
                reason = "of more than two classes, those of the method prototypes have them"
            raise NoProbabilities(f"the model has no probabilities: {reason}", 2)
        return self._predict_proba

    def _predict_proba(self, X):
        rows = np.array([[float(v) for v in row[1:]] for row in self._predict(X, "--probability")])
        if rows.shape[1] == 1:
            rows = np.hstack([1 - rows, rows])
        return rows[:, self._order]

    def score(self, X, y, sample_weight=None):
        """The accuracy on the records with a label. It is exact: publish report_["metrics"] of private records instead."""
        truth = _cells(y)
        known = np.array([not is_missing(label) for label in truth])
        hits = np.array([bool(k and a == b) for k, a, b in zip(known, truth, self.predict(X).tolist())])
        weight = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        return float(np.average(hits[known], weights=weight[known]))


def load(folder):
    """The estimator of a release: a folder with model.json, and report.json if it is there."""
    folder = Path(folder)
    release = {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.is_file()}
    model = json.loads(release["model.json"])
    names = list(dict.fromkeys(c["name"] for s in model.get("scores", [model]) for c in s["columns"]))
    out = DPClassifier() if model["kind"] == "classifier" else DPRegressor()
    out.release_, out.n_features_in_, out.feature_names_in_ = release, len(names), np.asarray(names, dtype=object)
    if isinstance(out, DPClassifier):
        out._names, out._read = model["classes"], Labels(textual=True)
        out.classes_ = as_array([out._read.read(name) for name in out._names])
        out._order = np.arange(len(out._names))
    return out


def _has_probabilities(model):
    """Whether the program predicts probabilities with the contents of model.json."""
    scores = model["scores"]
    return "probability" in model or len(scores) > 2 and all(score["kind"] == "prototypes" for score in scores)


def _named(X):
    return hasattr(X, "columns")


def _cells(y):
    """The cells of the target."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    refuse_sparse(y, "y")
    if hasattr(y, "to_list"):
        return y.to_list()
    if hasattr(y, "to_pylist"):  # pyarrow
        return y.to_pylist()
    if hasattr(y, "iloc"):  # a table of one column
        y = y.to_numpy()
    if isinstance(y, (list, tuple)) and not any(isinstance(label, (list, tuple, np.ndarray)) for label in y):
        return list(y)  # as an array, labels of several types would become texts
    y = np.asarray(y)
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn("A column-vector y was passed when a 1d array was expected: it is flattened", DataConversionWarning, stacklevel=4)
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    return list(y) if y.dtype.kind in "mM" else y.tolist()
