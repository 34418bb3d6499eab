"""Finds and runs the program dptrain, and converts its errors to exceptions."""

import io
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

from ._messages import in_parameters


class DptrainError(RuntimeError):
    """The program failed. ``code`` is its exit code; the message is that of the program."""

    def __init__(self, message, code=1):
        super().__init__(message)
        self.code = code

    def __reduce__(self):
        return type(self), (str(self), self.code)


class InvalidInput(DptrainError, ValueError):
    """A parameter, recipe, header or file is invalid (exit codes 2, 3 and 4)."""


class NoProbabilities(InvalidInput, AttributeError):
    """The classifier has no probabilities. It is an AttributeError, so hasattr(classifier, "predict_proba") is False."""


class BudgetRefused(DptrainError, ValueError):
    """No plan fits the budget, or the total of the ledger would be exceeded (exit code 5)."""


class LedgerRefused(DptrainError):
    """The ledger is in use, damaged, or does not contain the data set (exit code 6)."""


class Abstained(DptrainError):
    """The mechanism returned no model, as its guarantee allows; the budget was spent (exit code 7).

    ``report`` is the content of report.json, which states every release of the run.
    """

    def __init__(self, message, code=7, report=None):
        super().__init__(message, code)
        self.report = report

    def __reduce__(self):
        return type(self), (str(self), self.code, self.report)


class TargetUnreadable(Abstained):
    """Hardly any record has a usable target, so the run stopped before training; little was spent (exit code 7)."""


class TooFewClasses(Abstained, ValueError):
    """The run found one class of the target or none, so there is no model (exit code 7)."""


_ERRORS = {2: InvalidInput, 3: InvalidInput, 4: InvalidInput, 5: BudgetRefused, 6: LedgerRefused, 7: Abstained}


def program():
    """Return the path of the program: from the environment variable DPTRAIN, the wheel, or PATH."""
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
        "the program dptrain was not found: install the wheel for your platform, or set the environment variable DPTRAIN to its path"
    )


def run(arguments, table=None, progress=None):
    """Run the program with a table (CSV bytes) on standard input and return its output. Raises DptrainError.

    progress is called with (step, steps, name) at the start of each stage that the program reports on standard error.
    """
    if progress is None:
        done = subprocess.run([program(), *arguments], input=table if table is not None else b"", capture_output=True, check=False)
        code, out, messages = done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")
    else:
        code, out, messages = _watch([program(), *arguments], table or b"", progress)
    _raise_for(code, messages)
    return out


def exchange(arguments, blocks, receive):
    """Run the program with blocks of bytes on standard input while receive reads its output.

    Raises DptrainError, also if the output ends before receive expects that, for which it raises EOFError.
    """
    process = subprocess.Popen([program(), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    messages, early = [], None

    def feed():
        try:
            with process.stdin as pipe:
                for block in blocks:
                    pipe.write(block)
        except OSError:
            pass  # the program has exited; its error is raised below

    threads = [threading.Thread(target=feed), threading.Thread(target=lambda: messages.append(process.stderr.read()))]
    for thread in threads:
        thread.start()
    try:
        receive(process.stdout)
    except EOFError as error:
        early = error
    except BaseException:
        process.kill()
        raise
    finally:
        process.stdout.close()
        code = process.wait()
        for thread in threads:
            thread.join()
        process.stderr.close()
    _raise_for(code, messages[0].decode("utf-8", "replace"))
    if early is not None:
        raise DptrainError(str(early))


def _raise_for(code, messages):
    """Raise the error of an exit code other than 0."""
    if not code:
        return
    message = in_parameters(messages.strip().removeprefix("dptrain: ")) or f"dptrain exited with code {code} and no message"
    error = _ERRORS.get(code, DptrainError)
    if error is Abstained and "\nThe run stopped before training." in message:
        error = TargetUnreadable
    elif error is Abstained and message.startswith("only one class of the target "):
        error = TooFewClasses
    raise error(message, code)


_STAGE = re.compile(r"dptrain: (\d+) of (\d+): (.*)")


def _watch(command, table, progress):
    """Run a command and report its stages. Returns the exit code, the output, and all other messages."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out = []

    def feed():
        try:
            with process.stdin as pipe:
                pipe.write(table)
        except OSError:
            pass  # the program has exited; its error is reported below

    threads = [threading.Thread(target=feed), threading.Thread(target=lambda: out.append(process.stdout.read()))]
    for thread in threads:
        thread.start()
    messages = []
    try:
        for line in io.TextIOWrapper(process.stderr, encoding="utf-8", errors="replace"):
            stage = _STAGE.match(line)
            if stage:
                progress(int(stage[1]), int(stage[2]), stage[3].rstrip())
            else:
                messages.append(line)
    except BaseException:
        process.kill()
        raise
    finally:
        code = process.wait()
        for thread in threads:
            thread.join()
        process.stdout.close()
    return code, out[0], "".join(messages)


def version():
    """Return the version of the program."""
    return run(["version"]).decode().split()[1]
