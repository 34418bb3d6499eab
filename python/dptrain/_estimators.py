"""The estimators."""

import csv
import html
import io
import json
import os
import sys
import tempfile
import warnings
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

import numpy as np

from ._compiled import Uncompiled, compiled, log_sum
from ._flags import DICTS, LISTS, VALUES
from ._labels import Labels, as_array, declared_kind, is_missing, kind_of
from ._ledger import Ledger, current
from ._program import InvalidInput, NoProbabilities, run
from ._sklearn import fitted_steps, repeated_fits
from ._table import column_name, comma_text, listed, read_table, refuse_sparse, text, to_csv, with_named_column

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
    """A warning or an error of the report of a fit, or about the code that calls fit.

    ``code`` names its kind, such as "wide-interval", and ``severity`` says how serious it is.
    """

    def __init__(self, message, code="", severity=""):
        super().__init__(message)
        self.code, self.severity = code, severity

    def __reduce__(self):
        return type(self), (str(self), self.code, self.severity)


# The severities that are only remarks.
_REMARKS = ("negligible", "note")

# Names that other estimators take, and why these do not.
_REFUSED = {
    "random_state": "the noise that protects the records comes from a secret key, and a seed would let anyone who knows it remove the noise",
    "class_weight": "a weight multiplies how much one record can change the model, and so the noise; the report has the recall of every class, and predict_proba lets you choose another threshold",
    "sample_weight": "a weight multiplies how much one record can change the model, and so the noise; with unit, a person with many records counts as one",
}


def _yaml(value):
    """A value of a recipe as YAML, of which JSON is a part. Numbers and arrays of NumPy are taken like Python's."""
    return json.dumps(value, default=lambda x: x.tolist() if hasattr(x, "tolist") else str(x))


class Plan(dict):
    """What ``dptrain plan --json`` prints; text has what ``dptrain plan`` prints."""

    def __init__(self, values, text):
        super().__init__(values)
        self.text = text

    def __repr__(self):
        return self.text

    def _repr_html_(self):
        return f"<pre>{html.escape(self.text)}</pre>"


@dataclass
class Contributions:
    """What every column adds to the predictions of some records, beside a usual record.

    values has one row per record and one column per feature, in the order of feature_names. A number is compared with the
    one that the model puts in the place of a missing one, which is mostly the released median; a text is not compared.
    together has what belongs to no single feature: interactions, and the ends at which predictions are clamped.
    constant + values.sum(axis=1) + together are the predictions of a regression in units of the target, or the
    decision_function of a classifier. With more than two classes values has a third axis for the classes, together a second
    one, and constant is an array.
    """

    values: np.ndarray
    together: np.ndarray
    constant: "float | np.ndarray"
    feature_names: list


# Parameters are the fields of a class: it takes them by name, epsilon by place too.
_parameters = dataclass(eq=False, repr=False)


