// The pictures of the page. Each has a text alternative, and most have their numbers in a table.
import { el, svg, round, percent } from "./dom.js";

// pictureWidth returns the width of a picture: texts keep their size on a narrow screen.
const pictureWidth = most => Math.max(280, Math.min(most, document.getElementById("main").clientWidth - 40));

// figure returns a picture with its caption and, if there are rows, its numbers.
function figure(picture, caption, head, rows) {
  const numbers = rows ? el("details", {}, el("summary", {}, "The numbers in this chart"), grid(head, rows)) : null;
  return [el("figure", {}, picture, el("figcaption", {}, caption)), numbers];
}

// grid returns a table that scrolls sideways.
export function grid(head, rows) {
  const headCells = head.map(text => el("th", { scope: "col" }, text));
  const bodyRows = rows.map(row => el("tr", {}, row.map((text, i) => i ? el("td", {}, text) : el("th", { scope: "row" }, text))));
  return el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Table" },
    el("table", {}, el("thead", {}, el("tr", {}, headCells)), el("tbody", {}, bodyRows)));
}

// legend returns a list of colours with their names.
const legend = entries => el("ul", { class: "legend" }, entries.map(([colour, name]) => el("li", { class: colour }, el("i", {}), name)));

// ---- What an attacker finds

// drawPeople draws a hundred records, of which an attacker finds some: those found by chance, and others.
function drawPeople(found, chance, label) {
  const size = 20;
  const circles = [];
  for (let i = 0; i < 100; i++) {
    let kind = "person";
    if (i < chance) {
      kind += " chance";
    } else if (i < found) {
      kind += " more";
    }
    circles.push(svg("circle", { class: kind, cx: (i % 10) * size + 10, cy: Math.floor(i / 10) * size + 10, r: 7.5 }));
  }
  return svg("svg", { viewBox: "0 0 200 200", role: "img", "aria-label": label }, circles);
}

// attack compares an attacker who has the release with one who has not.
export function attack(bill) {
  const chance = Math.round(100 * bill.attack.false_alarms);
  const found = Math.min(100, Math.ceil(100 * bill.attack.found - 1e-9));
  const most = found > 99 ? "all" : found;
  const protectedThings = bill.guarantee.unit ? "people" : "rows";
  return [
    el("div", { class: "pair" },
      el("figure", {}, drawPeople(chance, chance, `Without the release an attacker finds ${chance} of 100`),
        el("figcaption", {}, `Without the release an attacker finds ${chance} of 100 ${protectedThings} by chance.`)),
      el("figure", {}, drawPeople(found, chance, `With the release an attacker finds at most ${most} of 100`),
        el("figcaption", {}, `With the release: at most ${most} of 100.`))),
    el("p", {}, bill.meaning),
  ];
}

// ---- Shares of the budget

const stages = ["vocabulary", "scaling", "selection", "model", "r2", "accuracy"];
const stageNames = {
  vocabulary: "text categories", scaling: "ranges", selection: "choice of columns", model: "model", r2: "held-out metric", accuracy: "held-out metric",
  count: "count of records", check: "check of the target",
};
const partNames = { train: "training records", score: "scoring records", holdout: "held-out records", all: "all records" };

// locate returns the records that a step sees, and the branch of the plan that it belongs to: the names above its
// stage.
function locate(step) {
  const names = step.id.split("/").slice(1);
  const first = names.findIndex(name => stages.includes(name));
  const at = first < 0 ? names.length - 1 : first;
  return { part: step.part, branch: names.slice(0, at), stage: stageNames[names[at]] || names[at], share: step.share };
}

// leadsTo reports whether a step is taken in the branch of another step.
const leadsTo = (step, other) => step.part === other.part && step.branch.every((name, i) => name === other.branch[i]);

