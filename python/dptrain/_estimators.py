"""The estimators."""

import csv
import html
import io
import json
import os
import tempfile
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

import numpy as np

from ._compiled import Uncompiled, compiled, log_sum
from ._fit import REMARKS, Fitting, target_cells
from ._labels import Labels, as_array, declared_kind, is_missing, kind_of
from ._ledger import Ledger
from ._messages import in_parameters
from ._program import InvalidInput, NoProbabilities, run
from ._table import comma_text, listed, read_table, text, to_csv, with_named_column

try:
    from sklearn.base import BaseEstimator as _Base
    from sklearn.base import ClassifierMixin as _ClassifierMixin
    from sklearn.base import RegressorMixin as _RegressorMixin
    from sklearn.exceptions import NotFittedError
except ImportError:  # scikit-learn is not needed
    import inspect

    class _Base:
        def get_params(self, deep=True):
            return {name: getattr(self, name) for name in inspect.signature(type(self).__init__).parameters if name != "self"}

        def set_params(self, **params):
            known = self.get_params()
            for name, value in params.items():
                if name not in known:
                    raise ValueError(f"{name!r} is not a parameter of {type(self).__name__}")
                setattr(self, name, value)
            return self

    class _RegressorMixin:
        pass

    class _ClassifierMixin:
        pass

    class NotFittedError(ValueError, AttributeError):
        """The estimator was not fitted."""


# Parameters of other estimators that are refused, with the reason.
_REFUSED = {
    "random_state": "the noise that protects the records must be secret, and anyone who knows a seed could remove it",
    "class_weight": "a weight would multiply the influence of a record, and therefore the noise; the report contains the recall of every class, and predict_proba allows other thresholds",
    "sample_weight": "a weight would multiply the influence of a record, and therefore the noise; with unit, all records of a person are protected together",
}


@dataclass
class Contributions:
    """The contribution of every column to the predictions for some records.

    values has one row per record and one column per feature, in the order of feature_names. The contribution of a number is
    relative to the model's default for missing values, usually the released median; that of a text value is absolute.
    together holds the rest, which belongs to no single feature: interactions and the clamping of predictions.
    constant + values.sum(axis=1) + together equals the prediction of a regression, in units of the target, or the
    decision_function of a classifier. With more than two classes, values has a third axis and together a second axis for the
    classes, and constant is an array.
    """

    values: np.ndarray
    together: np.ndarray
    constant: "float | np.ndarray"
    feature_names: list


# Parameters are dataclass fields; only epsilon may be positional.
_parameters = dataclass(eq=False, repr=False)


