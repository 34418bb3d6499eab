// Predictions of a model that dptrain trained. It needs nothing else, in Node, Deno or a browser.
//
//     import { predict, probabilities } from "./model.mjs";
//     predict({ age: 41, city: "Basel" });      // a number, or the name of a class
//     probabilities({ age: 41, city: "Basel" }) // of the classes by name, or null
//
// A record is an object with the names in INPUTS: numbers, texts, booleans, dates (read in UTC) or null. Texts are
// read as in the table of the training: "45 yrs" is 45. A number that is missing (null, undefined, NaN), infinite or
// no number takes the model's missing value, every number is clamped to its range, and an unknown category counts as
// other.

const MODEL = @MODEL@;

const RULE = MODEL.reading;

const NUMBER = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;

const MISSING = new Set(RULE.words);

const length = (text) => new TextEncoder().encode(text).length;

/** A text without blanks around it. An end of a line within it is a blank. */
const ENDS = new Set(RULE.blanks + RULE.invisible);
function trim(text) {
  text = text.replace(/\r?\n/g, " ");
  let from = 0;
  let to = text.length;
  while (from < to && ENDS.has(text[from])) from++;
  while (from < to && ENDS.has(text[to - 1])) to--;
  return text.slice(from, to);
}

/** A text as it is compared: without blanks around it, and with é as one character. */
function normal(text) {
  text = trim(text);
  // eslint-disable-next-line no-control-regex
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  return plain(text, RULE.removed).normalize("NFC");
}

/** A text with plain blanks, and without some characters. */
const plain = (text, without) => Array.from(text, (c) => (without.includes(c) ? "" : c > "~" && RULE.blanks.includes(c) ? " " : c)).join("");

/** The text of a number: as an integer if it is one, else in the shortest form. */
function digits(x) {
  const size = Math.abs(x);
  if (size === 0) return "0";
  if (size >= 1e-4 && size < 1e16) return String(x);
  return x.toExponential().replace(/e([+-])([0-9])$/, (_, sign, digit) => "e" + sign + "0" + digit);
}

/** The text of a cell; what has no value is empty. */
function textOf(cell) {
  switch (typeof cell) {
    case "string":
      return cell;
    case "boolean":
    case "bigint":
      return String(cell);
    case "number":
      return Number.isFinite(cell) ? digits(cell) : "";
  }
  return cell instanceof Date && Number.isFinite(cell.getTime()) ? cell.toISOString() : "";
}

/** The small letter of a capital one. */
function small(letter) {
  const c = letter.codePointAt(0);
  const within = (low, high) => c >= low && c <= high;
  if (within(65, 90) || (within(0xc0, 0xde) && c !== 0xd7) || (within(0x391, 0x3ab) && c !== 0x3a2) || within(0x410, 0x42f)) {
    return String.fromCodePoint(c + 32);
  }
  return within(0x400, 0x40f) ? String.fromCodePoint(c + 80) : letter;
}

/** The value that a normal text is in a column: folded, cut or hashed as the model says. */
function valueOf(column, text) {
  if (MISSING.has(text)) return text;
  if (column.fold === "blanks" || column.fold === "case") text = text.split(/[ \t]+/).filter(Boolean).join(" ");
  if (column.fold === "case") text = Array.from(text, small).join("");
  if (column.prefix) text = trim(Array.from(text).slice(0, column.prefix).join(""));
  if (column.hash) {
    let h = 2166136261;
    for (const byte of new TextEncoder().encode(text)) h = Math.imul(h ^ byte, 16777619) >>> 0;
    text = "#" + (h % column.hash);
  }
  return text;
}

const WHOLE = RULE.decimal === "," ? /^(-?)(0|[1-9][0-9]*)(?:,0+)?$/ : /^(-?)(0|[1-9][0-9]*)(?:\.0+)?$/;

/** The place of a cell among the categories of a column, -1 for others. */
function codeOf(column, cell) {
  const text = normal(textOf(cell));
  const value = valueOf(column, text);
  const code = column.codes.get(value);
  if (code !== undefined) return code;
  if (MISSING.has(text) || text === "+Inf" || text === "-Inf") return column.codes.get("") ?? -1;
  const whole = WHOLE.exec(value);
  const lower = value.toLowerCase();
  let key = "";
  if (whole) key = whole[2] === "0" ? "0" : whole[1] + whole[2];
  else if (["true", "false", "t", "f"].includes(lower)) key = lower;
  const spellings = column.spellings ?? {};
  return key && Object.hasOwn(spellings, key) ? spellings[key] : -1;
}