// sharesByBranch adds up the shares of each stage in every branch: steps of the branch, and those before it.
function sharesByBranch(bill) {
  const steps = bill.steps.filter(s => s.share !== null).map(locate);
  const places = new Map();
  const ends = steps.filter(s => !steps.some(t => t.branch.length > s.branch.length && leadsTo(s, t)));
  for (const end of ends) {
    const branch = end.branch.filter(name => !["train", "undeclared", end.part].includes(name)).join(", ").replace("words", "text");
    const name = (partNames[end.part] || end.part) + (branch ? ": branch " + branch : "");
    if (places.has(name)) {
      continue;
    }
    const sums = new Map();
    for (const step of steps.filter(s => leadsTo(s, end))) {
      sums.set(step.stage, (sums.get(step.stage) || 0) + step.share);
    }
    places.set(name, sums);
  }
  return places;
}

// describeLoss writes the privacy loss of a draw.
function describeLoss(step) {
  if (step.mu) {
    return "mu " + round(step.mu);
  }
  return "epsilon " + round(step.epsilon) + (step.delta ? ", delta " + round(step.delta) : "");
}

// bars shows the share of each stage in the budget of the records that it sees.
export function bars(bill) {
  const places = sharesByBranch(bill);
  const seen = [...new Set([...places.values()].flatMap(sums => [...sums.keys()]))];
  const colour = stage => "s" + (seen.indexOf(stage) % 6 + 1);
  const height = 46;
  const width = pictureWidth(600);
  const texts = [...places].map(([place, sums]) => place + ": " + [...sums].map(([stage, share]) => stage + " " + percent(share)).join(", "));
  const picture = svg("svg", { viewBox: `0 0 ${width} ${places.size * height}`, role: "img", "aria-label": "Shares of the budget by stage: " + texts.join("; ") });
  [...places].forEach(([place, sums], i) => {
    picture.append(svg("text", { x: 0, y: i * height + 14 }, place));
    let x = 0;
    for (const [stage, share] of sums) {
      const w = share * width;
      picture.append(svg("rect", { class: "bar " + colour(stage), x, y: i * height + 20, width: Math.max(0, w - 2), height: 19, rx: 3 }));
      if (w > 44) {
        picture.append(svg("text", { class: "inside", x: x + 6, y: i * height + 34 }, Math.round(100 * share) + "%"));
      }
      x += w;
    }
  });
  const { epsilon, delta, mu } = bill.guarantee;
  const total = `epsilon ${round(epsilon, 4)}, delta ${round(delta)}` + (mu === null || mu === undefined ? "" : `, mu ${round(mu)}`);
  const branches = [...places.keys()].some(place => place.includes(": branch "));
  const caption = `Each bar is the whole budget of the records that its steps see: ${total}. Method ${bill.method}, from ${bill.features.length} candidate columns.` +
    (branches ? " The run takes one of the branches; each fits the budget." : "");
  const rows = bill.steps.map(s => [s.id.replace(/^fit\//, ""), s.part, s.law, String(s.draws), describeLoss(s), s.share === null ? "fixed" : percent(s.share)]);
  return [legend(seen.map(stage => [colour(stage), stage])), ...figure(picture, caption, ["step", "records", "noise", "draws", "loss per draw", "share"], rows)];
}

// ---- Expected metric

// interpolate returns the median at an epsilon between those that were simulated.
function interpolate(points, epsilon) {
  const i = points.findIndex(p => p.epsilon >= epsilon);
  if (i < 0) {
    return points.at(-1).median;
  }
  if (i === 0 || points[i].epsilon === epsilon) {
    return points[i].median;
  }
  const [a, b] = [points[i - 1], points[i]];
  const t = Math.log(epsilon / a.epsilon) / Math.log(b.epsilon / a.epsilon);
  return a.median + t * (b.median - a.median);
}

// expectedScales returns the scales of the picture of the expected metric, and the ends of its vertical axis.
function expectedScales(simulation, epsilon, plot) {
  const bands = simulation.sizes.flatMap(size => [size.nonprivate, ...size.private]);
  const values = bands.flatMap(band => [band.lower, band.upper]).filter(v => v !== null);
  const classes = simulation.task === "classification";
  const top = Math.min(1, Math.ceil(Math.max(...values) * 10) / 10);
  const bottom = Math.floor((classes ? Math.min(...values) : Math.max(-.2, Math.min(...values))) * 10) / 10;
  const epsilons = simulation.sizes[0].private.map(p => p.epsilon);
  const low = Math.log(Math.min(epsilons[0], epsilon));
  const high = Math.log(Math.max(epsilons.at(-1), epsilon));
  return {
    top, bottom, epsilons,
    x: e => plot.left + (Math.log(e) - low) / (high - low) * (plot.width - plot.left - plot.right),
    y: v => plot.top + (top - Math.max(bottom, Math.min(top, v ?? bottom))) / (top - bottom) * (plot.height - plot.top - plot.bottom),
  };
}

// expected shows the metric by epsilon for several sizes of table, with the chosen epsilon.
export function expected(simulation, epsilon) {
  const plot = { width: pictureWidth(640), height: 300, left: 36, right: 106, top: 12, bottom: 40 };
  const metric = simulation.task === "classification" ? "accuracy" : "R²";
  const { top, bottom, epsilons, x, y } = expectedScales(simulation, epsilon, plot);
  const picture = svg("svg", { viewBox: `0 0 ${plot.width} ${plot.height}`, role: "img", "aria-label": `Expected ${metric} by epsilon; the numbers are in the table below` });
  const step = top - bottom > .5 ? .2 : .1;
  for (let i = Math.ceil(bottom / step - 1e-9); i * step <= top + 1e-9; i++) {
    const v = Number((i * step).toFixed(1));
    picture.append(
      svg("line", { class: "grid", x1: plot.left, x2: plot.width - plot.right, y1: y(v), y2: y(v) }),
      svg("text", { class: "axis", x: plot.left - 6, y: y(v) + 4, "text-anchor": "end" }, round(v, 2)));
  }
  const rowsText = size => size.rows.toLocaleString("en-US") + " rows";
  const labels = [];
  simulation.sizes.forEach((size, i) => {
    const colour = "s" + (i % 6 + 1);
    const outline = [...size.private.map(p => [x(p.epsilon), y(p.upper)]), ...size.private.toReversed().map(p => [x(p.epsilon), y(p.lower)])];
    picture.append(svg("polygon", { class: "band " + colour, points: outline.map(p => p.map(v => v.toFixed(1)).join(",")).join(" ") }));
    labels.push({ y: y(size.private.at(-1).median), colour, name: rowsText(size) });
  });
  simulation.sizes.forEach((size, i) => {
    const colour = "s" + (i % 6 + 1);
    picture.append(svg("polyline", { class: "line " + colour, points: size.private.map(p => x(p.epsilon).toFixed(1) + "," + y(p.median).toFixed(1)).join(" ") }));
    for (const p of size.private) {
      picture.append(svg("circle", { class: "dot " + colour, cx: x(p.epsilon), cy: y(p.median), r: 3 }));
    }
  });
  labels.sort((a, b) => a.y - b.y).forEach((label, i) => {
    if (i && label.y < labels[i - 1].y + 16) {
      label.y = labels[i - 1].y + 16;
    }
    picture.append(svg("text", { class: "name " + label.colour, x: plot.width - plot.right + 8, y: label.y + 4 }, label.name));
  });
  for (const e of epsilons) {
    picture.append(svg("text", { class: "axis", x: x(e), y: plot.height - plot.bottom + 16, "text-anchor": "middle" }, round(e, 2)));
  }
  picture.append(
    svg("text", { class: "axis", x: (plot.left + plot.width - plot.right) / 2, y: plot.height - 4, "text-anchor": "middle" }, "epsilon"),
    svg("line", { class: "you", x1: x(epsilon), x2: x(epsilon), y1: plot.top, y2: plot.height - plot.bottom }));
  const readings = simulation.sizes.map(size => `${round(interpolate(size.private, epsilon), 2)} with ${rowsText(size)}`).join(", ");
  const band = b => b.median === null ? "-" : `${round(b.median, 2)} (${round(b.lower, 2)} to ${round(b.upper, 2)})`;
  const rows = epsilons.map((e, i) => [round(e), ...simulation.sizes.map(size => band(size.private[i]))]);
  rows.push(["no privacy", ...simulation.sizes.map(size => band(size.nonprivate))]);
  const caption = `${simulation.notice} At epsilon ${round(epsilon)}: ${metric} ${readings}. Lines are medians; bands reach from the 10% to the 90% quantile.`;
  return figure(picture, caption, ["epsilon", ...simulation.sizes.map(rowsText)], rows);
}

// ---- Ledger

// drawSpending draws the parts of a total.
function drawSpending(parts, label) {
  const width = pictureWidth(600);
  const picture = svg("svg", { viewBox: `0 0 ${width} 34`, role: "img", "aria-label": label });
  picture.append(svg("rect", { class: "rest", x: .5, y: 4.5, width: width - 1, height: 25, rx: 4 }));
  let x = 0;
  for (const part of parts) {
    const w = Math.min(part.share, 1 - x / width) * width;
    if (w > 0 && part.colour !== "s0") {
      const title = svg("title", {}, `${part.name}: ${percent(part.share)}`);
      picture.append(svg("rect", { class: "bar " + part.colour, x, y: 4, width: w > 3 ? w - 1.5 : w, height: 26, rx: Math.min(3, w / 2) }, title));
    }
    x += w;
  }
  return picture;
}

const spendingLegend = parts => legend(parts.filter(p => p.share > 0).map(p => [p.colour, `${p.name} ${percent(p.share)}`]));

// remains shows how much of its ledger a run would leave.
export function remains(ledger) {
  const share = part => part.cost / ledger.limit.cost;
  const left = ledger.fits ? share(ledger.remains) : 0;
  const parts = [
    { name: "spent", share: share(ledger.spent), colour: "s6" },
    { name: "this run", share: share(ledger.cost), colour: "s1" },
    { name: "left after it", share: left, colour: "s0" },
  ];
  const text = ledger.fits
    ? `After this run ${percent(left)} of the total of ${ledger.dataset} is left, enough for ${ledger.runs} more runs of this price.`
    : `This run would exceed the total of ${ledger.dataset}.`;
  return [el("h3", {}, "Remaining budget in the ledger"), el("figure", {}, spendingLegend(parts), drawSpending(parts, text), el("figcaption", {}, text))];
}

// account shows a data set of a ledger.
export function account(a) {
  const share = part => part.cost / a.limit.cost;
  const total = entries => entries.reduce((sum, entry) => sum + share(entry.cost), 0);
  const spends = a.spends || [];
  const runRow = r => [String(r.entry), r.date.slice(0, 10), r.method, r.target, round(r.epsilon), percent(share(r.cost)), r.committed ? "ended" : "reserved", r.note || ""];
  const spendRow = r => [String(r.entry), r.date.slice(0, 10), "another tool", "", r.epsilon ? round(r.epsilon) : "", percent(share(r.cost)), "spent", r.note || ""];
  const entries = [
    ...a.runs.map(r => ({ entry: r.entry, row: runRow(r), part: { name: `${r.method}, entry ${r.entry}`, share: share(r.cost), colour: r.committed ? "s1" : "s2" } })),
    ...spends.map(r => ({ entry: r.entry, row: spendRow(r), part: { name: `another tool, entry ${r.entry}`, share: share(r.cost), colour: "s4" } })),
  ].sort((x, y) => x.entry - y.entry);
  const sums = [
    { name: "spent by runs", share: total(a.runs.filter(r => r.committed)), colour: "s1" },
    { name: "reserved, not ended", share: total(a.runs.filter(r => !r.committed)), colour: "s2" },
    { name: "spent by other tools", share: total(spends), colour: "s4" },
    { name: "left", share: share(a.left), colour: "s0" },
  ];
  const unit = a.unit ? ", unit " + a.unit : "";
  const text = `Total epsilon ${round(a.epsilon)}, delta ${round(a.delta)} (${a.relation}${unit}): ${percent(share(a.left))} is left.`;
  const head = ["entry", "day", "method", "target", "epsilon", "share of total", "state", "note"];
  return [
    el("h3", {}, a.dataset),
    el("figure", {}, spendingLegend(sums), drawSpending(entries.map(e => e.part), text), el("figcaption", {}, text)),
    entries.length ? grid(head, entries.map(e => e.row)) : el("p", { class: "muted" }, "No runs so far."),
  ];
}