@_parameters
class _Estimator(Fitting, _Base):
    """Common part of both estimators.

    Every fit spends its epsilon and delta on the records. Predictions, plan and explain spend nothing. Parameters are public:
    take them from the definition of the data, never from the records. The dtype of a column is public, too: a column with a
    date dtype is converted to the numbers of its days, months and weekdays.

    Parameters
    ----------
    epsilon : privacy budget of one fit: a number above 0, or a string such as "ln(3)".
    delta : probability that the bound fails, from 1e-10 to below 1, or 0 for pure methods. None means 1e-6.
    relation : neighbouring relation. "add-remove" (None) hides whether a record is in the table, "substitute" the contents of a
        record, and "substitute-private-columns" its contents in the columns of private.
    private : list of private columns, for that relation; "target", or the name of y, is the target. All other columns are
        public.
    method : training method, such as "joint-gram" or "boosted-additive". None chooses from public facts and a noisy count.
    select : feature selector, such as "kendall". None chooses in the same way.
    k : number of columns to select, at least 1.
    share : share of the training budget for select, above 0 and below 1.
    rounds : number of boosting rounds, at least 1.
    fallback : method to train if method produces no model.
    budget : dict from stages to their shares of the training budget, above 0 and below 1, such as
        {"selection": .05, "model": .9}.
    search : private search for the best of several candidates: a dict such as {"runs": 5, "candidates": [...]}, like the recipe
        section of that name.
    settings : dict from other recipe keys to their values, such as {"model.rounds": 3}.
    holdout : share of records held out for the private metrics, from 0 to .5. None means .2; 0 means no metrics.
    by : category column; the private metrics are also reported for each of its values, in report_["metrics"]["groups"]. It may
        be in exclude if its categories are declared.
    exclude : list of columns of X that are not features.
    categories : dict from columns to their public values, or to "private".
    hash : dict from text columns to a number of hash buckets, from 2 to 1024.
    prefix : dict from text columns to the number of leading characters to use, from 1 to 64.
    encode : list of text columns whose values are replaced by the noisy mean of the target.
    fold : which texts, including classes, count as equal: "exact" (None), "blanks" (inner blanks collapsed) or "case" (case ignored, too).
    undeclared : "found" or "numbers": type of columns without a declaration. None detects text columns privately, like the
        command line, if that is possible.
    numbers : "strict" accepts only plain numbers; "lenient" (None) also accepts text such as "45 yrs" and "<5".
    dates : dict from date columns to their layout, such as "2006-01-02", or to "auto".
    missing : up to 16 numbers that mean a missing value in every column, such as [-999].
    format : number format in text columns: a dict with "decimal" and "thousands". Numeric columns do not need it.
    ranges : dict from columns to public pairs (lower, upper), in units of the column. Other ranges are found privately.
    target : name of the target in the model. None means the name of y, or "target".
    unit : column of X that identifies the person; all records of a person are then protected together.
    max_rows : maximum number of records per person, for unit.
    dataset : name of the data set in a ledger in which to record the run.
    ledger : ledger: a path, or a Ledger, which includes the name of the data set. Inside ``with Ledger(...)`` it is that one.
    note : text to store with the run in the ledger. It is not protected.
    recipe : path of a recipe; the other parameters override its values.
    engine : where the table is kept: "memory", or "stream" (an encrypted scratch file). None chooses by size.
    out : new folder for release/ and curator/. None keeps the release in memory and discards the private results.
    progress : True prints the stages of a fit to standard error; a function is called with (stage, stages, name).
    """

    _task = ""

    epsilon: "float | str" = 1.0
    _: KW_ONLY
    delta: "float | None" = None
    relation: "str | None" = None
    private: "list | None" = None
    method: "str | None" = None
    select: "str | None" = None
    k: "int | None" = None
    share: "float | None" = None
    rounds: "int | None" = None
    fallback: "str | None" = None
    budget: "dict | None" = None
    search: "dict | None" = None
    settings: "dict | None" = None
    holdout: "float | None" = None
    by: "str | None" = None
    exclude: "list | None" = None
    categories: "dict | None" = None
    hash: "dict | None" = None
    prefix: "dict | None" = None
    encode: "list | None" = None
    fold: "str | None" = None
    undeclared: "str | None" = None
    numbers: "str | None" = None
    dates: "dict | None" = None
    missing: "list | None" = None
    format: "dict | None" = None
    ranges: "dict | None" = None
    target: "str | None" = None
    unit: "str | None" = None
    max_rows: "int | None" = None
    dataset: "str | None" = None
    ledger: "str | Ledger | None" = None
    note: "str | None" = None
    recipe: "str | os.PathLike | None" = None
    engine: "str | None" = None
    out: "str | os.PathLike | None" = None
    progress: "bool | object" = False

    def __new__(cls, *_, **params):
        _refuse(cls, params)
        return super().__new__(cls)

    def set_params(self, **params):
        """Set parameters by name and return the estimator. Raises TypeError, with the reason, for refused parameters."""
        _refuse(type(self), params)
        return super().set_params(**params)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    @property
    def model_(self):
        """The content of model.json."""
        return json.loads(self._file("model.json"))

    @property
    def report_(self):
        """The report of the run: guarantee, metrics, importances and all steps."""
        return json.loads(self._file("report.json"))

    @property
    def guarantee_(self):
        """The guarantee: epsilon, delta, relation and their meaning."""
        return self.model_["guarantee"] if "report.json" not in self.release_ else self.report_["guarantee"]

    def _file(self, name):
        if not hasattr(self, "release_"):
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet: call fit first")
        return self.release_[name]

    def save(self, folder):
        """Write the release to a folder: model.json, report.json, report.html and recipe.yaml, all of which may be published."""
        self._file("model.json")
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, content in self.release_.items():
            (Path(folder) / name).write_bytes(content)
        return self

    def _records(self, X):
        """Return the [Table] of records to predict. Raises NotFittedError, TypeError and ValueError."""
        self._file("model.json")
        known = getattr(self, "feature_names_in_", None)
        table = read_table(X, known)
        if len(table.names) != self.n_features_in_ and not table.named:
            raise ValueError(
                f"X has {len(table.names)} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input"
            )
        if table.named and known is None and self.n_features_in_ == len(table.names):
            table.names = [f"x{j}" for j in range(len(table.names))]
        if not table.names or table.rows == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        return table

    def _scores(self, table):
        """Compute the scores of a table, one column per score.

        Returns None if the program has to read the table as CSV: for a kind of model that only it supports, or a table that
        lacks a column.
        """
        try:
            return compiled(self._file("model.json")).scores(table)
        except Uncompiled:
            return None

    def _predict(self, table, *flags):
        """Return the rows that the program prints for a table, without the header line."""
        texts = {c["name"] for part in _parts(self.model_) for c in part["columns"] if c["type"] != "numeric" or "values" in c}
        cells = [table.cells(j, name in texts) for j, name in enumerate(table.names)]
        write = comma_text if self.model_.get("reading", {}).get("decimal") == "," else text
        with tempfile.TemporaryDirectory(prefix="dptrain-") as folder:
            path = Path(folder) / "model.json"
            path.write_bytes(self._file("model.json"))
            if "recipe.yaml" in self.release_:  # it contains the date layouts
                (Path(folder) / "recipe.yaml").write_bytes(self.release_["recipe.yaml"])
            out = run(["predict", str(path), "-", *flags], to_csv(*with_named_column(table.names, cells), write))
        rows = csv.reader(io.StringIO(out.decode()))
        next(rows)
        return list(rows)

    def _features(self):
        """Return the names of the columns of X in the fit."""
        return [str(name) for name in getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])]

    def _places(self, model):
        """Map columns of the model to positions in X; parts of a date map to the date."""
        source = {d["column"]: d["source"] for d in model.get("reading", {}).get("dates", [])}
        places = {name: j for j, name in enumerate(self._features())}
        return {c["name"]: places[c["name"] if c["name"] in places else source.get(c["name"])] for part in _parts(model) for c in part["columns"]}

    def contributions(self, X):
        """Return the contribution of every column to the predictions for records X, as [Contributions]. Raises DptrainError.

        The contribution of a date column is the sum over its parts.
        """
        table, model = self._records(X), self.model_
        try:
            parts, together, constant = compiled(self.release_["model.json"]).contributions(table)
        except Uncompiled:
            self._predict(table)
            raise InvalidInput(f"a model of the kind {model['kind']!r} does not support contributions of columns", 2) from None
        places = self._places(model)
        values = np.zeros((table.rows, self.n_features_in_, len(parts)))
        for k, (part, own) in enumerate(zip(_parts(model), parts)):
            for i, column in enumerate(part["columns"]):
                values[:, places[column["name"]], k] += own[:, i]
        return self._oriented(values, together, constant)

    def _oriented(self, values, together, constant):
        return Contributions(values[:, :, 0], together[:, 0], float(constant[0]), self._features())

    @property
    def feature_importances_(self):
        """The relative importance of every column of X: numbers of at least 0 that add up to 1.

        report_["importances"] has the absolute values and their intervals. Raises AttributeError for methods that do not
        release importances.
        """
        model = self.model_
        report = json.loads(self.release_.get("report.json", b"{}"))
        if "importances" not in report:
            raise AttributeError(f"the method {report.get('model', {}).get('method', '')!r} does not release importances")
        places, out = self._places(model), np.zeros(self.n_features_in_)
        for row in report["importances"]:
            out[places[row["column"]]] += row["value"]
        return out / out.sum() if out.sum() > 0 else out

    @property
    def coef_names_(self):
        """The names of coef_: columns of X, and names such as "ocean=inland" and "area=(missing)" for text and missing values."""
        return self._coefficients()[0]

    @property
    def coef_(self):
        """The coefficients of a linear model, in units of the target per unit of the column, in the order of coef_names_.

        A numeric column has one coefficient, 0 if the model does not use it; with only numeric columns, the order is that of
        X. A classifier has one row per score, as in scikit-learn. Raises AttributeError for other kinds of models.
        """
        rows = self._coefficients()[1]
        return rows[0] if self._task == "regression" else rows

    @property
    def intercept_(self):
        """The intercept of a linear model: a number or, for a classifier, one number per score."""
        rows = self._coefficients()[2]
        return float(rows[0]) if self._task == "regression" else rows

    def _coefficients(self):
        model = self.model_
        parts = _parts(model)
        if any(part["kind"] not in ("linear", "clipped-linear") for part in parts):
            raise AttributeError(f"a model of the kind {parts[0]['kind']!r} is not linear: see shapes_, contributions and feature_importances_")
        columns = {c["name"]: c for part in parts for c in part["columns"]}
        places, names = self._places(model), []
        for j, feature in enumerate(self._features()):
            mine = [name for name in columns if places[name] == j]
            names += [(name, None) for name in mine if columns[name]["type"] == "numeric"] or ([] if mine else [(feature, None)])
            for part in parts:
                for t in part["terms"]:
                    key = _term_key(t)
                    if t["column"] in mine and key not in names:
                        names.append(key)
        rows = np.zeros((len(parts), len(names)))
        for k, part in enumerate(parts):
            for t in part["terms"]:
                rows[k, names.index(_term_key(t))] += t["coefficient"]
        intercepts = np.array([part["intercept"]["coefficient"] for part in parts])
        order, sign = self._score_order(len(parts))
        return [name if level is None else f"{name}={level}" for name, level in names], sign * rows[order], sign * intercepts[order]

    def _score_order(self, scores):
        """Return the order of the scores by class, and 1, or -1 if the score of two classes is for the first."""
        return np.arange(scores), 1.0

    @property
    def shapes_(self):
        """The contribution of each column as a function of its value: a dict by column, in units of the target or the score.

        A numeric column has x and y, the corners of a curve over its range, and missing, the contribution of a missing value.
        A text column has categories, y, and other, the contribution of all other values. With more than two classes it is a
        dict of such dicts by class. Raises AttributeError for models that are not a sum over columns.
        """
        model = self.model_
        parts = _parts(model)
        if any(part["kind"] not in ("linear", "clipped-linear", "additive", "kernel") for part in parts):
            raise AttributeError(f"a model of the kind {parts[0]['kind']!r} is not a sum over columns: see contributions")
        order, sign = self._score_order(len(parts))
        shapes = [_shapes(parts[k], sign) for k in order]
        return shapes[0] if len(shapes) == 1 else dict(zip(self.classes_.tolist(), shapes))

    def _repr_html_(self):
        return _head(self) if hasattr(self, "release_") and "report.json" in self.release_ else f"<pre>{html.escape(repr(self))}</pre>"

    def _repr_mimebundle_(self, **_):
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _refuse(cls, params):
    """Raise TypeError, with the reason, for refused parameters of other estimators."""
    for name in params:
        if name in _REFUSED:
            raise TypeError(f"{cls.__name__} has no {name}: {_REFUSED[name]}")