/** The number of a cell of a numeric column, NaN if there is none. */
function numberOf(cell) {
  let x = NaN;
  if (typeof cell === "string") x = read(trim(cell));
  else if (typeof cell === "number" || typeof cell === "boolean" || typeof cell === "bigint") x = Number(cell);
  return Number.isFinite(x) && !RULE.missing.includes(x) ? x : NaN;
}

/** The number that a text is, by the rule for numbers of the table; NaN if it is none. */
function read(text) {
  if (MISSING.has(text)) return NaN;
  const joined = RULE.decimal === "," || RULE.thousands ? join(text, RULE.thousands) : text;
  if (joined !== null) {
    if (NUMBER.test(joined)) return Number(joined);
    const lower = joined.toLowerCase();
    if (lower === "true" || lower === "false") return lower === "true" ? 1 : 0;
  }
  return RULE.lenient && length(text) <= RULE.max_lenient ? lenient(text) : NaN;
}

const NARROW = new RegExp("[" + RULE.narrow + "]", "g");
const PARTED = new RegExp("([0-9])[" + RULE.narrow + "]([0-9])", "g");

/** A number with a point and without marks between its groups; null if a mark is where none can be. */
function join(text, thousands) {
  if (thousands === " ") text = text.replace(NARROW, " ");
  let out = "";
  let groups = 0;
  let count = 0; // of digits
  let whole = true;
  const closed = () => groups === 0 || count === 3;
  for (const c of text) {
    if (c >= "0" && c <= "9") {
      count++;
      out += c;
    } else if (whole && c === RULE.decimal) {
      if (!closed()) return null;
      whole = false;
      out += ".";
    } else if (whole && c === thousands) {
      if (count === 0 || count > 3 || !closed()) return null;
      groups++;
      count = 0;
    } else if (",. '".includes(c)) {
      return null;
    } else {
      if (whole && count > 0) {
        if (!closed()) return null;
        whole = false;
      }
      out += c;
    }
  }
  return !whole || closed() ? out : null;
}

/** The number of a text as people write it; NaN if there is none. */
function lenient(text) {
  const lower = text.toLowerCase();
  if (lower === "t" || lower === "f") return lower === "t" ? 1 : 0;
  if (!/[0-9]/.test(text)) return NaN;
  text = trim(text.replaceAll("\u2212", "-").replace(PARTED, "$1'$2").replace(NARROW, " "));
  text = without(text, RULE.bounds);
  let sign = "";
  const cutSign = () => {
    if (/^[+-]/.test(text)) [sign, text] = [text[0], text.slice(1)];
  };
  cutSign();
  const rest = without(text, RULE.currencies);
  if (rest !== text) {
    text = rest;
    if (!sign) cutSign();
  }
  const at = Math.max(...Array.from("0123456789.,", (c) => text.lastIndexOf(c))) + 1;
  const unit = trim(text.slice(at));
  if (unit && (RULE.currencies.includes(unit) || RULE.units.includes(unit.toLowerCase()))) text = trim(text.slice(0, at));
  const pressure = /^([1-9][0-9]{1,2})\/([1-9][0-9]{1,2})$/.exec(text);
  if (pressure && !sign) {
    const [high, low] = [Number(pressure[1]), Number(pressure[2])];
    if (high >= 50 && high < 300 && low >= 20 && low < high) text = pressure[1]; // a blood pressure is its first value
  }
  if (!/^[0-9.,]/.test(text)) return NaN;
  const joined = grouped(text);
  return joined !== null && NUMBER.test(sign + joined) ? Number(sign + joined) : NaN;
}

/** A text without the first of some beginnings that it has. */
function without(text, starts) {
  const start = starts.find((s) => text.startsWith(s));
  return start === undefined ? text : trim(text.slice(start.length));
}

function grouped(text) {
  const joined = join(text, RULE.thousands);
  if (joined !== null) return joined;
  const other = RULE.decimal === "," ? "." : ",";
  for (const mark of ["'", other]) {
    if (!text.includes(mark)) continue;
    if (mark === other && text.split(other).length < 3 && !text.includes(RULE.decimal)) {
      return null; // 1,234 may be 1.234 where people write decimal commas
    }
    return join(text, mark);
  }
  return null;
}

