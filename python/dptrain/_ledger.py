"""Ledgers, which limit the total budget of all runs on a data set."""

import contextvars
import json
import os

from ._program import run

_current = contextvars.ContextVar("dptrain_ledger", default=None)


class Ledger:
    """A data set in a ledger file. As a context manager, it records every fit inside it that names no other ledger.

    >>> with Ledger.create("dptrain.ledger", "houses", epsilon=3) as ledger:
    ...     DPRegressor(epsilon=1).fit(X, y)
    ...     ledger.left

    Parameters
    ----------
    path : the ledger file.
    dataset : the name of the data set in it. Use the same name for all copies of a table.

    A run or a spend that would exceed the total of the data set raises BudgetRefused before anything is read or spent. A file
    that is in use or damaged, or does not contain the data set, raises LedgerRefused.
    The context covers the current thread and its asyncio task, but not worker processes such as those of ``n_jobs``: for them,
    give the estimator ``ledger=Ledger(path, dataset)``.
    """

    def __init__(self, path, dataset):
        self.path, self.dataset = os.fspath(path), str(dataset)
        self._tokens = []

    @classmethod
    def create(cls, path, dataset, epsilon, delta=None, relation=None, unit=None):
        """Register a data set with a total for all its runs, in a new or existing ledger file.

        epsilon > 0 and delta, from 1e-10 to below 1 (default 1e-6), limit all runs together. relation is the neighbouring
        relation of the runs (default "add-remove"). unit is the column that identifies the person behind a record.
        """
        arguments = ["ledger", "init", os.fspath(path), "--dataset", str(dataset), "--epsilon", str(epsilon)]
        for flag, value in (("delta", delta), ("relation", relation), ("unit", unit)):
            if value is not None:
                arguments += ["--" + flag, str(value)]
        run(arguments)
        return cls(path, dataset)

    def __enter__(self):
        self._tokens.append(_current.set(self))
        return self

    def __exit__(self, *error):
        _current.reset(self._tokens.pop())

    def __getstate__(self):
        return {"path": self.path, "dataset": self.dataset, "_tokens": []}

    def __eq__(self, other):
        return isinstance(other, Ledger) and (self.path, self.dataset) == (other.path, other.dataset)

    def __hash__(self):
        return hash((self.path, self.dataset))

    def __repr__(self):
        return f"Ledger({self.path!r}, {self.dataset!r})"

    def show(self):
        """Return the account of the data set, as in ``dptrain ledger show --json``: its total, the spent budget and its runs."""
        out = run(["ledger", "show", self.path, "--dataset", self.dataset, "--json"])
        return json.loads(out)["datasets"][0]

    @property
    def runs(self):
        """The runs on the data set: a list of dicts with entry, date, method, target, epsilon, delta and cost."""
        return self.show()["runs"]

    @property
    def left(self):
        """The remaining budget: a dict with cost, in units of the currency, and delta."""
        return self.show()["left"]

    @property
    def share_left(self):
        """The remaining budget as a share of the total, from 0 to 1."""
        shown = self.show()
        return shown["left"]["cost"] / shown["limit"]["cost"]

    def spend(self, epsilon=None, delta=None, rho=None, mu=None, note=None):
        """Record a release that another tool is about to make: epsilon with delta, rho of zCDP, or mu of GDP.

        It cannot be undone. Raises BudgetRefused if the total would be exceeded.
        """
        arguments = ["ledger", "spend", self.path, "--dataset", self.dataset]
        for flag, value in (("epsilon", epsilon), ("delta", delta), ("rho", rho), ("mu", mu), ("note", note)):
            if value is not None:
                arguments += ["--" + flag, str(value)]
        run(arguments)

    def verify(self):
        """Check every entry of the ledger. Raises LedgerRefused if one was altered."""
        run(["ledger", "verify", self.path])


def current():
    """Return the ledger of the innermost ``with`` block, or None."""
    return _current.get()
