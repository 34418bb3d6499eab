"""Differentially private training of regressions and classifiers.

The estimators follow the conventions of scikit-learn, which they work with and do not need. All work is done by
the program ``dptrain`` that the wheel carries; tables go to it through a pipe and are not written to disk.
"""

from ._estimators import Contributions, DPClassifier, DPRegressor, load
from ._fit import DptrainWarning, Plan
from ._ledger import Ledger
from ._program import Abstained, BudgetRefused, DptrainError, InvalidInput, LedgerRefused, NoProbabilities, TargetUnreadable, TooFewClasses, program, version

__all__ = [
    "Abstained",
    "BudgetRefused",
    "Contributions",
    "DPClassifier",
    "DPRegressor",
    "DptrainError",
    "DptrainWarning",
    "InvalidInput",
    "Ledger",
    "LedgerRefused",
    "NoProbabilities",
    "Plan",
    "TargetUnreadable",
    "TooFewClasses",
    "load",
    "program",
    "version",
]
