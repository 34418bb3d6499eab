"""Predictions of a model that dptrain trained. It needs the standard library only.

    import model
    model.predict({"age": 41, "city": "Basel"})    # a number, or the name of a class
    model.probabilities({"age": 41, ...})          # of the classes of a classifier, or None

    python3 model.py < table.csv                   # one prediction per line

A record is a mapping from the names in model.INPUTS to cells: numbers, texts, booleans, dates or None. Texts
are read as in the table of the training: "45 yrs" is 45. A number that is missing (None, NaN), infinite or no
number takes the model's missing value, every number is clamped to its range, and an unknown category counts as
other, as docs of the model file say.
"""

import base64
import csv
import json
import math
import numbers
import re
import struct
import sys
import unicodedata

MODEL = json.loads(r"""@MODEL@""")

_RULE = MODEL["reading"]
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")
_NAN = float("nan")
_ENDS = _RULE["blanks"] + _RULE["invisible"]
_PLAIN = {ord(c): " " for c in _RULE["blanks"] if ord(c) > 127}
_PLAIN.update({ord(c): None for c in _RULE["removed"]})


def _text(cell):
    """The text of a cell; what has no value is empty."""
    if isinstance(cell, str):
        return cell
    if cell is None or type(cell).__name__ in ("NaTType", "NAType"):
        return ""
    if isinstance(cell, bool) or type(cell).__name__ == "bool_":
        return "true" if cell else "false"
    if isinstance(cell, numbers.Integral):
        return str(int(cell))
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace")
    if hasattr(cell, "isoformat"):  # a date or a time by the clock on the wall
        return (cell.replace(tzinfo=None) if getattr(cell, "tzinfo", None) else cell).isoformat()
    try:
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        return ""
    return "" if number - number != 0 else _digits(number)


def _digits(number):
    """The text of a number: as an integer if it is one, else in the shortest form."""
    if number == int(number) and abs(number) < 1e16:
        return str(int(number))
    mantissa, _, exponent = repr(number).partition("e")
    if mantissa.endswith(".0"):
        mantissa = mantissa[:-2]
    return mantissa + ("e" + exponent if exponent else "")


def _trim(text):
    """A text without blanks around it. An end of a line within it is a blank."""
    return text.replace("\r\n", " ").replace("\n", " ").strip(_ENDS)


def _normal(text):
    """A text as it is compared: without blanks around it, and with é as one character."""
    text = _trim(text)
    if all(c < "\x80" for c in text):
        return text
    return unicodedata.normalize("NFC", text.translate(_PLAIN))


_SMALL = {c: c + 32 for r in ((65, 91), (0xC0, 0xDF), (0x391, 0x3AC), (0x410, 0x430)) for c in range(*r) if c not in (0xD7, 0x3A2)}
_SMALL.update({c: c + 80 for c in range(0x400, 0x410)})


def _value(column, text):
    """The value that a normal text is in a column: folded, cut or hashed as the model says."""
    if text in _RULE["words"]:
        return text
    fold = column.get("fold")
    if fold in ("blanks", "case"):
        text = " ".join(part for part in re.split("[ \t]+", text) if part)
    if fold == "case":
        text = text.translate(_SMALL)
    if column.get("prefix"):
        text = text[: column["prefix"]].strip(_ENDS)
    if column.get("hash"):
        h = 2166136261
        for byte in text.encode("utf-8", "replace"):
            h = (h ^ byte) * 16777619 & 0xFFFFFFFF
        text = "#%d" % (h % column["hash"])
    return text


_WHOLE = re.compile(r"(-?)(0|[1-9][0-9]*)(?:%s0+)?\Z" % re.escape(_RULE["decimal"]))


def _code(column, cell):
    """The place of a cell among the categories of a column, -1 for others."""
    text = _normal(_text(cell))
    value = _value(column, text)
    code = column["codes"].get(value)
    if code is not None:
        return code
    if text in _RULE["words"] or text in ("+Inf", "-Inf"):
        return column["codes"].get("", -1)
    whole = _WHOLE.match(value)
    if whole:
        value = "0" if whole.group(2) == "0" else whole.group(1) + whole.group(2)
    elif value.lower() in ("true", "false", "t", "f"):
        value = value.lower()
    else:
        return -1
    return (column["spellings"] or {}).get(value, -1)


