// The pictures of the page. Each has a name for who does not see it, and its numbers in a table.
import { el, svg, round, percent } from "./dom.js";

// room is how wide a picture may be: texts keep their size on a narrow screen.
const room = most => Math.max(280, Math.min(most, document.getElementById("main").clientWidth));

// figure wraps a picture with its caption and its numbers.
function figure(picture, caption, head, rows) {
  return [
    el("figure", {}, picture, el("figcaption", {}, caption)),
    rows ? el("details", {}, el("summary", {}, "The numbers in this picture"), grid(head, rows)) : null,
  ];
}

export function grid(head, rows) {
  return el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "A table" }, el("table", {},
    el("thead", {}, el("tr", {}, head.map(h => el("th", { scope: "col" }, h)))),
    el("tbody", {}, rows.map(row => el("tr", {}, row.map((cell, i) => i ? el("td", {}, cell) : el("th", { scope: "row" }, cell)))))));
}

// people shows a hundred records, some of which are found.
function people(found, chance, label) {
  const size = 20, out = [];
  for (let i = 0; i < 100; i++) {
    const kind = i < chance ? " chance" : i < found ? " more" : "";
    out.push(svg("circle", { class: "person" + kind, cx: (i % 10) * size + 10, cy: Math.floor(i / 10) * size + 10, r: 7.5 }));
  }
  return svg("svg", { viewBox: "0 0 200 200", role: "img", "aria-label": label }, out);
}

// attack shows what a guess finds out with the release and without.
export function attack(bill) {
  const a = bill.attack, chance = Math.round(100 * a.false_alarms), found = Math.min(100, Math.ceil(100 * a.found - 1e-9));
  const more = found > 99 ? "all" : found;
  const what = bill.guarantee.unit ? "units" : "records";
  return [
    el("div", { class: "pair" },
      el("figure", {}, people(chance, chance, `Without any release ${chance} of 100 are found`), el("figcaption", {}, `Without any release a guess finds ${chance} of 100 ${what} by chance.`)),
      el("figure", {}, people(found, chance, `With this release at most ${more} of 100 are found`), el("figcaption", {}, `With this release it finds at most ${more} of 100.`))),
    el("p", {}, bill.meaning),
  ];
}

const stages = ["vocabulary", "scaling", "selection", "model", "r2", "accuracy"];
const stageNames = { vocabulary: "words", scaling: "ranges", selection: "choice of columns", model: "model", r2: "held-out metric", accuracy: "held-out metric", count: "count of records" };
const nameOf = stage => stageNames[stage] || stage;
const partNames = { train: "training records", score: "records that score", holdout: "held-out records" };

// placeOf says which records a step sees, and which way to train it belongs to: the names of the plan above its stage.
function placeOf(step) {
  const names = step.id.split("/").slice(1), first = names.findIndex(n => stages.includes(n)), at = first < 0 ? names.length - 1 : first;
  return { part: step.part, way: names.slice(0, at), stage: nameOf(names[at]), share: step.share };
}

const within = (a, b) => a.part === b.part && a.way.every((n, i) => n === b.way[i]);

// shares adds up the steps of each stage, for each way to train: those of the way, and those before the ways part.
function shares(bill) {
  const steps = bill.steps.filter(s => s.share !== null).map(placeOf), places = new Map();
  for (const end of steps.filter(s => !steps.some(t => t.way.length > s.way.length && within(s, t)))) {
    const way = end.way.filter(n => !["train", "undeclared", end.part].includes(n)).join(", ");
    const name = (partNames[end.part] || end.part) + (way ? ", way " + way : "");
    if (places.has(name)) continue;
    const of = new Map();
    for (const s of steps.filter(s => within(s, end))) of.set(s.stage, (of.get(s.stage) || 0) + s.share);
    places.set(name, of);
  }
  return places;
}