@_parameters
class _Estimator(_Base):
    """What both estimators share.

    Every fit spends its epsilon and delta on the records. Predictions, plan and explain spend nothing. What is given as a
    parameter is public: take it from the definition of the data, never from a look at the records. The dtype of a column is
    such a declaration: a column with a dtype of dates becomes the numbers of its days, months and weekdays.

    Parameters
    ----------
    epsilon : the privacy budget of one fit, a number above 0, or a text such as "ln(3)".
    delta : the probability that the bound may fail, from 1e-10 to below 1, or 0 for pure methods. None is 1e-6.
    relation : what is hidden. "add-remove" (None): whether a record is in the table. "substitute": what a record says.
        "substitute-private-columns": what a record says in the columns that private lists.
    private : a list of columns that are hidden, with that relation; "target", or the name of y, is the target. All others are
        public.
    method : how to train, such as "joint-gram" or "boosted-additive". None decides by public facts and a noisy count.
    select : how columns are chosen, such as "kendall". None decides likewise.
    k : the number of columns that select chooses, at least 1.
    share : the share of the training budget for select, above 0 and below 1.
    rounds : rounds of boosting, at least 1.
    fallback : the method that is trained in case method makes no model.
    budget : a dict from stages to their shares of the training budget, such as {"selection": .05, "model": .9}. A share is
        above 0 and below 1.
    search : tries of which the best is kept within one budget: a dict such as {"runs": 5, "candidates": [...]}, as the section
        of that name in a recipe.
    settings : a dict from any other keys of a recipe to their values, such as {"model.rounds": 3}.
    holdout : the share of records for the private metrics, from 0 to .5. None is .2, and 0 leaves the metrics out.
    by : a column of categories, by whose values the private metrics are given too, in report_["metrics"]["groups"]. It may be
        one of exclude, with its categories declared.
    exclude : a list of columns of X that are not features.
    categories : a dict from columns to their public values, or to "private".
    hash : a dict from columns of text to a number of buckets, from 2 to 1024.
    prefix : a dict from columns of text to how many first characters count, from 1 to 64.
    encode : a list of columns of text of which each value becomes one number, the noisy mean of the target.
    fold : which texts are one value, classes included: "exact" (None), "blanks" or "case", which makes letters small.
    undeclared : "found" or "numbers": what columns are that nothing is said of. None finds text columns privately, as the
        command line does, where that has a price.
    numbers : "strict" reads plain numbers alone; "lenient" (None) also reads texts such as "45 yrs" and "<5".
    dates : a dict from columns of dates to how their texts are written, such as "2006-01-02", or to "auto".
    missing : up to 16 numbers that stand for a missing cell in every column, such as [-999].
    format : how texts are written: a dict with "decimal" and "thousands". Columns of numbers do not need it.
    ranges : a dict from columns to public pairs (lower, upper), in units of the column. Others are found privately.
    target : the name of the target in the model; that of y if it has one, else "target".
    unit : the column of X that says whose record it is: what is hidden is then all records of a person.
    max_rows : how many records of one person are kept, with unit.
    dataset : enter the run in a ledger under this name of the data set.
    ledger : the ledger: a path, or a Ledger, which has the name of the data set. Inside ``with Ledger(...)`` it is that one.
    note : a text that the ledger keeps with the run. It is not protected.
    recipe : the path of a recipe; the other parameters replace its values.
    engine : where the program keeps the table: "memory", or "stream" in an encrypted scratch file. None decides by its size.
    out : a new folder for release/ and curator/. None keeps the release in memory and drops what is private.
    progress : True prints the stages of a fit on standard error; a function is called with (stage, stages, name).
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
        """Set parameters by name and return the estimator. It raises TypeError for names that are refused, with the reason."""
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

    def _book(self):
        """The path of the ledger and the name of the data set in it, each None for the program's own default."""
        ledger, dataset = self.ledger, self.dataset
        if ledger is None and dataset is None:
            ledger = current()
        if isinstance(ledger, Ledger):
            if dataset is not None and dataset != ledger.dataset:
                raise ValueError(f"dataset is {dataset!r} and the ledger is that of {ledger.dataset!r}: leave dataset out")
            return ledger.path, ledger.dataset
        return ledger, dataset

    def _arguments(self, table, target):
        """The arguments that fit and plan have in common."""
        out = [os.fspath(self.recipe)] if self.recipe is not None else []
        if self.recipe is not None:  # which may describe a file that is written in another way than the table is passed here
            out += ["--separator=,", "--encoding=utf-8", "--quote=double", "--skip=0"]
        out += ["--data=-", f"--target={target}", f"--task={self._task}", f"--epsilon={text(self.epsilon)}"]
        for flag in VALUES:
            value = getattr(self, flag, None)
            if value is not None:
                write = column_name if flag in ("unit", "by") else text
                out.append(f"--{flag.replace('_', '-')}={write(value)}")
        if getattr(self, "target_transform", None) is not None:
            out.append(f"--transform={self.target_transform}")
        ledger, dataset = self._book()
        if ledger is not None:
            out.append(f"--ledger={os.fspath(ledger)}")
        if dataset is not None:
            out.append(f"--dataset={dataset}")
        keys = dict(self.settings or {})
        if self.share is not None:
            keys["selection.share"] = self.share
        if self.search is not None:
            keys["search"] = self.search
        for key, value in keys.items():
            out.append(f"--set={key}={_yaml(value)}")
        for flag in LISTS:
            values = getattr(self, flag)
            if values is not None:
                values = [values] if np.isscalar(values) else values
                out.append(f"--{flag}={listed(values if flag == 'missing' else map(column_name, values))}")
        for flag in DICTS:
            for name, values in (getattr(self, flag) or {}).items():
                name = column_name(name)
                if flag == "categories" and "=" in name:  # the flag ends the name at the first =
                    path = name.replace("\\", "\\\\").replace('"', '\\"')
                    values = text(values) if np.isscalar(values) else [text(value) for value in values]
                    out.append(f'--set=data.columns["{path}"].categories={_yaml(values)}')
                else:
                    out.append(f"--{flag}={name}={text(values) if np.isscalar(values) else listed(values)}")
        for name, layout in self._dates(table).items():
            out.append(f"--date={name}={layout}")
        for key, mark in (self.format or {}).items():
            if key not in ("decimal", "thousands"):
                raise ValueError(f"format has the key {key!r}: a table in memory has no {key}, and the keys are decimal and thousands")
            out.append(f"--{key}={mark}")
        ranges = dict(self.ranges or {})
        if getattr(self, "target_range", None) is not None:
            ranges[target] = self.target_range
        for name, (lower, upper) in ranges.items():
            out.append(f"--range={column_name(name)}={text(lower)}:{text(upper)}")
        return out

    def _dates(self, table):
        """The layouts of the columns of dates: those that are declared, and auto for a dtype of dates."""
        dates = {column_name(name): layout for name, layout in (self.dates or {}).items()}
        others = set(map(column_name, [*(self.exclude or ()), *(self.categories or ()), *(self.hash or ()), self.unit]))
        for j, name in enumerate(table.names):
            if table.is_date(j) and name not in others and (name in dates or self.recipe is None):
                dates[name] = "auto"  # which reads how a stored date is written here, whatever layout is declared for texts
        return dates

    def _fit(self, X, y, cell=None, more=()):
        """Fit to records X and targets y, which cell turns into text. more are further arguments of the command."""
        table = read_table(X)
        target = self._target(table.names, y)
        y = _cells(y)
        if not table.names:
            raise ValueError(f"0 feature(s) (shape=({len(y)}, 0)) while a minimum of 1 is required.")
        if table.rows == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        if len(y) != table.rows:
            raise ValueError("Found input variables with inconsistent numbers of samples: X and y differ")
        arguments = ["fit", *self._arguments(table, target), *more]
        if self.engine is not None:
            arguments.append(f"--engine={self.engine}")
        if self.note is not None:
            arguments.append(f"--note={self.note}")
        progress = _printed if self.progress is True else self.progress or None
        arguments.append("--quiet" if progress is None else "--progress")
        repeated = self._warn_of_callers()
        write = comma_text if (self.format or {}).get("decimal") == "," else text
        records = to_csv([*table.names, target], [*map(table.cells, range(len(table.names))), [(cell or write)(label) for label in y]], write)
        with tempfile.TemporaryDirectory(prefix="dptrain-") as folder:
            out = Path(self.out if self.out is not None else Path(folder) / "out")
            run([*arguments, f"--out={out}"], records, progress)
            self.release_ = {p.name: p.read_bytes() for p in sorted((out / "release").iterdir()) if p.is_file()}
        if table.named:
            self.feature_names_in_ = np.asarray(table.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.n_features_in_ = len(table.names)
        for w in self.report_.get("warnings", []):
            if w["severity"] not in _REMARKS and not (repeated and w["code"] == "no-ledger"):
                warnings.warn(DptrainWarning(f"{w['code']}: {w['text']}", w["code"], w["severity"]), stacklevel=3)
        return self

    def _warn_of_callers(self):
        """Warn of repeated fits without a ledger, and of steps that learned from the records. It reports the former."""
        for name, kind, learned in fitted_steps(self):
            message = (
                f"unprotected-step: the step {name!r} ({kind}) learned {', '.join(learned)} from the records without privacy, and the "
                "guarantee does not cover what depends on it. Leave it out: dptrain scales numbers and reads categories privately."
            )
            warnings.warn(DptrainWarning(message, "unprotected-step", "warning"), stacklevel=4)
        if self._book() != (None, None):
            return False
        repeated = repeated_fits(self.epsilon if isinstance(self.epsilon, (int, float)) else float("nan"))
        if repeated is None:
            return False
        first, fits, total = repeated
        if first:
            cost = f"{fits} releases, which together have epsilon {total:.4g}" if fits and total == total else "one release per split and candidate, whose epsilons add up"
            message = (
                f"repeated-fits: this cross-validation or search makes {cost} (basic composition), and no ledger adds them up. Its scores are "
                "exact and not protected. One fit has a private score on held-out records: report_['metrics']. To compare methods within one budget, set search."
            )
            warnings.warn(DptrainWarning(message, "repeated-fits", "warning"), stacklevel=4)
        return True

    def _target(self, names, y):
        target = self.target or getattr(y, "name", None)
        if target is None or target == "":
            target = "target"
            while target in names:
                target += "_"
        target = column_name(target)
        if target in names:
            raise ValueError(f"the target is named {target!r} as a column of X is: give another name as target")
        return target

    def _priced(self, X, y, flags):
        """What plan prints with these flags for the columns of X, as JSON and as text. No record reaches the program."""
        table = read_table(X)
        target = self._target(table.names, y)
        more = self._class_arguments(y) if y is not None else []
        header = to_csv([*table.names, target], [[] for _ in range(len(table.names) + 1)])
        arguments = ["plan", *self._arguments(table, target), *more, *flags]
        return Plan(json.loads(run([*arguments, "--json"], header)), run(arguments, header).decode())

    def _class_arguments(self, y):
        return []

    def plan(self, X, y=None, runs=None):
        """The price of a fit, step by step: a [Plan]. It reads the names and dtypes of the columns and spends nothing.

        runs, at least 1 and with a ledger alone, adds the epsilon that so many equal runs may have.
        """
        return self._priced(X, y, [f"--runs={runs}"] if runs is not None else [])

    def explain(self, X, y=None, rows=None):
        """The R² or accuracy to expect at several epsilons: a [Plan]. It takes seconds and spends nothing.

        The runs are carried out on synthetic tables with the columns of X. rows is a number of records or a list of them;
        None is 1,000, 10,000 and 100,000.
        """
        flags = ["--explain"]
        if rows is not None:
            flags.append(f"--rows={listed([rows] if np.isscalar(rows) else rows)}")
        return self._priced(X, y, flags)

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

    def _records(self, X):
        """The [Table] of records to predict. It raises NotFittedError, TypeError and ValueError."""
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

    def _scores(self, table, in_process=False):
        """The scores of a table by the model in this process, one column per score.

        It returns None where the program predicts: a kind of model that only the program has, a table that lacks a column, and,
        unless in_process is set, many records of a model of kernels.
        """
        try:
            predictor = compiled(self._file("model.json"))
            dated = any(map(table.is_date, range(len(table.names))))  # the program reads dates in the layout of texts
            if predictor.is_slow_for(table) and not in_process and not dated:
                return None
            return predictor.scores(table)
        except Uncompiled:
            return None

    def _predict(self, table, *flags):
        """The rows that the program prints for a table, without the header line."""
        cells = [table.cells(j) for j in range(len(table.names))]
        write = comma_text if self.model_.get("reading", {}).get("decimal") == "," else text
        with tempfile.TemporaryDirectory(prefix="dptrain-") as folder:
            path = Path(folder) / "model.json"
            path.write_bytes(self._file("model.json"))
            if "recipe.yaml" in self.release_:  # it says how dates are read
                (Path(folder) / "recipe.yaml").write_bytes(self.release_["recipe.yaml"])
            out = run(["predict", str(path), "-", *flags], to_csv(*with_named_column(table.names, cells), write))
        rows = csv.reader(io.StringIO(out.decode()))
        next(rows)
        return list(rows)

    def _features(self):
        """The names of the columns of X in the fit."""
        return [str(name) for name in getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])]

    def _places(self, model):
        """The place among the columns of X by column of the model: of a part of a date, that of the date."""
        source = {d["column"]: d["source"] for d in model.get("reading", {}).get("dates", [])}
        places = {name: j for j, name in enumerate(self._features())}
        return {c["name"]: places[c["name"] if c["name"] in places else source.get(c["name"])] for part in _parts(model) for c in part["columns"]}

    def contributions(self, X):
        """What every column adds to the predictions of records X: [Contributions]. It raises DptrainError.

        A column of dates adds what its parts do.
        """
        table, model = self._records(X), self.model_
        try:
            parts, together, constant = compiled(self.release_["model.json"]).contributions(table)
        except Uncompiled:
            self._predict(table)
            raise InvalidInput(f"a model of the kind {model['kind']!r} has no contributions of columns", 2) from None
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
        """The share of every column of X in how far the columns move predictions: numbers from 0 that add up to 1.

        report_["importances"] has the sizes and their intervals. Methods that release nothing of it have no importances: then
        it raises AttributeError.
        """
        model = self.model_
        report = json.loads(self.release_.get("report.json", b"{}"))
        if "importances" not in report:
            raise AttributeError(f"the method {report.get('model', {}).get('method', '')!r} releases no importances of columns")
        places, out = self._places(model), np.zeros(self.n_features_in_)
        for row in report["importances"]:
            out[places[row["column"]]] += row["value"]
        return out / out.sum() if out.sum() > 0 else out

    @property
    def coef_names_(self):
        """The names of coef_: columns of X, and for texts and missing cells names such as "ocean=inland" and "area=(missing)"."""
        return self._coefficients()[0]

    @property
    def coef_(self):
        """The coefficients of a linear model in units of the target per unit of the column, in the order of coef_names_.

        A column of numbers has one, 0 if the model does not use it, so with numbers alone they are in the order of the
        columns of X. A classifier has one row per score, as in scikit-learn. Other kinds of models raise AttributeError.
        """
        rows = self._coefficients()[1]
        return rows[0] if self._task == "regression" else rows

    @property
    def intercept_(self):
        """The intercept of a linear model: a number, or of a classifier one number per score."""
        rows = self._coefficients()[2]
        return float(rows[0]) if self._task == "regression" else rows

    def _coefficients(self):
        model = self.model_
        parts = _parts(model)
        if any(part["kind"] not in ("linear", "clipped-linear") for part in parts):
            raise AttributeError(f"a model of the kind {parts[0]['kind']!r} is no sum of coefficients: see shapes_, contributions and feature_importances_")
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
        """The order of the scores of the model by class, and 1, or -1 if the score of two classes speaks for the first."""
        return np.arange(scores), 1.0

    @property
    def shapes_(self):
        """What each column adds by its value, a dict by column of the model, in units of the target or of the score.

        A column of numbers has x and y, the corners of a curve over its range, and missing, what is added for a missing cell.
        A column of texts has categories, y, and other, what is added for every other value. With more than two classes it is
        a dict of such dicts by class. Models that are no sum of columns raise AttributeError.
        """
        model = self.model_
        parts = _parts(model)
        if any(part["kind"] not in ("linear", "clipped-linear", "additive", "kernel") for part in parts):
            raise AttributeError(f"a model of the kind {parts[0]['kind']!r} is no sum of columns: see contributions")
        order, sign = self._score_order(len(parts))
        shapes = [_shapes(parts[k], sign) for k in order]
        return shapes[0] if len(shapes) == 1 else dict(zip(self.classes_.tolist(), shapes))

    def _repr_html_(self):
        return _head(self) if hasattr(self, "release_") and "report.json" in self.release_ else f"<pre>{html.escape(repr(self))}</pre>"

    def _repr_mimebundle_(self, **_):
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _refuse(cls, params):
    """Raise TypeError for a parameter that other estimators have, with the reason."""
    for name in params:
        if name in _REFUSED:
            raise TypeError(f"{cls.__name__} has no {name}: {_REFUSED[name]}")