def _number(cell):
    """The number of a cell of a numeric column, NaN if there is none."""
    if isinstance(cell, (str, bytes)):
        number = _read(_trim(_text(cell)))
    else:
        try:
            number = float(cell)
        except (TypeError, ValueError, OverflowError):
            return _NAN
    return _NAN if number - number != 0 or number in _RULE["missing"] else number


def _read(text):
    """The number that a text is, by the rule for numbers of the table; NaN if it is none."""
    if text in _RULE["words"]:
        return _NAN
    plain = text
    if _RULE["decimal"] == "," or _RULE["thousands"]:
        plain = _join(text, _RULE["thousands"])
    if plain is not None:
        if _NUMBER.match(plain):
            return float(plain)
        if plain.lower() in ("true", "false"):
            return float(plain.lower() == "true")
    if not _RULE["lenient"] or len(text.encode("utf-8", "replace")) > _RULE["max_lenient"]:
        return _NAN
    return _lenient(text)


def _join(text, thousands):
    """A number with a point and without marks between its groups; None if a mark is where none can be."""
    if thousands == " ":
        text = re.sub("[%s]" % _RULE["narrow"], " ", text)
    out, groups, digits, whole = [], 0, 0, True
    for c in text:
        closed = groups == 0 or digits == 3
        if c in "0123456789":
            digits += 1
        elif whole and c == _RULE["decimal"]:
            if not closed:
                return None
            whole, c = False, "."
        elif whole and c == thousands:
            if digits == 0 or digits > 3 or not closed:
                return None
            groups, digits, c = groups + 1, 0, ""
        elif c in ",. '":
            return None
        elif whole and digits > 0:
            if not closed:
                return None
            whole = False
        out.append(c)
    return "".join(out) if not whole or groups == 0 or digits == 3 else None


_PRESSURE = re.compile("([1-9][0-9]{1,2})/([1-9][0-9]{1,2})\\Z")


def _lenient(text):
    """The number of a text as people write it; NaN if there is none."""
    if text.lower() in ("t", "f"):
        return float(text.lower() == "t")
    if not re.search("[0-9]", text):
        return _NAN
    text = re.sub("([0-9])[%s]([0-9])" % _RULE["narrow"], r"\1'\2", text.replace("\u2212", "-"))
    text = re.sub("[%s]" % _RULE["narrow"], " ", text).strip(_ENDS)
    text = _without(text, _RULE["bounds"])
    sign, text = _sign(text)
    rest = _without(text, _RULE["currencies"])
    if rest != text and not sign:
        sign, rest = _sign(rest)
    text = rest
    at = max(text.rfind(c) for c in "0123456789.,") + 1
    unit = text[at:].strip(_ENDS)
    if unit and (unit in _RULE["currencies"] or unit.lower() in _RULE["units"]):
        text = text[:at].strip(_ENDS)
    pressure = _PRESSURE.match(text)
    if pressure and not sign and 50 <= int(pressure[1]) < 300 and 20 <= int(pressure[2]) < int(pressure[1]):
        text = pressure[1]  # a blood pressure is its first value
    if not text or text[0] not in "0123456789.,":
        return _NAN
    joined = _grouped(text)
    return float(sign + joined) if joined is not None and _NUMBER.match(sign + joined) else _NAN


def _without(text, starts):
    """A text without the first of some beginnings that it has."""
    for start in starts:
        if text.startswith(start):
            return text[len(start) :].strip(_ENDS)
    return text


def _sign(text):
    return (text[:1], text[1:]) if text[:1] in ("-", "+") else ("", text)


def _grouped(text):
    joined = _join(text, _RULE["thousands"])
    if joined is not None:
        return joined
    mark = _RULE["decimal"]
    other = "." if mark == "," else ","
    for thousands in ("'", other):
        if thousands not in text:
            continue
        if thousands == other and text.count(other) < 2 and mark not in text:
            return None  # 1,234 may be 1.234 where people write decimal commas
        return _join(text, thousands)
    return None


