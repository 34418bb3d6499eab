"""Translates messages of the program, which name flags of the command line, to parameters of the estimators."""

import re

from ._flags import DICTS, LISTS, VALUES

# The flags of the commands that the estimators run, except those with a parameter of the same name, and what a message
# calls them. A test compares the list with the flags.
FLAGS = {
    "append": "append",
    "classes": "classes",
    "connect": "connect",
    "cost": "cost",
    "data": "X",
    "dataset": "dataset",
    "date": "dates",
    "decimal": 'format["decimal"]',
    "encoding": "data.format.encoding of the recipe",
    "engine": "engine",
    "epsilon": "epsilon",
    "escape": "data.format.escape of the recipe",
    "explain": "explain",
    "force": "force",
    "header": "the column names of X",
    "interval": "level",
    "json": "json",
    "ledger": "ledger",
    "multiline-quotes": "data.multiline_quotes of the recipe",
    "note": "note",
    "out": "out",
    "output": "output",
    "probability": "predict_proba",
    "progress": "progress",
    "quiet": "quiet",
    "quote": "data.format.quote of the recipe",
    "range": "ranges",
    "rows": "rows",
    "runs": "runs",
    "scratch": "the environment variable TMPDIR",
    "separator": "data.format.separator of the recipe",
    "set": "settings",
    "sheet": "data.format.sheet of the recipe",
    "skip": "data.format.skip of the recipe",
    "spreadsheet-safe": "spreadsheet_safe",
    "strict": "strict",
    "target": "target",
    "task": "the kind of estimator",
    "thousands": 'format["thousands"]',
    "threshold": "threshold",
    "transform": "target_transform",
    "verbose": "verbose",
}
FLAGS |= {name.replace("_", "-"): name for name in (*VALUES, *LISTS, *DICTS)}

# Phrases with a flag whose counterpart in Python is not a parameter of the same form.
_PHRASES = (
    (r"(?:add|set) (?:--task classification(?: \(task: classification\))?|task: classification \(--task classification\))", "use DPClassifier"),
    (r"(?:omit|remove) --task classification", "use DPRegressor"),
    (r"choose another --out, or overwrite it with --force", "choose another out, or remove it"),
    (r"(?:add|set) --(decimal|thousands) (\S)(?: \(data\.format\.\w+: \"\S\"\))?", r"""set format={"\1": "\2"}"""),
    (r"--(decimal|thousands) (\S)(?=[ ;:)]|$)", r"""format={"\1": "\2"}"""),
    (r"--date ([^=\s]+)=(\w+)", r"""dates={"\1": "\2"}"""),
    (r"--range ([^=\s]+)=(LOWER):(UPPER)", r"""ranges={"\1": (\2, \3)}"""),
    (r"--fold (case|blanks)(?: \(data\.fold: \w+\))?", r'fold="\1"'),
    (r"--set ([\w.]+)=(\w+)", r"""settings={"\1": \2}"""),
    (r"--set ([\w.\[\]\"]+)", r"""settings["\1"]"""),
    (r"(?<![\w.])([a-z_]+) \(--\1\)", r"\1"),
    (r"--relation ([a-z][a-z-]*)", r'relation="\1"'),
    (r"--encoding (\S+?)(?=[,;) ]|$)", r"encoding \1"),
    (r", with a key from docs/reference/recipe\.md", ", with a key of a recipe"),
)

# A flag, with the key of the recipe in parentheses behind it or before it.
_FLAG = r"--([a-z][a-z-]*[a-z]|[a-z])\b"
_WITH_KEY = re.compile(rf"{_FLAG} \((?:data|privacy|evaluate|ledger|selection|model|holdout)[\w.]*\)")
_AFTER_KEY = re.compile(rf"\b(?:data|privacy|evaluate|ledger|selection|model)\.[\w.]+ \({_FLAG}\)")
_ALONE = re.compile(rf"(?<![\w-]){_FLAG}")
_COMMAND = re.compile(r"""(`[^`]*`|"(?:[^"\\]|\\.)*")""")  # a command, or a quoted name


def in_parameters(message):
    """Return a message of the program with parameters in place of flags. Commands and quoted names stay as they are."""
    for pattern, text in _PHRASES:
        message = re.sub(pattern, text, message)
    return "".join(part if i % 2 else _translated(part) for i, part in enumerate(_COMMAND.split(message)))


def _translated(text):
    for pattern in (_WITH_KEY, _AFTER_KEY, _ALONE):
        text = pattern.sub(lambda m: _name(m[1], m[0]), text)
    return text


def _name(flag, found):
    """Return the parameter of a flag, or what was found if there is no such flag."""
    return FLAGS.get(flag, found)
