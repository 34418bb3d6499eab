"""Fits and plans: the arguments of the program, the table that it reads, and the release that a fit leaves."""

import html
import json
import os
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

from ._flags import DICTS, LISTS, VALUES
from ._ledger import Ledger, current
from ._messages import in_parameters
from ._program import Abstained, run
from ._sklearn import fitted_steps, repeated_fits
from ._table import column_name, comma_text, listed, read_table, refuse_sparse, stored_numbers, text, texts_of, to_arrow, to_csv

try:
    from sklearn.exceptions import DataConversionWarning
except ImportError:  # scikit-learn is not needed

    class DataConversionWarning(UserWarning):
        """The shape of an array was changed."""


class DptrainWarning(UserWarning):
    """A warning or error from the report of a fit, or about the code that calls fit.

    ``code`` identifies it, such as "wide-interval"; ``severity`` is its rank.
    """

    def __init__(self, message, code="", severity=""):
        super().__init__(message)
        self.code, self.severity = code, severity

    def __reduce__(self):
        return type(self), (str(self), self.code, self.severity)


# Severities that are not raised as warnings.
REMARKS = ("negligible", "note")


def _parameter(value):
    """Format the value of a parameter. A number that is not finite stays one, so that the program refuses it."""
    if isinstance(value, (float, np.floating)) and not np.isfinite(value):
        return str(float(value))
    return text(value)


def _yaml(value):
    """Format a value as YAML, in its JSON subset. NumPy numbers and arrays are converted."""
    return json.dumps(value, default=lambda x: x.tolist() if hasattr(x, "tolist") else str(x))


class Plan(dict):
    """The output of ``dptrain plan --json`` as a dict; text is the output of ``dptrain plan``."""

    def __init__(self, values, text):
        super().__init__(values)
        self.text = text

    def __repr__(self):
        return self.text

    def _repr_html_(self):
        return f"<pre>{html.escape(self.text)}</pre>"


