// Comparison of runs: their settings, budgets and metrics side by side.
import { $, el, svg, ask, decimals, percent, round } from "./dom.js";
import { chosen } from "./state.js";
import { onEnter } from "./steps.js";

const metricNames = { r2: "R²", accuracy: "Accuracy", balanced_accuracy: "Balanced accuracy", auc: "AUC", mae: "Mean absolute error", rmse: "Root mean squared error" };

// mainMetric returns the name of the main metric of a run.
const mainMetric = run => run.task === "classification" ? "accuracy" : "r2";

// writeMetric writes a value of a metric: errors are in units of the target, the others have three decimals.
const writeMetric = (name, value) => name === "mae" || name === "rmse" ? round(value) : decimals(value);

// interval writes the interval of a metric.
const interval = (name, metric) => `${writeMetric(name, metric.lower)} to ${writeMetric(name, metric.upper)}`;

// headline returns the main metric of a run in one line.
export function headline(run) {
  const name = mainMetric(run);
  const metric = run.metrics[name];
  return metric
    ? `${metricNames[name]} ${writeMetric(name, metric.value)} (${round(100 * metric.level, 2)}% interval ${interval(name, metric)}), measured on held-out records`
    : "The metric is not reported: see the report.";
}

let runs = [];
let selected = new Set();

// listRuns shows the runs of the folder for selection. Those of this session are selected, or else the first ones.
async function listRuns() {
  const found = await ask("runs", { path: "." });
  runs = found.runs.toSorted((a, b) => rank(a) - rank(b));
  const readable = runs.filter(run => !run.error);
  const session = readable.filter(run => chosen.session.includes(run.path));
  const proposed = session.length >= 2 ? session : readable;
  selected = new Set(proposed.slice(0, 4).map(run => run.path));
  $("run-list").replaceChildren(...runs.map(run => el("li", {}, el("label", { class: "inline" },
    el("input", { type: "checkbox", checked: selected.has(run.path), disabled: Boolean(run.error), change: e => selectRun(run.path, e.target.checked) }),
    el("span", {}, run.path, run.error ? ` — ${run.error}` : "", chosen.session.includes(run.path) ? el("span", { class: "kind" }, "this session") : null)))));
  $("no-runs").hidden = readable.length >= 2;
  $("run-list-title").hidden = !runs.length;
  drawComparison();
}

// rank sorts the runs of this session first, the latest before the others.
function rank(run) {
  const at = chosen.session.indexOf(run.path);
  return at < 0 ? chosen.session.length : at;
}

function selectRun(path, isSelected) {
  if (isSelected) {
    selected.add(path);
  } else {
    selected.delete(path);
  }
  drawComparison();
}

// settings are the rows of the comparison: a name, and the text for a run.
const settings = [
  ["Predicts", run => run.target],
  ["Task", run => run.task],
  ["Method", run => run.stopped ? "stopped early" : run.model.method],
  ["Columns used", run => `${run.features.selected.length} of ${run.features.considered.length}`],
  ["Protects", run => run.guarantee.unit ? `each ${run.guarantee.unit.column}, up to ${run.guarantee.unit.max_rows} rows` : "each row"],
  ["Neighbours", run => run.guarantee.relation],
  ["Epsilon", run => round(run.guarantee.epsilon)],
  ["Delta", run => round(run.guarantee.delta)],
  ["Attacker detects a row or person", run => run.guarantee.attack ? `at most ${percent(run.guarantee.attack.found)} of the time` : "–"],
  ["Ledger", run => run.ledger ? run.ledger.dataset : "none"],
];

function drawComparison() {
  const shown = runs.filter(run => selected.has(run.path));
  $("comparison").hidden = shown.length < 1;
  if (!shown.length) {
    return;
  }
  const metrics = Object.keys(metricNames).filter(name => shown.some(run => run.metrics[name]));
  const row = (name, cells, differs) => el("tr", { class: differs ? "differs" : null }, el("th", { scope: "row" }, name, differs ? el("span", { class: "kind" }, "differs") : null), cells.map(cell => el("td", {}, cell)));
  const rows = settings.map(([name, text]) => {
    const cells = shown.map(text);
    return row(name, cells, new Set(cells).size > 1);
  });
  const results = metrics.map(name => row(metricNames[name], shown.map(run => metricCell(run, name, shown)), false));
  $("comparison-table").replaceChildren(el("table", { class: "comparison" },
    el("caption", { class: "hidden-text" }, "Settings and results of the selected runs"),
    el("thead", {}, el("tr", {}, el("td", {}), shown.map(run => el("th", { scope: "col" }, run.path)))),
    el("tbody", {}, results, rows)));
  $("comparison-note").textContent = shown.length < 2 ? "Select another run to compare it with." : describeTotal(shown);
}

// describeTotal states how the budgets of several runs add up. Epsilon and delta are added, which is valid for runs that
// protect the same unit under the same relation.
function describeTotal(shown) {
  const protectedUnits = new Set(shown.map(run => JSON.stringify([run.guarantee.unit || null, run.guarantee.relation])));
  const sum = key => round(shown.reduce((total, run) => total + run.guarantee[key], 0));
  const total = protectedUnits.size === 1 ? `: together at most epsilon ${sum("epsilon")}, delta ${sum("delta")}` : "";
  return `Where intervals overlap, the difference may be due to chance. If these runs are on the same people, their budgets add up${total}. Choosing one of the runs does not refund the budget of the others.`;
}

// metricCell returns a metric with its interval as text and as a bar on the scale of all runs.
function metricCell(run, name, shown) {
  const metric = run.metrics[name];
  if (!metric) {
    return "not reported";
  }
  const all = shown.map(r => r.metrics[name]).filter(Boolean);
  const low = Math.min(...all.map(m => m.lower));
  const high = Math.max(...all.map(m => m.upper));
  const at = v => 4 + (v - low) / (high - low || 1) * 152;
  const bar = svg("svg", { class: "interval s1", viewBox: "0 0 160 14", "aria-hidden": "true" },
    svg("line", { class: "line", x1: at(metric.lower), x2: at(metric.upper), y1: 7, y2: 7 }),
    svg("circle", { class: "dot", cx: at(metric.value), cy: 7, r: 4 }));
  return [el("strong", {}, writeMetric(name, metric.value)), el("small", {}, interval(name, metric)), bar];
}

onEnter.compare = listRuns;