// bars shows the share of each stage in the budget of the records it sees.
export function bars(bill) {
  const places = shares(bill), seen = [...new Set([...places.values()].flatMap(p => [...p.keys()]))];
  const colour = stage => "s" + (seen.indexOf(stage) % 6 + 1), high = 46, width = room(600);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${places.size * high}`, role: "img", "aria-label": "Shares of the budget by stage: " + [...places].map(([p, of]) => p + ": " + [...of].map(([s, x]) => s + " " + percent(x)).join(", ")).join("; ") });
  [...places].forEach(([place, of], i) => {
    picture.append(svg("text", { x: 0, y: i * high + 14 }, place));
    let x = 0;
    for (const [stage, share] of of) {
      const w = share * width;
      picture.append(svg("rect", { class: "bar " + colour(stage), x, y: i * high + 20, width: Math.max(0, w - 2), height: 19, rx: 3 }));
      if (w > 44) picture.append(svg("text", { class: "inside", x: x + 6, y: i * high + 34 }, Math.round(100 * share) + "%"));
      x += w;
    }
  });
  const loss = s => s.mu ? "mu " + round(s.mu) : "epsilon " + round(s.epsilon) + (s.delta ? ", delta " + round(s.delta) : "");
  const mu = bill.guarantee.mu === null || bill.guarantee.mu === undefined ? "" : `, mu ${round(bill.guarantee.mu)}`;
  return [
    el("ul", { class: "legend" }, seen.map(s => el("li", { class: colour(s) }, el("i", {}), s))),
    ...figure(picture, `Each bar is the whole budget of the records it is about: epsilon ${round(bill.guarantee.epsilon, 4)}, delta ${round(bill.guarantee.delta)}${mu}. ${bill.method}, from ${bill.features.length} candidate columns.` +
      ([...places.keys()].some(p => p.includes(", way ")) ? " Of several ways to train one is taken, and each fits." : ""),
    ["step", "records", "law", "draws", "each draw", "share"],
    bill.steps.map(s => [s.id.replace(/^fit\//, ""), s.part, s.law, String(s.draws), loss(s), s.share === null ? "fixed" : percent(s.share)])),
  ];
}


// expected shows the metric by epsilon for several sizes of table, with the chosen epsilon.
export function expected(x, epsilon) {
  const plot = { width: room(640), height: 300, left: 36, right: 106, top: 12, bottom: 40 };
  const what = x.task === "classification" ? "accuracy" : "R²";
  const all = x.sizes.flatMap(s => [s.nonprivate, ...s.private]).flatMap(b => [b.lower, b.upper]).filter(v => v !== null);
  const top = Math.min(1, Math.ceil(Math.max(...all) * 10) / 10), floor = x.task === "classification" ? Math.min(...all) : Math.max(-.2, Math.min(...all));
  const bottom = Math.floor(floor * 10) / 10;
  const eps = x.sizes[0].private.map(p => p.epsilon), low = Math.log(Math.min(eps[0], epsilon)), high = Math.log(Math.max(eps.at(-1), epsilon));
  const at = e => plot.left + (Math.log(e) - low) / (high - low) * (plot.width - plot.left - plot.right);
  const y = v => plot.top + (top - Math.max(bottom, Math.min(top, v ?? bottom))) / (top - bottom) * (plot.height - plot.top - plot.bottom);
  const picture = svg("svg", { viewBox: `0 0 ${plot.width} ${plot.height}`, role: "img", "aria-label": `Expected ${what} by epsilon; the numbers are in the table below` });
  const apart = top - bottom > .5 ? .2 : .1;
  for (let i = Math.ceil(bottom / apart - 1e-9); i * apart <= top + 1e-9; i++) {
    const v = Number((i * apart).toFixed(1));
    picture.append(svg("line", { class: "grid", x1: plot.left, x2: plot.width - plot.right, y1: y(v), y2: y(v) }), svg("text", { class: "axis", x: plot.left - 6, y: y(v) + 4, "text-anchor": "end" }, round(v, 2)));
  }
  const ends = [];
  x.sizes.forEach((size, i) => {
    const ps = size.private, c = "s" + (i % 6 + 1);
    picture.append(svg("polygon", { class: "band " + c, points: [...ps.map(p => [at(p.epsilon), y(p.upper)]), ...ps.toReversed().map(p => [at(p.epsilon), y(p.lower)])].map(p => p.map(v => v.toFixed(1)).join(",")).join(" ") }));
    ends.push({ y: y(ps.at(-1).median), c, name: size.rows.toLocaleString("en-US") + " rows" });
  });
  x.sizes.forEach((size, i) => {
    picture.append(svg("polyline", { class: "line s" + (i % 6 + 1), points: size.private.map(p => at(p.epsilon).toFixed(1) + "," + y(p.median).toFixed(1)).join(" ") }));
    for (const p of size.private) picture.append(svg("circle", { class: "dot s" + (i % 6 + 1), cx: at(p.epsilon), cy: y(p.median), r: 3 }));
  });
  ends.sort((a, b) => a.y - b.y).forEach((e, i) => {
    if (i && e.y < ends[i - 1].y + 16) e.y = ends[i - 1].y + 16;
    picture.append(svg("text", { class: "name " + e.c, x: plot.width - plot.right + 8, y: e.y + 4 }, e.name));
  });
  for (const e of eps) picture.append(svg("text", { class: "axis", x: at(e), y: plot.height - plot.bottom + 16, "text-anchor": "middle" }, round(e, 2)));
  picture.append(
    svg("text", { class: "axis", x: (plot.left + plot.width - plot.right) / 2, y: plot.height - 4, "text-anchor": "middle" }, "epsilon"),
    svg("line", { class: "you", x1: at(epsilon), x2: at(epsilon), y1: plot.top, y2: plot.height - plot.bottom }));
  const reads = x.sizes.map(s => `${round(between(s.private, epsilon), 2)} with ${s.rows.toLocaleString("en-US")} rows`).join(", ");
  const band = b => b.median === null ? "-" : `${round(b.median, 2)} (${round(b.lower, 2)} to ${round(b.upper, 2)})`;
  return figure(picture, `${x.notice} At epsilon ${round(epsilon)}: ${what} ${reads}. Lines are medians, bands reach from the 10% to the 90% quantile.`,
    ["epsilon", ...x.sizes.map(s => s.rows.toLocaleString("en-US") + " rows")],
    [...eps.map((e, i) => [round(e), ...x.sizes.map(s => band(s.private[i]))]), ["no privacy", ...x.sizes.map(s => band(s.nonprivate))]]);
}

// between reads a line at an epsilon that was not simulated.
function between(points, epsilon) {
  const i = points.findIndex(p => p.epsilon >= epsilon);
  if (i < 0) return points.at(-1).median;
  if (i === 0 || points[i].epsilon === epsilon) return points[i].median;
  const a = points[i - 1], b = points[i], t = Math.log(epsilon / a.epsilon) / Math.log(b.epsilon / a.epsilon);
  return a.median + t * (b.median - a.median);
}

// spending shows a total, what is spent of it, and what this run would spend.
function spending(parts, label) {
  const width = room(600), picture = svg("svg", { viewBox: `0 0 ${width} 34`, role: "img", "aria-label": label });
  picture.append(svg("rect", { class: "rest", x: .5, y: 4.5, width: width - 1, height: 25, rx: 4 }));
  let x = 0;
  for (const p of parts) {
    const w = Math.min(p.share, 1 - x / width) * width;
    if (w > 0 && p.colour !== "s0") picture.append(svg("rect", { class: "bar " + p.colour, x, y: 4, width: w > 3 ? w - 1.5 : w, height: 26, rx: Math.min(3, w / 2) }, svg("title", {}, `${p.name}: ${percent(p.share)}`)));
    x += w;
  }
  return picture;
}

const key = parts => el("ul", { class: "legend" }, parts.filter(p => p.share > 0).map(p => el("li", { class: p.colour }, el("i", {}), `${p.name} ${percent(p.share)}`)));

// remains shows what a run would leave in its ledger.
export function remains(ledger) {
  const of = x => x.cost / ledger.limit.cost;
  const parts = [{ name: "spent", share: of(ledger.spent), colour: "s6" }, { name: "this run", share: of(ledger.cost), colour: "s1" }, { name: "left after it", share: ledger.fits ? of(ledger.remains) : 0, colour: "s0" }];
  const text = ledger.fits ? `After this run ${percent(of(ledger.remains))} of the total of ${ledger.dataset} is left, enough for ${ledger.runs} more like it.` : `This run does not fit into the total of ${ledger.dataset}.`;
  return [el("h3", {}, "What the ledger has left"), el("figure", {}, key(parts), spending(parts, text), el("figcaption", {}, text))];
}

// account shows a data set of a ledger.
export function account(a) {
  const of = x => x.cost / a.limit.cost, sum = list => list.reduce((total, r) => total + of(r.cost), 0);
  const others = a.spends || [];
  const rows = [
    ...a.runs.map(r => [r.entry, [String(r.entry), r.date.slice(0, 10), r.method, r.target, round(r.epsilon), percent(of(r.cost)), r.committed ? "ended" : "reserved", r.note || ""]]),
    ...others.map(r => [r.entry, [String(r.entry), r.date.slice(0, 10), "another tool", "", r.epsilon ? round(r.epsilon) : "", percent(of(r.cost)), "spent", r.note || ""]]),
  ].sort((x, y) => x[0] - y[0]).map(r => r[1]);
  const parts = [
    ...a.runs.map(r => [r.entry, { name: `${r.method}, entry ${r.entry}`, share: of(r.cost), colour: r.committed ? "s1" : "s2" }]),
    ...others.map(r => [r.entry, { name: `another tool, entry ${r.entry}`, share: of(r.cost), colour: "s4" }]),
  ].sort((x, y) => x[0] - y[0]).map(p => p[1]);
  const sums = [
    { name: "spent by runs", share: sum(a.runs.filter(r => r.committed)), colour: "s1" }, { name: "reserved, not ended", share: sum(a.runs.filter(r => !r.committed)), colour: "s2" },
    { name: "spent by other tools", share: sum(others), colour: "s4" }, { name: "left", share: of(a.left), colour: "s0" },
  ];
  const text = `Of epsilon ${round(a.epsilon)}, delta ${round(a.delta)} (relation ${a.relation}${a.unit ? ", unit " + a.unit : ""}) ${percent(of(a.left))} is left.`;
  return [
    el("h3", {}, a.dataset),
    el("figure", {}, key(sums), spending(parts, text), el("figcaption", {}, text)),
    rows.length ? grid(["entry", "day", "method", "target", "epsilon", "of the total", "state", "note"], rows) : el("p", { class: "muted" }, "No run so far."),
  ];
}