for _layout in _RULE["layouts"].values():
    _layout["patterns"] = [re.compile("(?:%s)\\Z" % p) for p in _layout["patterns"]]
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def _part(column, cell):
    """A part of the date in a cell, NaN if it is none."""
    if all(hasattr(cell, name) for name in ("year", "month", "day")):  # a date of Python or pandas
        found = {"y": cell.year, "m": cell.month, "d": cell.day, "f": "%06d" % getattr(cell, "microsecond", 0)}
        found.update(h=getattr(cell, "hour", 0), min=getattr(cell, "minute", 0), s=getattr(cell, "second", 0))
        return _NAN if cell.year != cell.year else _moment(column["part"], found)
    layout, text = _RULE["layouts"][column["layout"]], _trim(_text(cell))
    if text in _RULE["words"] or len(text.encode("utf-8", "replace")) > _RULE["max_date"]:
        return _NAN
    if layout["blanks"]:
        text = text.translate({**_PLAIN, **{ord(c): None for c in _RULE["invisible"]}, 9: " ", 0x2212: "-"})
    if layout["digits"]:
        text = re.sub(r"[.,]0+\Z", "", text)
    for pattern in layout["patterns"]:
        match = pattern.match(text)
        if match:
            return _moment(column["part"], match.groupdict())
    return _NAN


def _moment(part, found):
    """A part of a date whose elements are found."""
    number = lambda name: int(found.get(name) or 0)
    year, month, day, hour = number("y"), number("m"), number("d"), number("h")
    if found.get("yy"):
        year = number("yy") + (1900 if number("yy") >= 69 else 2000)
    if found.get("mon"):
        month = _MONTHS.index(found["mon"][:3].lower()) + 1
    half = (found.get("pm") or "").lower()
    hour += 12 if half == "pm" and hour < 12 else -12 if half == "am" and hour == 12 else 0
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= month <= 12 or not 1 <= day <= (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]:
        return _NAN
    y, m = (year - 1, month + 9) if month < 3 else (year, month - 3)
    days = 365 * y + y // 4 - y // 100 + y // 400 + (153 * m + 2) // 5 + day - 1 - 719468
    second = hour * 3600 + number("min") * 60 + number("s") + int(((found.get("f") or "") + "000000000")[:9]) / 1e9
    if part == "month":
        return float(month)
    if part == "weekday":
        return float((days + 3) % 7 + 1)  # 1970-01-01 was a Thursday
    return second / 3600 if part == "hour" else days + second / 86400


def _clamp(x, lower, upper):
    return min(max(x, lower), upper)


def _inverse(log, z):
    """The number whose logarithm, or square root, is z."""
    return math.exp(min(z, 709)) if log else _clamp(z, 0, 1e153) ** 2