const LAYOUTS = new Map(
  Object.entries(RULE.layouts).map(([name, layout]) => [name, { ...layout, patterns: layout.patterns.map((p) => new RegExp("^(?:" + p.replaceAll("(?P<", "(?<") + ")$")) }]),
);
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** A part of the date in a cell, NaN if it is none. */
function partOf(column, cell) {
  if (cell instanceof Date) {
    const seconds = cell.getTime() / 1000;
    return moment(column.part, Math.floor(seconds / 86400), seconds - 86400 * Math.floor(seconds / 86400), cell.getUTCMonth() + 1);
  }
  const layout = LAYOUTS.get(column.layout);
  let text = trim(textOf(cell));
  if (MISSING.has(text) || length(text) > RULE.max_date) return NaN;
  if (layout.blanks) text = plain(text, RULE.invisible).replaceAll("\t", " ").replaceAll("\u2212", "-");
  if (layout.digits) text = text.replace(/[.,]0+$/, "");
  for (const pattern of layout.patterns) {
    const match = pattern.exec(text);
    if (match) return dated(column.part, match.groups);
  }
  return NaN;
}

/** A part of a date whose elements are found. */
function dated(part, found) {
  const number = (name) => Number(found[name] ?? 0);
  let year = number("y");
  if (found.yy) year = number("yy") + (number("yy") >= 69 ? 1900 : 2000);
  const month = found.mon ? MONTHS.indexOf(found.mon.slice(0, 3).toLowerCase()) + 1 : number("m");
  const half = (found.pm ?? "").toLowerCase();
  let hour = number("h");
  if (half === "pm" && hour < 12) hour += 12;
  if (half === "am" && hour === 12) hour = 0;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const day = number("d");
  if (month < 1 || month > 12 || day < 1 || day > [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]) return NaN;
  const [y, m] = month < 3 ? [year - 1, month + 9] : [year, month - 3];
  const days = 365 * y + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400) + Math.floor((153 * m + 2) / 5) + day - 1 - 719468;
  const second = hour * 3600 + number("min") * 60 + number("s") + Number(((found.f ?? "") + "000000000").slice(0, 9)) / 1e9;
  return moment(part, days, second, month);
}

function moment(part, days, second, month) {
  switch (part) {
    case "month":
      return month;
    case "weekday":
      return ((((days + 3) % 7) + 7) % 7) + 1; // 1970-01-01 was a Thursday
    case "hour":
      return second / 3600;
  }
  return days + second / 86400;
}

const clamp = (x, lower, upper) => Math.min(Math.max(x, lower), upper);

/** The number whose logarithm, or square root, is z. */
const inverse = (log, z) => (log ? Math.exp(Math.min(z, 709)) : clamp(z, 0, 1e153) ** 2);

/** Bytes of a base64 text. */
function bytes(text) {
  const raw = atob(text);
  return Uint8Array.from(raw, (c) => c.charCodeAt(0));
}

/** Signed numbers of two bytes, the lower first. */
function numbers(text) {
  const b = bytes(text);
  return Int16Array.from({ length: b.length / 2 }, (_, i) => b[2 * i] | (b[2 * i + 1] << 8));
}