def _refuse_of_fit(estimator, params):
    """Raise TypeError for arguments of fit other than X and y."""
    _refuse(type(estimator), params)
    for name in params:
        raise TypeError(f"{type(estimator).__name__}.fit() got an unexpected argument {name!r}: pass parameters to {type(estimator).__name__}(...)")


def _parts(model):
    """Return the numeric models: the scores of a classifier, or the model itself."""
    return model["scores"] if model["kind"] == "classifier" else [model]


def _term_key(term):
    if term.get("missing"):
        return term["column"], "(missing)"
    if term.get("other"):
        return term["column"], "(other)"
    return term["column"], term.get("category")


def _shapes(part, sign):
    curves = {s["column"]: s for s in part.get("shapes", [])}
    out = {}
    for c in part["columns"]:
        terms = {_term_key(t)[1]: sign * t["coefficient"] for t in part["terms"] if t["column"] == c["name"]}
        if c["type"] != "numeric":
            out[c["name"]] = {"categories": c["categories"], "y": np.array([terms.get(v, 0.0) for v in c["categories"]]), "other": terms.get("(other)", 0.0)}
            continue
        curve = curves.get(c["name"], {"edges": [], "values": [0.0]})
        values = np.asarray(curve["values"], dtype=float)
        x = np.clip(np.concatenate([[c["lower"]], np.repeat(curve["edges"], 2), [c["upper"]]]), c["lower"], c["upper"])
        y = terms.get(None, 0.0) * x + sign * np.repeat(values, 2)
        at = min(max(c["missing"], c["lower"]), c["upper"])
        missing = terms.get(None, 0.0) * at + sign * values[np.searchsorted(curve["edges"], at, side="right")] + terms.get("(missing)", 0.0)
        out[c["name"]] = {"x": x, "y": y, "missing": float(missing)}
    return out