class _Score:
    """One model with a number for its prediction."""

    def __init__(self, model, kind):
        self.kind, self.model = kind, model
        self.columns = {c["name"]: c for c in model["columns"]}
        for column in self.columns.values():
            if column["type"] == "numeric":
                column["missing"] = _clamp(column["missing"], column["lower"], column["upper"])
            if column["type"] != "numeric" or "values" in column:
                column["codes"] = {_normal(name): i for i, name in enumerate(column["categories"])}
        self.lower, self.upper = model["prediction"]["lower"], model["prediction"]["upper"]
        if kind == "kernel":
            self._read_kernel()

    def cells(self, record):
        """The treated cells by column: (number, missing) or the index of a category, -1 for others."""
        out = {}
        for name, column in self.columns.items():
            if "values" in column:  # numbers that stand for texts, the last one for every other
                out[name] = (column["values"][_code(column, record[name])], False)
            elif column["type"] == "numeric":
                x = _part(column, record[column["source"]]) if "source" in column and name not in record else _number(record[name])
                missing = x != x
                out[name] = (column["missing"] if missing else _clamp(x, column["lower"], column["upper"]), missing)
            else:
                out[name] = _code(column, record[name])
        return out

    def terms(self, cells, terms, coefficients=None):
        total = 0.0
        for i, term in enumerate(terms):
            coefficient = term["coefficient"] if coefficients is None else coefficients[i]
            cell, column = cells[term["column"]], self.columns[term["column"]]
            if column["type"] == "numeric":
                if term.get("missing"):
                    total += coefficient if cell[1] else 0
                else:
                    total += coefficient * cell[0]
            elif term.get("other"):
                total += coefficient if cell < 0 else 0
            elif cell >= 0 and column["categories"][cell] == term["category"]:
                total += coefficient
        return total

    def of(self, record):
        cells, model = self.cells(record), self.model
        total = model["intercept"]["coefficient"] + self.terms(cells, model.get("terms", []))
        total = _clamp(getattr(self, "_" + self.kind.replace("-", "_"))(cells, total), self.lower, self.upper)
        back = model.get("target_transform")
        if back is None:
            return total
        log, variance = back["transform"] == "log", back["variance"]
        total = _clamp(back["intercept"] + back["slope"] * total, self.lower, self.upper)
        mean = _inverse(log, total + variance / 2) if log else _inverse(log, total) + variance
        return _clamp(mean, back["lower"], back["upper"])

    def _linear(self, cells, total):
        return total

    def _clipped_linear(self, cells, total):
        clip = self.model["clip"]
        norm = clip["constant"] ** 2
        flagged = {t["column"] for t in self.model["terms"] if t.get("missing")}
        for name, column in self.columns.items():
            cell = cells[name]
            if column["type"] == "numeric":
                middle, half = column["lower"] / 2 + column["upper"] / 2, column["upper"] / 2 - column["lower"] / 2
                norm += _clamp((cell[0] - middle) / half, -1, 1) ** 2
                norm += 0.2 if cell[1] and name in flagged else 0
            elif cell >= 0 or column["other"]:
                norm += 1
        if norm <= clip["norm"] ** 2:
            return total
        center = clip.get("center", self.lower / 2 + self.upper / 2)
        return center + clip["norm"] / math.sqrt(norm) * (total - center)

    def _additive(self, cells, total):
        model = self.model
        for shape in model["shapes"]:
            total += _step(shape, cells[shape["column"]][0])
        score = model["score"]
        if score is not None:
            total += _step(score, score["intercept"] + self.terms(cells, model["terms"], score["coefficients"]))
        return total

    def _votes(self, cells, total):
        for member in self.model["members"]:
            score = member["intercept"] + self.terms(cells, member["terms"])
            total += member["weight"] if score >= 0 else -member["weight"]
        return total

    def _tree(self, cells, total):
        nodes = self.model["nodes"]
        node = nodes[0]
        while True:
            score = node["intercept"] + self.terms(cells, node["terms"])
            split = node["split"]
            if split is None:
                return total + score
            node = nodes[split["low"] if score <= split["threshold"] else split["high"]]

    def _prototypes(self, cells, total):
        scores = {False: [], True: []}
        for p in self.model["prototypes"]:
            score = p["intercept"] + self.terms(cells, p["terms"])
            scores[p.get("against", False)].append(_clamp(score, self.lower, self.upper))
        return total + _log_sum(scores[False]) - _log_sum(scores[True])

    def _kernel(self, cells, total):
        total = self._additive(cells, total)
        bins = []
        for of, column, table in self.inputs:
            cell = cells[column["name"]]
            if of == "categories":
                bins.append(table[cell])  # the last for -1, others
            elif of == "missing":
                bins.append(int(cell[1]))
            else:
                middle, half = column["lower"] / 2 + column["upper"] / 2, column["upper"] / 2 - column["lower"] / 2
                x = (cell[0] - middle) * (16384 / half) if half > 0 else 0.0
                bins.append(min((int(_clamp(x, -16384, 16384)) + 16384) // 128, 255))
        for kernel in self.kernels:
            total += kernel.of(bins)
        return total

    def _read_kernel(self):
        model = self.model
        self.inputs = [(i["of"], self.columns[i["column"]], base64.b64decode(i["bins"])) for i in model["inputs"]]
        landmarks = [base64.b64decode(text) for text in model["landmarks"]]
        self.kernels = [_Kernel(k, landmarks) for k in model["kernels"]]


class _Kernel:
    """A feature map with coefficients, in whole numbers but for its last step."""

    def __init__(self, kernel, landmarks):
        self.coordinates = [(c["input"], _numbers(c["values"])) for c in kernel["coordinates"]]
        self.metric = [_numbers(row) for row in kernel["metric"]]
        self.weights = [_numbers(row) for row in kernel["weights"]]
        self.scales = [2.0**-shift for shift in kernel["shifts"]]
        self.coefficients = kernel["coefficients"]
        self.dims = len(self.metric[0]) if self.metric else 0
        self.reach = math.floor(32767 / math.sqrt(max(self.dims, 1)))
        self.points = [self.point(mark) for mark in landmarks]

    def point(self, bins):
        sums = [0] * self.dims
        for (place, values), row in zip(self.coordinates, self.metric):
            value = values[bins[place]] if bins[place] < len(values) else 0
            if value:
                sums = [s + value * m for s, m in zip(sums, row)]
        return [_clamp(_int32(s) >> 13, -self.reach, self.reach) for s in sums]

    def of(self, bins):
        here = self.point(bins)
        near = []
        for there in self.points:
            d = sum((a - b) * (a - b) for a, b in zip(here, there)) & 0xFFFFFFFF
            f = d & 0xFFFF
            p = 0xFFFF - (f * (45340 - (f * (15200 - (f * 2632 >> 16)) >> 16)) >> 16)
            near.append(p >> (d >> 16) >> 2)
        q = [_int32(sum(w * k for w, k in zip(row, near))) * scale for row, scale in zip(self.weights, self.scales)]
        by = 16384 * (1 - 2.0**-30) / max(math.sqrt(sum(x * x for x in q)), 0.1)
        return sum(int(x * by) * c for x, c in zip(q, self.coefficients)) / 16384


def _int32(x):
    return (x + 0x80000000 & 0xFFFFFFFF) - 0x80000000


def _numbers(text):
    data = base64.b64decode(text)
    return struct.unpack("<%dh" % (len(data) // 2), data)


def _step(curve, x):
    """The value of a step curve: number i, with i edges at most x."""
    edges, low, high = curve["edges"], 0, len(curve["edges"])
    while low < high:
        middle = (low + high) // 2
        if edges[middle] <= x:
            low = middle + 1
        else:
            high = middle
    return curve["values"][low]


def _log_sum(scores):
    """The logarithm of the sum of e^score, 0 of none."""
    if not scores:
        return 0.0
    largest = max(scores)
    return largest + math.log(sum(math.exp(s - largest) for s in scores))


def _scores():
    if MODEL["kind"] != "classifier":
        return [_Score(MODEL, MODEL["kind"])]
    return [_Score(s, s["kind"]) for s in MODEL["scores"]]


_SCORES = _scores()

TARGET = MODEL["target"]
CLASSES = MODEL.get("classes")  # None: the target is a number
INPUTS = list(dict.fromkeys(c.get("source", name) for score in _SCORES for name, c in score.columns.items()))


def scores(record):
    """The scores of a record: of two classes one, of more one per class, else the prediction."""
    return [score.of(record) for score in _SCORES]


def predict(record):
    """The prediction for a record: a number, or the name of a class. KeyError: it lacks an input."""
    s = scores(record)
    if CLASSES is None:
        return s[0]
    if len(s) == 1:
        return CLASSES[1] if s[0] > MODEL["cutoff"] else CLASSES[0]
    return CLASSES[s.index(max(s))]


def probabilities(record):
    """The probabilities of the classes by name, or None if the model has none."""
    if CLASSES is None:
        return None
    s, line = scores(record), MODEL.get("probability")
    if line is not None:
        second = _second(line, s[0])
        return {CLASSES[0]: 1 - second, CLASSES[1]: second}
    if len(CLASSES) < 3 or any(score.kind != "prototypes" for score in _SCORES):
        return None
    total = _log_sum(s)
    return {name: math.exp(x - total) for name, x in zip(CLASSES, s)}


def _second(curve, score):
    """The probability of the second of two classes: that of lines between points, or without points of a logistic curve."""
    points, values = curve.get("scores"), curve.get("values")
    if not points:
        x = curve["intercept"] + curve["slope"] * score
        return 1 / (1 + math.exp(-x)) if x > -700 else 0.0
    out = values[0]
    for k in range(1, len(points)):
        out += (values[k] - values[k - 1]) * _clamp((score - points[k - 1]) / (points[k] - points[k - 1]), 0.0, 1.0)
    return out


def main():
    sys.stdin.reconfigure(encoding="utf-8-sig")
    for record in csv.DictReader(sys.stdin):
        print(predict(record))


if __name__ == "__main__":
    main()
