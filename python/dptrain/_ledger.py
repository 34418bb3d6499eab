"""Ledgers: what all runs on a data set spend, held below a total."""

import contextvars
import json
import os

from ._program import run

_current = contextvars.ContextVar("dptrain_ledger", default=None)


class Ledger:
    """A data set in a ledger file. As a context manager it enters every fit inside it that names no other ledger.

    >>> with Ledger.create("dptrain.ledger", "houses", epsilon=3) as ledger:
    ...     DPRegressor(epsilon=1).fit(X, y)
    ...     ledger.left

    Parameters
    ----------
    path : the ledger file.
    dataset : the name of the data set in it. One table has one name.

    It raises BudgetRefused where a run or a spend would cross the total of the data set, before anything is read or spent,
    and LedgerRefused where the file is in use or damaged, or does not know the data set.
    The context covers the current thread and its asyncio task. Worker processes, such as those of ``n_jobs``, do not have
    it: give the estimator ``ledger=Ledger(path, dataset)``, which is sent to them.
    """

    def __init__(self, path, dataset):
        self.path, self.dataset = os.fspath(path), str(dataset)
        self._tokens = []

    @classmethod
    def create(cls, path, dataset, epsilon, delta=None, relation=None, unit=None):
        """Register a data set with a total for all its runs, in a new ledger file or an old one.

        epsilon > 0, and delta at least 1e-10 and below 1 (1e-6 if it is None), bound all runs together. relation is that of
        the runs, "add-remove" if it is None. unit is the column that names the person whose record it is.
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
        """The entries of the data set as ``dptrain ledger show --json`` prints them: its total, what is spent and its runs."""
        out = run(["ledger", "show", self.path, "--dataset", self.dataset, "--json"])
        return json.loads(out)["datasets"][0]

    @property
    def runs(self):
        """The runs of the data set, a list of dicts with entry, date, method, target, epsilon, delta and cost."""
        return self.show()["runs"]

    @property
    def left(self):
        """What remains of the total: a dict with cost, in units of the currency, and delta."""
        return self.show()["left"]

    @property
    def share_left(self):
        """What remains as a share of the total, from 0 to 1."""
        shown = self.show()
        return shown["left"]["cost"] / shown["limit"]["cost"]

    def spend(self, epsilon=None, delta=None, rho=None, mu=None, note=None):
        """Enter what another tool is about to release about the data set: epsilon with delta, rho of zCDP, or mu of GDP.

        Nothing takes a spend back. It raises BudgetRefused if the total would be crossed.
        """
        arguments = ["ledger", "spend", self.path, "--dataset", self.dataset]
        for flag, value in (("epsilon", epsilon), ("delta", delta), ("rho", rho), ("mu", mu), ("note", note)):
            if value is not None:
                arguments += ["--" + flag, str(value)]
        run(arguments)

    def verify(self):
        """Check every entry of the ledger. It raises LedgerRefused if one was altered."""
        run(["ledger", "verify", self.path])


def current():
    """The ledger of the innermost ``with`` block, or None."""
    return _current.get()