def _refuse_of_fit(estimator, params):
    """Raise TypeError for arguments of fit beside X and y."""
    _refuse(type(estimator), params)
    for name in params:
        raise TypeError(f"{type(estimator).__name__}.fit() got an unexpected argument {name!r}: parameters go to {type(estimator).__name__}(...)")


def _printed(stage, stages, name):
    print(f"dptrain: {stage} of {stages}: {name}", file=sys.stderr, flush=True)


def _parts(model):
    """The models with a number for their prediction: the scores of a classifier, or the model itself."""
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
    """The head of the report as HTML: the guarantee, the private metric and the warnings."""
    report = estimator.report_
    g, rows = report["guarantee"], []
    unit = f" of all records of one {g['unit']['column']}" if g.get("unit") else " of one record"
    rows.append(("Guarantee", f"ε {g['epsilon']:g}, δ {g['delta']:g}{unit} ({g['relation']})"))
    rows.append(("Meaning", g.get("meaning", "")))
    rows.append(("Model", f"{report['model']['method']}, {len(report['features']['selected'])} of {len(report['features']['considered'])} columns"))
    for key, name in (("r2", "R²"), ("mae", "Mean absolute error"), ("accuracy", "Accuracy"), ("balanced_accuracy", "Balanced accuracy")):
        metric = (report.get("metrics") or {}).get(key)
        if metric and metric.get("value") is not None:
            ends = f" ({metric['level']:.0%} interval {_number(metric['lower'])} to {_number(metric['upper'])})" if metric.get("lower") is not None else ""
            rows.append((name, _number(metric["value"]) + ends))
    for w in report.get("warnings", []):
        if w["severity"] not in _REMARKS:
            rows.append((f"{w['severity']}: {w['code']}", w["text"]))
    body = "".join(f'<tr><th style="text-align:left;vertical-align:top">{html.escape(a)}</th><td style="text-align:left">{html.escape(b)}</td></tr>' for a, b in rows)
    return f"<table><caption>{html.escape(type(estimator).__name__)}: {html.escape(report['target'])}</caption><tbody>{body}</tbody></table>"


