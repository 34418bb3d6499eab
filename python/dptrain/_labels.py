"""Labels as cells of the target, and the names of classes as labels again.

The program knows classes by the text of their cells. It removes blanks around a text, takes words such as NA for a missing
cell, and does not know whether 1 was a number. So every label is written as a text from which it can be read again:

* whole numbers as digits, other numbers as Python writes them, True and False as true and false;
* a text as it is where that is unmistakable, and else as a JSON string, with its quotation marks;
* bytes as b and a JSON string, and any other object as its type and its text: date(2024-01-31);
* where classes are found, which the program does for names of up to 64 bytes alone: a longer text as its type, its
  beginning and its digest: str(a long name…0123456789abcdef).

The text of a label depends on that label and on the declared dtype of y alone. What labels the classes of a model are
therefore follows from what the program released: whether another record has a label cannot be seen in them.
"""

import hashlib
import json
import math
import re
import unicodedata

import numpy as np

# What the program takes for a missing cell (docs/guide/tables.md). A class of that name is written with quotation marks.
MISSING_WORDS = {"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"}

# The longest name of a class, in bytes, that the program finds (docs/proofs/vocabulary.md, "A cell and its word").
_LONGEST = 64

_WHOLE = re.compile(r"0|-?[1-9][0-9]*")
_OBJECT = re.compile(r"\w+\(.*\)", re.DOTALL)


def is_missing(label):
    """Whether a label is missing: None, NaN, an infinity, or a missing value of pandas or NumPy."""
    if label is None:
        return True
    if isinstance(label, (float, np.floating)):
        return not math.isfinite(label)
    if isinstance(label, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(label))
    return type(label).__name__ in ("NAType", "NaTType")


class Labels:
    """The labels of a fit: how they are written, and what the classes of the model are.

    textual says that all labels are texts by their declared dtype; 1 is then the text of a class and no number. found says
    that the classes are found, and not declared.
    """

    def __init__(self, textual, found=False):
        self.textual, self.found = textual, found
        self._objects = {}

    def write(self, label):
        """The text of a label."""
        name = self._written(label)
        if not self.found or len(name.encode("utf-8", "replace")) <= _LONGEST:
            return name
        kind = type(label).__name__ if not isinstance(label, str) else "str"
        begin = json.dumps(str(label))[1:25].rstrip("\\")
        name = f"{kind[:12]}({begin}…{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:16]})"
        self._objects[name] = label
        return name

    def _written(self, label):
        if is_missing(label):
            return ""
        if isinstance(label, str):
            label = str(label)
            return label if self._is_plain(label) else json.dumps(label)
        if isinstance(label, (bool, np.bool_)):
            return "true" if label else "false"
        if isinstance(label, (int, np.integer)):
            return str(int(label))
        if isinstance(label, (float, np.floating)):
            x = float(label)
            return str(int(x)) if x.is_integer() and abs(x) <= 2**53 else repr(x)
        if isinstance(label, bytes):
            return "b" + json.dumps(label.decode("latin-1"))
        text = json.dumps(str(label))[1:-1]
        name = f"{type(label).__name__}({text})"
        self._objects[name] = label
        return name

    def read(self, name):
        """Return the label with this text."""
        if name in self._objects:
            return self._objects[name]
        try:
            if name.startswith('"'):
                return json.loads(name)
            if name.startswith('b"'):
                return json.loads(name[1:]).encode("latin-1")
        except ValueError:
            return name
        return name if self.textual else _value(name)

    def forget(self, names):
        """Forget all objects except the classes, because the others are private."""
        self._objects = {name: label for name, label in self._objects.items() if name in names}

    def _is_plain(self, text):
        if text != text.strip() or not text.isprintable() or text in MISSING_WORDS or text.startswith(('"', 'b"')):
            return False
        if unicodedata.normalize("NFC", text) != text or _OBJECT.fullmatch(text):
            return False
        if self.textual and (_WHOLE.fullmatch(text) or text in ("true", "false")):
            return True
        return text.lower() not in ("true", "false") and not _is_number(text)


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def _value(name):
    """Return the number or boolean that a name represents, or the name itself."""
    if name in ("true", "false"):
        return name == "true"
    if _WHOLE.fullmatch(name):
        return int(name)
    return float(name) if _is_number(name) else name


def declared_kind(y):
    """Return the kind of labels from the dtype of y: "text", "number", "truth", or None if it does not determine one.

    NumPy, and pandas in object columns, have another dtype where a label is missing: only dtypes that hold missing
    labels as well say "text".
    """
    dtype = getattr(y, "dtype", None)
    if dtype is None and hasattr(y, "dtypes") and getattr(y, "ndim", 0) == 2 and y.shape[1] == 1:
        dtype = y.dtypes.iloc[0] if hasattr(y.dtypes, "iloc") else y.dtypes[0]
    if hasattr(dtype, "categories") and hasattr(dtype.categories, "dtype"):
        dtype = dtype.categories.dtype
    if hasattr(dtype, "is_numeric"):  # polars
        if dtype.is_numeric():
            return "number"
        return {"Boolean": "truth", "String": "text", "Utf8": "text", "Categorical": "text", "Enum": "text"}.get(type(dtype).__name__, _polars_name(dtype))
    if str(dtype).startswith(("string", "str")):
        return "text"
    return {"i": "number", "u": "number", "f": "number", "b": "truth"}.get(getattr(dtype, "kind", None))


def _polars_name(dtype):
    name = str(dtype)
    return "text" if name.startswith(("String", "Utf8", "Categorical", "Enum")) else "truth" if name == "Boolean" else None


def kind_of(labels):
    """Return the kind of declared classes: "text", "number", "truth", or None for mixed or other kinds."""
    kinds = set()
    for label in labels:
        if isinstance(label, str):
            kinds.add("text")
        elif isinstance(label, (bool, np.bool_)):
            kinds.add("truth")
        elif isinstance(label, (int, float, np.integer, np.floating)):
            kinds.add("number")
        else:
            kinds.add(None)
    return kinds.pop() if len(kinds) == 1 else None


def as_array(labels):
    """Convert labels to an array of numbers, booleans or objects."""
    kind = kind_of(labels)
    if kind in ("number", "truth"):
        return np.array(labels)
    out = np.empty(len(labels), dtype=object)
    out[:] = labels
    return out