def _head(estimator):
    """Return the head of the report as HTML: the guarantee, the private metric and the warnings."""
    report = estimator.report_
    g, rows = report["guarantee"], []
    unit = f" of all records of one {g['unit']['column']}" if g.get("unit") else " of one record"
    rows.append(("Guarantee", f"ε {g['epsilon']:g}, δ {g['delta']:g}{unit} ({g['relation']})"))
    rows.append(("Meaning", g.get("meaning", "")))
    rows.append(("Model", f"{report['model']['method']}, {len(report['features']['selected'])} of {len(report['features']['considered'])} columns"))
    metrics = report.get("metrics") or {}
    withheld = _withheld(metrics)
    for key, name in (("r2", "R²"), ("mae", "Mean absolute error"), ("accuracy", "Accuracy"), ("balanced_accuracy", "Balanced accuracy")):
        metric = metrics.get(key)
        if key in withheld:
            text = "not measured: the noise hides it; use a larger epsilon, or more records"
            if key == "r2":
                text = f"not reported: it can only be placed between {_number(metric['lower'])} and {_number(metric['upper'])}"
            rows.append((name, text))
            continue
        if metric and metric.get("value") is not None:
            ends = f" ({metric['level']:.0%} interval {_number(metric['lower'])} to {_number(metric['upper'])})" if metric.get("lower") is not None else ""
            rows.append((name, _number(metric["value"]) + ends))
    for w in report.get("warnings", []):
        if w["severity"] not in REMARKS:
            rows.append((f"{w['severity']}: {w['code']}", in_parameters(w["text"])))
    body = "".join(f'<tr><th style="text-align:left;vertical-align:top">{html.escape(a)}</th><td style="text-align:left">{html.escape(b)}</td></tr>' for a, b in rows)
    return f"<table><caption>{html.escape(type(estimator).__name__)}: {html.escape(report['target'])}</caption><tbody>{body}</tbody></table>"