def _number(x):
    """A number with three significant digits, and marks between thousands."""
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}"


@_parameters
class DPRegressor(_RegressorMixin, _Estimator):
    __doc__ = "A regression that is trained with differential privacy.\n" + _Estimator.__doc__.split("\n", 1)[1] + """\
target_range : a public pair (lower, upper) for the target, in its units. None finds it privately.
    target_transform : "log" or "sqrt" fits that of the target; predictions and metrics stay in its own units.
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
        """Train on records X, one row each, and targets y, and return the estimator. It spends epsilon and delta.

        X is a table of pandas, polars or pyarrow, or an array or a sparse matrix, whose absent entries are 0. A cell never
        causes an error: one that is missing, infinite or unreadable is a missing value, and a record without a target that
        can be read trains nothing. It raises DptrainError, before anything is spent except for Abstained.
        """
        _refuse_of_fit(self, refused)
        if declared_kind(y) == "text":
            raise InvalidInput(
                "the dtype of y says that it holds text, and a regression needs numbers: use DPClassifier for class labels, or convert y to floats", 2
            )
        return self._fit(X, y)

    def predict(self, X):
        """The predictions for records, float64 in units of the target. Columns are found by their names.

        It raises DptrainError if X lacks a column of the model.
        """
        table = self._records(X)
        scores = self._scores(table)
        if scores is None:
            return np.array([float(row[0]) for row in self._predict(table)])
        return scores[:, 0]

    def predict_interval(self, X, level=0.9):
        """The predictions and the ends of their intervals: an array with the columns prediction, lower, upper.

        A new target lies within the interval with the probability level, which is one of those that the model has, mostly .9
        and .95. It raises DptrainError for another.
        """
        table = self._records(X)
        widths = [v["half_width"] for v in self.model_.get("interval", []) if abs(v["level"] - level) < 1e-9]
        scores = self._scores(table) if widths else None
        if scores is None:
            return np.array([[float(v) for v in row] for row in self._predict(table, f"--interval={level}")])
        return np.stack([scores[:, 0], scores[:, 0] - widths[0], scores[:, 0] + widths[0]], axis=1)

    def score(self, X, y, sample_weight=None):
        """R² on these records. It is exact: publish report_["metrics"] of private records instead."""
        truth = np.asarray(y, dtype=float).ravel()
        weight = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        rest = np.sum(weight * (truth - self.predict(X)) ** 2)
        whole = np.sum(weight * (truth - np.average(truth, weights=weight)) ** 2)
        return float(1 - rest / whole) if whole > 0 else float(rest == 0)


@_parameters
class DPClassifier(_ClassifierMixin, _Estimator):
    __doc__ = "A classifier that is trained with differential privacy.\n" + _Estimator.__doc__.split("\n", 1)[1] + """\