class Fitting:
    """The fits and plans of an estimator with the parameters of DPRegressor or DPClassifier."""

    def _book(self):
        """Return the ledger path and the data set name. None means the default of the program."""
        ledger, dataset = self.ledger, self.dataset
        if ledger is None and dataset is None:
            ledger = current()
        if isinstance(ledger, Ledger):
            if dataset is not None and dataset != ledger.dataset:
                raise ValueError(f"dataset is {dataset!r}, but the ledger is for {ledger.dataset!r}: omit dataset")
            return ledger.path, ledger.dataset
        return ledger, dataset

    def _arguments(self, table, target, data="-"):
        """Return the arguments that fit and plan have in common. data is the path of the table on standard input."""
        out = [os.fspath(self.recipe)] if self.recipe is not None else []
        if self.recipe is not None:  # it may describe a file with a different format
            out += ["--separator=,", "--encoding=utf-8", "--quote=double", "--skip=0"]
        out += [f"--data={data}", f"--target={target}", f"--task={self._task}", f"--epsilon={_parameter(self.epsilon)}"]
        for flag in VALUES:
            value = getattr(self, flag, None)
            if value is not None:
                write = column_name if flag in ("unit", "by") else _parameter
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
                out.append(f"--{flag}={listed(map(_parameter if flag == 'missing' else column_name, values))}")
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
                raise ValueError(f"format has the key {key!r}, which does not apply to a table in memory: use decimal and thousands")
            out.append(f"--{key}={mark}")
        ranges = dict(self.ranges or {})
        if getattr(self, "target_range", None) is not None:
            ranges[target] = self.target_range
        for name, (lower, upper) in ranges.items():
            out.append(f"--range={column_name(name)}={_parameter(lower)}:{_parameter(upper)}")
        return out

    def _dates(self, table):
        """Return the layouts of date columns: the declared ones, and auto for date dtypes."""
        dates = {column_name(name): layout for name, layout in (self.dates or {}).items()}
        others = set(map(column_name, [*(self.exclude or ()), *(self.categories or ()), *(self.hash or ()), self.unit]))
        for j, name in enumerate(table.names):
            if table.is_date(j) and name not in others and (name in dates or self.recipe is None):
                dates[name] = "auto"  # which reads how a stored date is written here, whatever layout is declared for texts
        return dates

    def _fit(self, X, y, cell=None, more=()):
        """Fit to records X and targets y, converted to text by cell. more are additional arguments of the command."""
        table = read_table(X)
        target = self._target(table.names, y)
        target_numbers = stored_numbers(y)
        y = target_cells(y)
        if not table.names:
            raise ValueError(f"0 feature(s) (shape=({len(y)}, 0)) while a minimum of 1 is required.")
        if table.rows == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        if len(y) != table.rows:
            raise ValueError("Found input variables with inconsistent numbers of samples: X and y differ")
        data, records = self._training_table(table, target, y, target_numbers, cell)
        arguments = ["fit", *self._arguments(table, target, data), *more]
        if self.engine is not None:
            arguments.append(f"--engine={self.engine}")
        if self.note is not None:
            arguments.append(f"--note={self.note}")
        progress = print_stage if self.progress is True else self.progress or None
        arguments.append("--quiet" if progress is None else "--progress")
        repeated = self._warn_of_callers()
        with tempfile.TemporaryDirectory(prefix="dptrain-") as folder:
            out = Path(self.out if self.out is not None else Path(folder) / "out")
            try:
                run([*arguments, f"--out={out}"], records, progress)
            except Abstained as error:
                report = json.loads((out / "release" / "report.json").read_bytes())
                message = str(error)
                if self.out is None:
                    message = message.replace(f"see the report in {out}", "see the attribute report of this exception")
                raise type(error)(message, error.code, report) from None
            self.release_ = {p.name: p.read_bytes() for p in sorted((out / "release").iterdir()) if p.is_file()}
        if table.named:
            self.feature_names_in_ = np.asarray(table.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.n_features_in_ = len(table.names)
        for w in self.report_.get("warnings", []):
            if w["severity"] not in REMARKS and not (repeated and w["code"] == "no-ledger"):
                warnings.warn(DptrainWarning(f"{w['code']}: {in_parameters(w['text'])}", w["code"], w["severity"]), stacklevel=3)
        return self

    def _training_table(self, table, target, y, target_numbers, cell):
        """Return the path of the table on standard input, and its bytes: an Arrow stream of a large table with pyarrow, otherwise CSV.

        Both give the same release. With a recipe or a format, which may have a column of numbers read by its text, it is CSV.
        So it is for a regression without target_numbers: a target that is stored as text is refused. Apart from the size, dtypes
        and parameters decide, and no cell does.
        """
        write = comma_text if (self.format or {}).get("decimal") == "," else text
        names = [*table.names, target]
        texts = set(map(column_name, [*(self.categories or ()), *(self.hash or ())]))
        plain = self.recipe is None and not self.format and not any(str(key).startswith("data") for key in self.settings or ())
        if cell is not None:
            target_numbers = None
        elif target_numbers is None:
            plain = False
        if plain and table.rows * len(names) >= _ARROW_CELLS:
            read_as_text = texts | set(map(column_name, [*(self.dates or ()), *filter(None, [self.unit, self.by])]))
            columns = [None if name in read_as_text else table.stored(j) for j, name in enumerate(table.names)]
            columns.append(target_numbers)
            if any(column is not None for column in columns):
                for j, name in enumerate(table.names):
                    if columns[j] is None:
                        columns[j] = texts_of(table.cells(j, name in texts), write)
                if columns[-1] is None:
                    columns[-1] = [(cell or write)(label) for label in y]
                stream = to_arrow(names, columns)
                if stream is not None:
                    return "-.arrows", stream
        cells = [table.cells(j, name in texts) for j, name in enumerate(table.names)]
        return "-", to_csv(names, [*cells, [(cell or write)(label) for label in y]], write)

    def _warn_of_callers(self):
        """Warn about repeated fits without a ledger and about unprotected pipeline steps. Returns whether fits are repeated."""
        for name, kind, learned in fitted_steps(self):
            message = (
                f"unprotected-step: the step {name!r} ({kind}) learned {', '.join(learned)} from the records without privacy, so the "
                "guarantee does not cover anything that depends on it. Remove it: dptrain scales numbers and handles categories privately."
            )
            warnings.warn(DptrainWarning(message, "unprotected-step", "warning"), stacklevel=4)
        if self._book() != (None, None):
            return False
        repeated = repeated_fits(self.epsilon if isinstance(self.epsilon, (int, float)) else float("nan"))
        if repeated is None:
            return False
        first, fits, total = repeated
        if first:
            cost = f"{fits} releases with a total epsilon of {total:.4g}" if fits and total == total else "one release per split and candidate, and their epsilons add up"
            message = (
                f"repeated-fits: this cross-validation or search makes {cost} (basic composition), and no ledger tracks them. Its scores are "
                "exact and not protected. A single fit already has a private score on held-out records: report_['metrics']. To compare methods within one budget, use search."
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
            raise ValueError(f"the target has the same name as a column of X, {target!r}: set target to another name")
        return target

    def _priced(self, X, y, flags):
        """Return the plan for the columns of X with these flags. No record reaches the program."""
        table = read_table(X)
        target = self._target(table.names, y)
        more = self._class_arguments(y) if y is not None else []
        header = to_csv([*table.names, target], [[] for _ in range(len(table.names) + 1)])
        arguments = ["plan", *self._arguments(table, target), *more, *flags]
        return Plan(json.loads(run([*arguments, "--json"], header)), run(arguments, header).decode())

    def _class_arguments(self, y):
        return []

    def plan(self, X, y=None, runs=None):
        """Return the price of a fit, step by step, as a [Plan]. Reads only the names and dtypes of the columns and spends nothing.

        runs, at least 1 and only with a ledger, adds the epsilon at which this number of equal runs fits.
        """
        return self._priced(X, y, [f"--runs={runs}"] if runs is not None else [])

    def explain(self, X, y=None, rows=None):
        """Return the R² or accuracy to expect at several epsilons, as a [Plan]. Takes seconds and spends nothing.

        The runs are simulated on synthetic tables with the columns of X. rows is a number of records or a list of numbers;
        None means 1,000, 10,000 and 100,000.
        """
        flags = ["--explain"]
        if rows is not None:
            flags.append(f"--rows={listed([rows] if np.isscalar(rows) else rows)}")
        return self._priced(X, y, flags)


_ARROW_CELLS = 50_000  # fewer are written as CSV in less time than it takes to import pyarrow


def print_stage(stage, stages, name):
    print(f"dptrain: {stage} of {stages}: {name}", file=sys.stderr, flush=True)


def target_cells(y):
    """Return the values of the target as a list."""
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