def _withheld(metrics):
    """Return the names of the metrics whose values reports withhold, as package evaluate of the program does.

    python/tests/measured.json has cases that both must decide alike.
    """
    out = {
        key for key in ("accuracy", "balanced_accuracy", "auc") if metrics.get(key) and metrics[key]["upper"] - metrics[key]["lower"] >= 0.95
    }
    r2, mae = metrics.get("r2"), metrics.get("mae")
    if r2 and r2["upper"] - r2["lower"] > 1:
        out.add("r2")
        if mae and mae["upper"] >= (1 - 1e-9) * r2["error_limit"]:
            out |= {"mae", "rmse"}
    return out


def _number(x):
    """Format a number with three significant digits and thousands separators."""
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}"


@_parameters
class DPRegressor(_RegressorMixin, _Estimator):
    __doc__ = "A regression trained with differential privacy.\n" + _Estimator.__doc__.split("\n", 1)[1] + """\
target_range : public pair (lower, upper) for the target, in its units. None finds it privately.
    target_transform : "log" or "sqrt" of the target to fit; predictions and metrics stay in its original units.
    """

    _task = "regression"

    _: KW_ONLY
    target_range: "tuple | None" = None
    target_transform: "str | None" = None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # of few records
        return tags

    def fit(self, X, y, **refused):
        """Train on records X, one row each, and targets y, and return the estimator. Spends epsilon and delta.

        X is a table of pandas, polars or pyarrow, an array, or a sparse matrix, whose absent entries are 0. A cell never
        causes an error: missing, infinite or unreadable numbers are missing values, and records without a usable target are
        not used. Raises DptrainError, before anything is spent except for Abstained.
        """
        _refuse_of_fit(self, refused)
        if declared_kind(y) == "text":
            raise InvalidInput(
                "the dtype of y is text, but a regression needs numbers: use DPClassifier for class labels, or convert y to floats", 2
            )
        return self._fit(X, y)

    def predict(self, X):
        """Return the predictions for records, float64 in units of the target. Columns are matched by name.

        Raises DptrainError if X lacks a column of the model.
        """
        table = self._records(X)
        scores = self._scores(table)
        if scores is None:
            return np.array([float(row[0]) for row in self._predict(table)])
        return scores[:, 0]

    def predict_interval(self, X, level=0.9):
        """Return the predictions with their intervals: an array with the columns prediction, lower, upper.

        A new target is within its interval with probability level, which must be one of the levels of the model, usually .9
        and .95. Raises DptrainError for other levels.
        """
        table = self._records(X)
        widths = [v["half_width"] for v in self.model_.get("interval", []) if abs(v["level"] - level) < 1e-9]
        scores = self._scores(table) if widths else None
        if scores is None:
            return np.array([[float(v) for v in row] for row in self._predict(table, f"--interval={level}")])
        return np.stack([scores[:, 0], scores[:, 0] - widths[0], scores[:, 0] + widths[0]], axis=1)

    def score(self, X, y, sample_weight=None):
        """Return R² on these records. It is exact, so for private records publish report_["metrics"] instead."""
        truth = np.asarray(y, dtype=float).ravel()
        weight = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        rest = np.sum(weight * (truth - self.predict(X)) ** 2)
        whole = np.sum(weight * (truth - np.average(truth, weights=weight)) ** 2)
        return float(1 - rest / whole) if whole > 0 else float(rest == 0)