classes : a list of the public classes, 2 to 255. None finds them privately.
    public_classes : True declares that the labels in y are public knowledge: all are classes.
    most_classes : how many classes are found at most, from 2 to 255. None is 32.
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
        """Train on records X, one row each, and labels y, and return the estimator. It spends epsilon and delta.

        X is as for DPRegressor. A label stays what it is: classes_ and predictions have labels of y. Missing labels are None,
        NaN and the missing values of pandas and NumPy. The dtype of classes_ is that of the declared classes, or follows from
        the labels that were found: whole numbers are integers even where y has floats. It raises DptrainError, before
        anything is spent except for Abstained.
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
        """The arguments that declare the classes. It raises InvalidInput where no label of y can be one of them."""
        if declared is None:
            return []
        of = kind_of(declared)
        if kind is not None and of is not None and kind != of:
            raise InvalidInput(f"the classes are of the kind {of!r} and y, by its dtype, of the kind {kind!r}: no label of y is one of the classes", 2)
        return ["--classes=" + listed([labels.write(label) for label in declared])]

    def _class_arguments(self, y):
        kind = declared_kind(y)
        return self._declaring(kind, self._declared(y), Labels(textual=kind == "text"))

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
        """The classes of records, labels of y. It raises DptrainError if X lacks a column of the model."""
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
        """The scores of records: of two classes above 0 where the second of classes_ is predicted, of more one column per class.

        They are in units of the model, and no log odds. It raises DptrainError if X lacks a column of the model.
        """
        table = self._records(X)
        scores = self._scores(table, in_process=True)
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
    """Whether the program predicts probabilities with the contents of model.json."""
    scores = model.get("scores", [])
    return "probability" in model or len(scores) > 2 and all(score["kind"] == "prototypes" for score in scores)


def _second(curve, scores):
    """The probabilities of the second class at scores: those of straight lines between points, or of a logistic curve."""
    if curve.get("scores"):
        return np.interp(scores, curve["scores"], curve["values"])
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-(curve["intercept"] + curve["slope"] * scores)))


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