/** The value of a step curve: number i, with i edges at most x. */
function step(curve, x) {
  let low = 0;
  let high = curve.edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (curve.edges[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return curve.values[low];
}

/** The logarithm of the sum of e^score, 0 of none. */
function logSum(scores) {
  if (scores.length === 0) return 0;
  const largest = Math.max(...scores);
  return largest + Math.log(scores.reduce((sum, s) => sum + Math.exp(s - largest), 0));
}

/** A feature map with coefficients, in whole numbers but for its last step. */
class Kernel {
  constructor(kernel, landmarks) {
    this.coordinates = kernel.coordinates.map((c) => ({ input: c.input, values: numbers(c.values) }));
    this.metric = kernel.metric.map(numbers);
    this.weights = kernel.weights.map(numbers);
    this.scales = kernel.shifts.map((shift) => 2 ** -shift);
    this.coefficients = kernel.coefficients;
    this.dims = this.metric.length > 0 ? this.metric[0].length : 0;
    this.reach = Math.floor(32767 / Math.sqrt(Math.max(this.dims, 1)));
    this.points = landmarks.map((mark) => this.point(mark));
  }

  point(bins) {
    const sums = new Int32Array(this.dims); // wraps around, as it must
    this.coordinates.forEach(({ input, values }, k) => {
      const value = bins[input] < values.length ? values[bins[input]] : 0;
      if (value === 0) return;
      const row = this.metric[k];
      for (let j = 0; j < sums.length; j++) sums[j] += value * row[j];
    });
    return sums.map((s) => clamp(s >> 13, -this.reach, this.reach));
  }

  of(bins) {
    const here = this.point(bins);
    const near = this.points.map((there) => {
      let d = 0;
      for (let j = 0; j < here.length; j++) {
        const x = here[j] - there[j];
        d = (d + Math.imul(x, x)) >>> 0;
      }
      const f = d & 0xffff;
      const cut = (x) => Math.floor(x / 65536);
      const p = 0xffff - cut(f * (45340 - cut(f * (15200 - cut(f * 2632)))));
      const places = d >>> 16;
      return places > 31 ? 0 : (p >>> places) >>> 2;
    });
    let square = 0;
    const q = this.weights.map((row, i) => {
      let sum = 0;
      for (let k = 0; k < near.length; k++) sum = (sum + row[k] * near[k]) | 0;
      const x = sum * this.scales[i];
      square += x * x;
      return x;
    });
    const by = (16384 * (1 - 2 ** -30)) / Math.max(Math.sqrt(square), 0.1);
    return q.reduce((sum, x, i) => sum + Math.trunc(x * by) * this.coefficients[i], 0) / 16384;
  }
}

/** One model with a number for its prediction. */
class Score {
  constructor(model) {
    this.model = model;
    this.lower = model.prediction.lower;
    this.upper = model.prediction.upper;
    this.columns = new Map(model.columns.map((c) => [c.name, { ...c }]));
    for (const column of this.columns.values()) {
      if (column.type === "numeric") {
        column.missing = clamp(column.missing, column.lower, column.upper);
        column.middle = column.lower / 2 + column.upper / 2;
        column.half = column.upper / 2 - column.lower / 2;
      }
      if (column.categories) {
        column.codes = new Map(column.categories.map((name, i) => [normal(name), i]));
      }
    }
    if (model.kind === "kernel") {
      this.inputs = model.inputs.map((i) => ({ of: i.of, column: i.column, table: bytes(i.bins) }));
      const landmarks = model.landmarks.map(bytes);
      this.kernels = model.kernels.map((k) => new Kernel(k, landmarks));
    }
  }

  /** The treated cells by column: {number, missing}, or {code} with -1 for others. */
  cells(record) {
    const out = new Map();
    for (const [name, column] of this.columns) {
      const dated = column.source !== undefined && !Object.hasOwn(record, name);
      const given = dated ? column.source : name;
      if (!Object.hasOwn(record, given)) throw new Error(`the record has no cell for ${JSON.stringify(given)}`);
      if (column.values) {
        // numbers that stand for texts, the last one for every other
        const code = codeOf(column, record[name]);
        out.set(name, { number: column.values[code < 0 ? column.categories.length : code], missing: false });
      } else if (column.type === "numeric") {
        const x = dated ? partOf(column, record[given]) : numberOf(record[name]);
        const missing = Number.isNaN(x);
        out.set(name, { number: missing ? column.missing : clamp(x, column.lower, column.upper), missing });
      } else {
        out.set(name, { code: codeOf(column, record[name]) });
      }
    }
    return out;
  }

  terms(cells, terms, coefficients) {
    let total = 0;
    terms.forEach((term, i) => {
      const coefficient = coefficients ? coefficients[i] : term.coefficient;
      const column = this.columns.get(term.column);
      const { number, missing, code } = cells.get(term.column);
      if (column.type === "numeric") {
        if (term.missing) total += missing ? coefficient : 0;
        else total += coefficient * number;
      } else if (term.other ? code < 0 : code >= 0 && column.categories[code] === term.category) {
        total += coefficient;
      }
    });
    return total;
  }

  of(record) {
    const cells = this.cells(record);
    const total = this.model.intercept.coefficient + this.terms(cells, this.model.terms ?? []);
    let z = clamp(this[this.model.kind](cells, total), this.lower, this.upper);
    const back = this.model.target_transform;
    if (!back) return z;
    z = clamp(back.intercept + back.slope * z, this.lower, this.upper);
    const log = back.transform === "log";
    const mean = log ? inverse(log, z + back.variance / 2) : inverse(log, z) + back.variance;
    return clamp(mean, back.lower, back.upper);
  }

  linear(cells, total) {
    return total;
  }

  "clipped-linear"(cells, total) {
    const { constant, norm: limit, center = this.lower / 2 + this.upper / 2 } = this.model.clip;
    const flagged = new Set(this.model.terms.filter((t) => t.missing).map((t) => t.column));
    let norm = constant ** 2;
    for (const [name, column] of this.columns) {
      const { number, missing, code } = cells.get(name);
      if (column.type === "numeric") {
        norm += clamp((number - column.middle) / column.half, -1, 1) ** 2;
        if (missing && flagged.has(name)) norm += 0.2;
      } else if (code >= 0 || column.other) {
        norm += 1;
      }
    }
    return norm <= limit ** 2 ? total : center + (limit / Math.sqrt(norm)) * (total - center);
  }

  additive(cells, total) {
    const { shapes, score, terms } = this.model;
    for (const shape of shapes) total += step(shape, cells.get(shape.column).number);
    if (score) total += step(score, score.intercept + this.terms(cells, terms, score.coefficients));
    return total;
  }

  votes(cells, total) {
    for (const member of this.model.members) {
      const score = member.intercept + this.terms(cells, member.terms);
      total += score >= 0 ? member.weight : -member.weight;
    }
    return total;
  }

  tree(cells, total) {
    for (let at = 0; ; ) {
      const node = this.model.nodes[at];
      const score = node.intercept + this.terms(cells, node.terms);
      if (!node.split) return total + score;
      at = score <= node.split.threshold ? node.split.low : node.split.high;
    }
  }

  prototypes(cells, total) {
    const pro = [];
    const against = [];
    for (const p of this.model.prototypes) {
      const score = clamp(p.intercept + this.terms(cells, p.terms), this.lower, this.upper);
      (p.against ? against : pro).push(score);
    }
    return total + logSum(pro) - logSum(against);
  }

  kernel(cells, total) {
    total = this.additive(cells, total);
    const bins = this.inputs.map(({ of, column, table }) => {
      const { number, missing, code } = cells.get(column);
      if (of === "categories") return table[code < 0 ? table.length - 1 : code];
      if (of === "missing") return missing ? 1 : 0;
      const { middle, half } = this.columns.get(column);
      const x = half > 0 ? (number - middle) * (16384 / half) : 0;
      return Math.min(Math.floor((Math.trunc(clamp(x, -16384, 16384)) + 16384) / 128), 255);
    });
    return this.kernels.reduce((sum, k) => sum + k.of(bins), total);
  }
}

const SCORES = (MODEL.kind === "classifier" ? MODEL.scores : [MODEL]).map((s) => new Score(s));

export const TARGET = MODEL.target;
/** The names of the classes; null: the target is a number. */
export const CLASSES = MODEL.classes ?? null;
export const INPUTS = [...new Set(SCORES.flatMap((s) => [...s.columns].map(([name, column]) => column.source ?? name)))];

/** The scores of a record: of two classes one, of more one per class, else the prediction. */
export function scores(record) {
  return SCORES.map((s) => s.of(record));
}

/** The prediction for a record: a number, or the name of a class. It throws if the record lacks an input. */
export function predict(record) {
  const s = scores(record);
  if (CLASSES === null) return s[0];
  if (s.length === 1) return CLASSES[s[0] > MODEL.cutoff ? 1 : 0];
  return CLASSES[s.indexOf(Math.max(...s))];
}

/** The probabilities of the classes by name, or null if the model has none. */
export function probabilities(record) {
  if (CLASSES === null) return null;
  const s = scores(record);
  if (MODEL.probability) {
    const second = probabilityOfSecond(MODEL.probability, s[0]);
    return { [CLASSES[0]]: 1 - second, [CLASSES[1]]: second };
  }
  if (CLASSES.length < 3 || SCORES.some((score) => score.model.kind !== "prototypes")) return null;
  const total = logSum(s);
  return Object.fromEntries(CLASSES.map((name, i) => [name, Math.exp(s[i] - total)]));
}

/** The probability of the second of two classes: that of lines between points, or without points of a logistic curve. */
function probabilityOfSecond({ intercept, slope, scores: points, values }, score) {
  if (!points || points.length === 0) return 1 / (1 + Math.exp(-(intercept + slope * score)));
  let out = values[0];
  for (let k = 1; k < points.length; k++) {
    const share = (score - points[k - 1]) / (points[k] - points[k - 1]);
    out += (values[k] - values[k - 1]) * Math.min(Math.max(share, 0), 1);
  }
  return out;
}