@_parameters
class DPClassifier(_ClassifierMixin, _Estimator):
    __doc__ = "A classifier trained with differential privacy.\n" + _Estimator.__doc__.split("\n", 1)[1] + """\
classes : list of the public classes, 2 to 255. None finds them privately.
    public_classes : True declares that the set of labels in y is public knowledge: all of them become classes.
    most_classes : maximum number of classes to find, from 2 to 255. None means 32.
    """

    _task = "classification"

    _: KW_ONLY
    classes: "list | None" = None
    public_classes: bool = False
    most_classes: "int | None" = None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # of few records
        return tags

    def fit(self, X, y, **refused):
        """Train on records X, one row each, and labels y, and return the estimator. Spends epsilon and delta.

        X is as for DPRegressor. classes_ and predictions contain the labels of y. Missing labels are None, NaN and the missing
        values of pandas and NumPy. The dtype of classes_ is that of the declared classes, or follows from the labels that
        were found: whole numbers become integers even if y has floats. Raises DptrainError, before anything is spent except
        for Abstained.
        """
        _refuse_of_fit(self, refused)
        kind, declared = declared_kind(y), self._declared(y)
        labels = Labels(textual=kind == "text", found=declared is None)
        self._fit(X, y, labels.write, self._declaring(kind, declared, labels))
        self._names = self.model_["classes"]
        labels.forget(self._names)
        self._read = labels
        found = [labels.read(name) for name in self._names]
        if declared is not None:
            found = [{labels.write(label): label for label in declared}.get(name, label) for name, label in zip(self._names, found)]
        self.classes_ = as_array(found)
        self._order = np.arange(len(found))
        if len({type(v) for v in found}) == 1:
            try:
                self._order = np.array(sorted(range(len(found)), key=found.__getitem__))
            except TypeError:  # labels such as members of an Enum have no order of their own
                pass
            self.classes_ = self.classes_[self._order]
        return self

    def _declaring(self, kind, declared, labels):
        """Return the arguments that declare the classes. Raises InvalidInput if no label of y can be one of them."""
        if declared is None:
            return []
        of = kind_of(declared)
        if kind is not None and of is not None and kind != of:
            raise InvalidInput(f"the classes are of the kind {of!r}, but y has the kind {kind!r} by its dtype: no label of y is one of the classes", 2)
        return ["--classes=" + listed([labels.write(label) for label in declared])]

    def _class_arguments(self, y):
        kind = declared_kind(y)
        return self._declaring(kind, self._declared(y), Labels(textual=kind == "text"))

    def _declared(self, y):
        """Return the classes that are declared public, or None."""
        if self.public_classes and self.classes is not None:
            raise ValueError("public_classes and classes cannot be combined: give one of them")
        if not self.public_classes:
            return None if self.classes is None else list(self.classes)
        seen = {label: None for label in target_cells(y) if not is_missing(label)}
        if kind_of(seen) is not None:
            return sorted(seen)
        return sorted(seen, key=lambda label: (type(label).__name__, str(label)))  # not in the order of the records

    def predict(self, X):
        """Return the predicted labels of records. Raises DptrainError if X lacks a column of the model."""
        table = self._records(X)
        scores = self._scores(table)
        if scores is None:
            place = {name: k for k, name in enumerate(self._names)}
            found = np.array([place[row[0]] for row in self._predict(table)], dtype=np.intp)
        elif scores.shape[1] == 1:
            found = (scores[:, 0] > self.model_["cutoff"]).astype(np.intp)
        else:
            found = scores.argmax(axis=1)
        return self.classes_[np.argsort(self._order)[found]]

    def decision_function(self, X):
        """Return the scores of records. With two classes, a score above 0 predicts classes_[1]; with more, there is one column per class.

        Scores are in units of the model, not log odds. Raises DptrainError if X lacks a column of the model.
        """
        table = self._records(X)
        scores = self._scores(table)
        if scores is None:
            self._predict(table)
            raise InvalidInput(f"a model of the kind {self.model_['kind']!r} has no scores", 2)
        order, sign = self._score_order(scores.shape[1])
        if scores.shape[1] == 1:
            return sign * (scores[:, 0] - self.model_["cutoff"])
        return scores[:, order]

    def _score_order(self, scores):
        if scores == 1:
            return np.arange(1), -1.0 if self._order[0] == 1 else 1.0
        return self._order, 1.0

    def _oriented(self, values, together, constant):
        order, sign = self._score_order(len(constant))
        if len(constant) == 1:
            return Contributions(sign * values[:, :, 0], sign * together[:, 0], sign * float(constant[0] - self.model_["cutoff"]), self._features())
        return Contributions(values[:, :, order], together[:, order], constant[order], self._features())

    @property
    def predict_proba(self):
        """A method that returns the probabilities of the classes for records X, in the order of classes_.

        If the model has no probabilities, access raises NoProbabilities, a DptrainError and an AttributeError, so hasattr is
        False. Models with two classes usually have probabilities; with more classes, only the method prototypes has them.
        """
        if hasattr(self, "release_") and not _has_probabilities(self.model_):
            reason = "there were too few training records for this budget, or the method does not estimate them"
            if len(self.classes_) > 2:
                reason = "with more than two classes, only the method prototypes has them"
            raise NoProbabilities(f"the model has no probabilities: {reason}", 2)
        return self._predict_proba

    def _predict_proba(self, X):
        table, model = self._records(X), self.model_
        scores = self._scores(table) if _has_probabilities(model) else None
        if scores is None:
            rows = np.array([[float(v) for v in row[1:]] for row in self._predict(table, "--probability")])
        elif "probability" in model:
            rows = _second(model["probability"], scores[:, 0]).reshape(-1, 1)
        else:
            rows = np.exp(scores - log_sum(list(scores.T))[:, None])
        if rows.shape[1] == 1:
            rows = np.hstack([1 - rows, rows])
        return rows[:, self._order]

    def score(self, X, y, sample_weight=None):
        """Return the accuracy on the labelled records. It is exact, so for private records publish report_["metrics"] instead."""
        truth = target_cells(y)
        known = np.array([not is_missing(label) for label in truth])
        hits = np.array([bool(k and a == b) for k, a, b in zip(known, truth, self.predict(X).tolist())])
        weight = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        return float(np.average(hits[known], weights=weight[known]))


