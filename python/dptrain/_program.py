"""The program: where it is, how it is run, and its errors."""

import os
import shutil
import subprocess
import sys
from pathlib import Path


class DptrainError(RuntimeError):
    """The program ended with an error. ``code`` is its exit code, the text is its message."""

    def __init__(self, message, code=1):
        super().__init__(message)
        self.code = code

    def __reduce__(self):
        return type(self), (str(self), self.code)


class InvalidInput(DptrainError, ValueError):
    """A parameter, a recipe, a header or a file is not valid (exit codes 2, 3 and 4)."""


class NoProbabilities(InvalidInput, AttributeError):
    """The model of a classifier has no probabilities. As an AttributeError it makes hasattr(classifier, "predict_proba") False."""


class BudgetRefused(DptrainError, ValueError):
    """No plan fits within the budget, or the ledger's total would be crossed (exit code 5)."""


class LedgerRefused(DptrainError):
    """The ledger is in use, damaged, or does not know the data set (exit code 6)."""


class Abstained(DptrainError):
    """The mechanism made no model, within its guarantee; the budget was spent (exit code 7)."""


class TargetUnreadable(Abstained):
    """Hardly any record has a target that can be read, so the run stopped before training; little was spent (exit code 7)."""


_ERRORS = {2: InvalidInput, 3: InvalidInput, 4: InvalidInput, 5: BudgetRefused, 6: LedgerRefused, 7: Abstained}


def program():
    """The path of the program: the environment variable DPTRAIN, that of the wheel, or that of PATH."""
    name = "dptrain.exe" if sys.platform == "win32" else "dptrain"
    named = os.environ.get("DPTRAIN")
    if named:
        return named
    carried = Path(__file__).parent / "bin" / name
    if carried.is_file():
        if not os.access(carried, os.X_OK):
            carried.chmod(0o755)
        return str(carried)
    found = shutil.which("dptrain")
    if found:
        return found
    raise FileNotFoundError(
        "the program dptrain is missing: install the wheel of your platform, or set the environment variable DPTRAIN to its path"
    )


def run(arguments, table=None):
    """Run the program on a table, as bytes of CSV, and return what it prints. It raises DptrainError."""
    done = subprocess.run([program(), *arguments], input=table if table is not None else b"", capture_output=True, check=False)
    if done.returncode:
        message = done.stderr.decode("utf-8", "replace").strip()
        message = message.removeprefix("dptrain: ") or f"dptrain ended with code {done.returncode} and no message"
        error = _ERRORS.get(done.returncode, DptrainError)
        if error is Abstained and "\nThe run stopped before it trained anything." in message:
            error = TargetUnreadable
        raise error(message, done.returncode)
    return done.stdout


def version():
    """The version of the program."""
    return run(["version"]).decode().split()[1]
