// Predictions of a model that dptrain trained. It needs nothing else, in Node, Deno or a browser.
//
//     import { predict, probabilities } from "./model.mjs";
//     predict({ age: 41, city: "Basel" });      // a number, or the name of a class
//     probabilities({ age: 41, city: "Basel" }) // of the classes by name, or null
//
// A record is an object with the names in INPUTS. A number that is missing (null, undefined, NaN), infinite or
// no number takes the model's missing value, every number is clamped to its range, and an unknown category
// counts as other.

const MODEL = @MODEL@;

const NUMBER = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;

const trim = (text) => text.replace(/^[ \t]+|[ \t]+$/g, "");

/** The shortest decimal form of a number, without an exponent. */
function decimal(x) {
  const [digits, exponent] = String(x).split("e");
  if (exponent === undefined) return digits;
  const sign = digits.startsWith("-") ? "-" : "";
  const [whole, part = ""] = digits.replace("-", "").split(".");
  const shift = Number(exponent);
  if (shift > 0) return sign + whole + part.padEnd(shift, "0");
  return sign + "0." + "0".repeat(-shift - 1) + whole + part;
}

/** The text of a cell of a category column. */
function textOf(cell) {
  switch (typeof cell) {
    case "string":
      return trim(cell);
    case "boolean":
    case "bigint":
      return String(cell);
    case "number":
      return Number.isFinite(cell) ? decimal(cell) : "";
  }
  return "";
}

const MISSING = new Set(["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"]);

/** The small letter of a capital one. */
function small(letter) {
  const c = letter.codePointAt(0);
  const within = (low, high) => c >= low && c <= high;
  if (within(65, 90) || (within(0xc0, 0xde) && c !== 0xd7) || (within(0x391, 0x3ab) && c !== 0x3a2) || within(0x410, 0x42f)) {
    return String.fromCodePoint(c + 32);
  }
  return within(0x400, 0x40f) ? String.fromCodePoint(c + 80) : letter;
}

/** The value that a text is in a column: folded, cut or hashed as the model says. */
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

/** The number of a cell of a numeric column, NaN if there is none. */
function numberOf(cell) {
  switch (typeof cell) {
    case "bigint":
      cell = Number(cell);
      break;
    case "string":
      cell = trim(cell);
      cell = NUMBER.test(cell) ? Number(cell) : NaN;
      break;
  }
  return typeof cell === "number" && Number.isFinite(cell) ? cell : NaN;
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
        column.codes = new Map(column.categories.map((name, i) => [trim(name), i]));
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
      if (!Object.hasOwn(record, name)) throw new Error(`the record has no cell for ${JSON.stringify(name)}`);
      if (column.values) {
        // numbers that stand for texts, the last one for every other
        const code = column.codes.get(valueOf(column, textOf(record[name]))) ?? column.categories.length;
        out.set(name, { number: column.values[code], missing: false });
      } else if (column.type === "numeric") {
        const x = numberOf(record[name]);
        const missing = Number.isNaN(x);
        out.set(name, { number: missing ? column.missing : clamp(x, column.lower, column.upper), missing });
      } else {
        out.set(name, { code: column.codes.get(valueOf(column, textOf(record[name]))) ?? -1 });
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
export const INPUTS = [...new Set(SCORES.flatMap((s) => [...s.columns.keys()]))];

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
    const second = 1 / (1 + Math.exp(-(MODEL.probability.intercept + MODEL.probability.slope * s[0])));
    return { [CLASSES[0]]: 1 - second, [CLASSES[1]]: second };
  }
  if (CLASSES.length < 3 || SCORES.some((score) => score.model.kind !== "prototypes")) return null;
  const total = logSum(s);
  return Object.fromEntries(CLASSES.map((name, i) => [name, Math.exp(s[i] - total)]));
}