def load(folder):
    """Return the estimator for a release: a folder with model.json and, optionally, report.json."""
    folder = Path(folder)
    release = {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.is_file()}
    model = json.loads(release["model.json"])
    source = {d["column"]: d["source"] for d in model.get("reading", {}).get("dates", [])}
    names = list(dict.fromkeys(source.get(c["name"], c["name"]) for part in _parts(model) for c in part["columns"]))
    out = DPClassifier() if model["kind"] in ("classifier", "neighbours") else DPRegressor()
    out.release_, out.n_features_in_, out.feature_names_in_ = release, len(names), np.asarray(names, dtype=object)
    if isinstance(out, DPClassifier):
        out._names, out._read = model["classes"], Labels(textual=True)
        out.classes_ = as_array([out._read.read(name) for name in out._names])
        out._order = np.arange(len(out._names))
    return out


def _has_probabilities(model):
    """Whether a model has probabilities."""
    scores = model.get("scores", [])
    return "probability" in model or len(scores) > 2 and all(score["kind"] == "prototypes" for score in scores)


def _second(curve, scores):
    """Return the probabilities of the second class at scores, by linear interpolation or a logistic curve."""
    if curve.get("scores"):
        return np.interp(scores, curve["scores"], curve["values"])
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-(curve["intercept"] + curve["slope"] * scores)))
