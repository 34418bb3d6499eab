import { $, el, ask, known, wait, round } from "./dom.js";
import { attack, bars, expected, remains, account } from "./charts.js";

const steps = [["table", "Table"], ["public", "Public"], ["budget", "Budget"], ["train", "Train"], ["report", "Report"], ["ledger", "Ledger"]];

// What was chosen. A recipe file that is there already is used as it is: file holds its path then.
const chosen = { dir: ".", table: "", file: "", columns: [], declared: new Map(), bill: null, explained: null, results: "", step: "table" };

// ---- Steps

function possible(step) {
  const begun = chosen.table || chosen.file;
  if (step === "public") return Boolean(chosen.table);
  if (step === "budget") return Boolean(begun);
  if (step === "train") return Boolean(begun && chosen.bill);
  return true;
}

function drawSteps() {
  $("steps").replaceChildren(...steps.map(([id, name]) => el("li", { class: id === "ledger" ? "apart" : null },
    el("button", { type: "button", "aria-current": id === chosen.step ? "step" : null, disabled: !possible(id), click: () => go(id) }, name))));
}

function go(step) {
  chosen.step = step;
  for (const [id] of steps) $("step-" + id).hidden = id !== step;
  drawSteps();
  say("");
  $("main").focus({ preventScroll: true });
  scrollTo(0, 0);
  const begin = { table: () => list(chosen.dir), budget: price, train: () => {}, report: listResults, ledger: showLedger }[step];
  if (begin) guarded(begin)();
}

function say(text) {
  $("alert").textContent = text;
  $("alert").hidden = !text;
}

// guarded shows what goes wrong.
function guarded(f) {
  return async (...args) => {
    try {
      await f(...args);
    } catch (err) {
      if (err.name !== "AbortError") say(err.message);
    }
  };
}

// later calls f when nothing has changed for a moment.
function later(f, ms) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(guarded(f), ms);
  };
}

// ---- Table

const kinds = { folder: "folder", results: "results", table: "table", recipe: "recipe", ledger: "ledger" };

async function list(dir) {
  const found = await ask("files", { path: dir });
  chosen.dir = found.path;
  $("folder").textContent = found.folder;
  $("here").textContent = found.path === "." ? "" : "In " + found.path;
  const items = found.files.map(f => item(kinds[f.kind], f.name, () => choose(f)));
  if (found.path !== ".") items.unshift(item("folder", "up", () => list(found.path.split("/").slice(0, -1).join("/") || ".")));
  $("files").replaceChildren(...items);
  if (!items.length) $("here").textContent = "There is no table in this folder: .csv, .tsv, .jsonl (also .gz) or .parquet. Start dptrain ui in the folder that has yours.";
}

const item = (kind, name, click) => el("li", {}, el("button", { type: "button", click: guarded(click) }, el("span", { class: "kind" }, kind), el("span", {}, name)));

async function choose(f) {
  say("");
  if (f.kind === "folder") return list(f.path);
  if (f.kind === "results") {
    chosen.results = f.path;
    return go("report");
  }
  if (f.kind === "ledger") {
    $("book").value = f.path;
    return go("ledger");
  }
  chosen.bill = chosen.explained = null;
  chosen.moved = false;
  if (f.kind === "recipe") {
    Object.assign(chosen, { file: f.path, table: "" });
    $("file").value = f.path;
    $("file").disabled = $("out").disabled = true;
    for (const id of ["delta", "relation", "dataset", "ledger-path"]) $(id).disabled = true;
    await showRecipe();
    return go("budget");
  }
  const format = writing();
  const got = await ask("columns", { path: f.path, format: { ...format, skip: format.skip || 0 } });
  if (got.code !== 0) throw new Error(got.err.trim());
  Object.assign(chosen, { table: f.path, file: "", columns: JSON.parse(got.out).columns, declared: new Map() });
  if (!$("file").value || $("file").disabled) $("file").value = "recipe.yaml";
  $("file").disabled = $("out").disabled = false;
  for (const id of ["delta", "relation", "dataset", "ledger-path"]) $(id).disabled = false;
  $("target").replaceChildren(...chosen.columns.map(c => el("option", {}, c)));
  $("target").value = chosen.columns.at(-1);
  drawColumns();
  await showRecipe();
  go("public");
}

function writing() {
  const out = {};
for (const id of ["separator", "decimal", "encoding", "sheet"]) if ($(id).value) out[id] = $(id).value;
  if (Number($("skip").value) > 0) out.skip = Number($("skip").value);
  return out;
}

// ---- Columns

const roles = [["", "nothing"], ["range", "a range"], ["categories", "its categories"], ["words", "it holds words"], ["date", "it holds dates"], ["exclude", "leave it out"], ["unit", "whose record it is"]];

function drawColumns() {
  const target = $("target").value, classes = task() === "classification";
  $("classes-field").hidden = $("most-classes-field").hidden = !classes;
  $("declared").replaceChildren(...chosen.columns.filter(c => !(c === target && classes)).map(name => {
    const known = chosen.declared.get(name) || { kind: "" };
    chosen.declared.set(name, known);
    const extra = el("div", { class: "extra" });
    const pick = el("select", { "aria-label": `What is public about ${name}`, change: () => {
      known.kind = pick.value;
      if (known.kind === "unit") for (const [other, d] of chosen.declared) if (other !== name && d.kind === "unit") d.kind = "";
      drawColumns();
      changed();
    } }, roles.filter(([kind]) => name !== target || kind === "" || kind === "range").map(([kind, words]) => el("option", { value: kind }, words)));
    pick.value = known.kind;
    const field = (key, label, type = "text", value = "") => extra.append(el("label", {}, label, el("input", { type, step: type === "number" ? "any" : null, autocomplete: "off", spellcheck: "false", "aria-label": `${label} of ${name}`, value: known[key] ?? value, input: e => { known[key] = e.target.value; changed(); } })));
    if (known.kind === "range") {
      field("lower", "from", "number");
      field("upper", "to", "number");
    } else if (known.kind === "categories") field("list", "categories, with commas");
    else if (known.kind === "date") field("layout", "as 2 January 2006 is written", "text", "auto");
    else if (known.kind === "unit") field("rows", "most records of one", "number", "4");
    return el("li", {}, el("span", { class: "name" }, name + (name === target ? " (target)" : "")), pick, extra);
  }));
}

const task = () => document.querySelector("input[name=task]:checked").value;
const names = text => text.split(",").map(s => s.trim()).filter(Boolean);
const number = text => text === undefined || text.trim() === "" || !Number.isFinite(Number(text)) ? null : Number(text);

// recipe is what a person would write. Keys with their default value are left out, but for those that a field always shows.
function recipe() {
  const target = $("target").value, classes = task() === "classification";
  const data = { path: chosen.table, target };
  const out = { ...(classes ? { task: "classification" } : {}), data, privacy: { epsilon: Number($("epsilon").value) } };
  if (classes) data.classes = names($("classes").value).length ? names($("classes").value) : "private";
  if (data.classes === "private" && number($("most-classes").value) !== null) data.most_classes = number($("most-classes").value);
  const format = writing();
  if (Object.keys(format).length) data.format = format;
  data.undeclared = $("found").checked ? "found" : "numbers";
  const exclude = [], columns = {};
  for (const name of chosen.columns) {
    const d = chosen.declared.get(name);
    if (!d || classes && name === target) continue;
    if (d.kind === "exclude") exclude.push(name);
    else if (d.kind === "range" && (number(d.lower) !== null || number(d.upper) !== null)) {
      columns[name] = Object.fromEntries([["lower", number(d.lower)], ["upper", number(d.upper)]].filter(([, v]) => v !== null));
    } else if (d.kind === "categories" && names(d.list || "").length) columns[name] = { categories: names(d.list) };
    else if (d.kind === "words") columns[name] = { categories: "private" };
    else if (d.kind === "date") columns[name] = { date: d.layout || "auto" };
    else if (d.kind === "unit") out.privacy.unit = { column: name, max_rows: number(d.rows ?? "4") ?? 4 };
  }
  if (exclude.length) data.exclude = exclude;
  if (Object.keys(columns).length) data.columns = columns;
  const delta = $("delta").value.trim();
  if (delta && Number(delta) !== 1e-6) out.privacy.delta = number(delta) ?? delta;
  if ($("relation").value !== "add-remove") out.privacy.relation = $("relation").value;
  if ($("dataset").value.trim()) out.ledger = { ...($("ledger-path").value !== "dptrain.ledger" ? { path: $("ledger-path").value } : {}), dataset: $("dataset").value.trim() };
  if ($("out").value && $("out").value !== "out") out.output = { dir: $("out").value };
  return out;
}

// request is what a request about the recipe has.
const request = () => chosen.file ? { file: chosen.file, epsilon: Number($("epsilon").value) } : { recipe: recipe(), file: $("file").value };

async function showRecipe() {
  if (!chosen.table && !chosen.file) return;
  showText(await ask("recipe", chosen.file ? { file: chosen.file } : { recipe: recipe() }));
}

function showText(got) {
  $("recipe").textContent = got.text;
  $("recipe-hint").textContent = chosen.file ? chosen.file + ", as it is there" : "Saved as " + $("file").value + " when you train.";
  $("command-text").textContent = "dptrain fit " + $("file").value + (chosen.file && chosen.moved ? " --epsilon " + $("epsilon").value : "");
  for (const id of ["recipe", "command", "command-text", "copy"]) $(id).hidden = false;
}

const rewrite = later(showRecipe, 150);
function changed() {
  chosen.explained = null;
  rewrite();
}

// ---- Budget

let asking; // the price that is asked for

async function price() {
  asking?.abort();
  asking = new AbortController();
  const about = request();
  if (chosen.file && !chosen.moved) delete about.epsilon;
  const got = await ask("plan", about, asking.signal);
  showText(got);
  const wrong = got.mistakes.map(m => m.msg + (m.hint ? ` (${m.hint})` : "")).join("\n") || (got.code === 0 || got.out ? "" : got.err.replace(/^dptrain: /, "").trim());
  $("mistakes").textContent = wrong;
  $("mistakes").hidden = !wrong;
  $("priced").hidden = Boolean(wrong);
  chosen.bill = wrong ? null : JSON.parse(got.out);
  drawSteps();
  for (const b of document.querySelectorAll("[data-go=train]")) b.disabled = !chosen.bill;
  if (!chosen.bill) return;
  if (chosen.file && !chosen.moved) setEpsilon(chosen.bill.guarantee.epsilon);
  drawPrice();
}

function drawPrice() {
  keepOpen("attack", attack(chosen.bill));
  keepOpen("bars", bars(chosen.bill));
  keepOpen("remains", chosen.bill.ledger ? remains(chosen.bill.ledger) : []);
  drawExpected();
}

// keepOpen replaces what is in a place and leaves its details open if they were.
function keepOpen(id, kids) {
  const open = [...$(id).querySelectorAll("details")].map(d => d.open);
  $(id).replaceChildren(...kids.filter(Boolean));
  $(id).querySelectorAll("details").forEach((d, i) => { d.open = Boolean(open[i]); });
}

function drawExpected() {
  keepOpen("expected", chosen.explained ? expected(chosen.explained, Number($("epsilon").value)) : [el("p", { class: "muted" }, "How good a model of this shape is, by epsilon and number of records, before the data are touched.")]);
}

function setEpsilon(value) {
  $("epsilon").value = value;
  slide();
}

// slide puts the slider where the number is.
function slide() {
  const value = Number($("epsilon").value);
  $("slider").value = Math.round(50 + 50 * Math.log10(Math.max(value, 1e-9)));
  $("slider").setAttribute("aria-valuetext", "epsilon " + round(value));
}

const reprice = later(price, 60);
function budgetMoved() {
  chosen.moved = true;
  const value = Number($("epsilon").value);
  if (!(value > 0)) return;
  drawExpected();
  reprice();
}

let simulating = 0;

async function simulate() {
  const begun = await ask("explain", request());
  simulating = begun.job;
  $("simulate").disabled = true;
  $("simulate-stop").hidden = false;
  try {
    const since = performance.now();
    const end = await follow(begun, j => {
      const left = j.done > 4 ? (performance.now() - since) / j.done * (j.total - j.done) / 1000 : 0;
      $("simulate-status").textContent = j.total ? `${j.done} of ${j.total} models` + (left ? `, about ${Math.max(1, Math.round(left))} s left` : "") : "";
    });
    $("simulate-status").textContent = end.code === 0 ? "" : end.code === 130 ? "Stopped." : end.err.trim();
    if (end.code === 0) {
      chosen.explained = JSON.parse(end.out);
      drawExpected();
    }
  } finally {
    $("simulate").disabled = false;
    $("simulate-stop").hidden = true;
  }
}

// follow asks for a job until it ends.
async function follow(j, tell) {
  while (!j.ended) {
    tell(j);
    await wait(200);
    j = await ask("job", { job: j.job });
  }
  tell(j);
  return j;
}

// ---- Train

let running = 0;

async function train() {
  say("");
  const about = { ...request(), replace: $("replace").checked };
  if (chosen.file && !chosen.moved) delete about.epsilon;
  const begun = await ask("fit", about);
  running = begun.job;
  $("run").disabled = true;
  $("run-stop").hidden = $("run-progress").hidden = false;
  $("run-text").hidden = $("to-report").hidden = true;
  $("run-status").textContent = "";
  try {
    const end = await follow(begun, j => {
      $("run-bar").value = j.total ? j.done / j.total : 0;
      $("stages").replaceChildren(...j.passed.map(s => el("li", { "aria-current": s === j.what && !j.ended ? "step" : null }, s)));
    });
    $("run-bar").value = end.code === 0 || end.code === 7 ? 1 : $("run-bar").value;
    const ok = end.code === 0 || end.code === 7;
    const stopped = end.code === 7 && /^The run stopped/m.test(end.err);
    $("run-status").textContent = stopped ? "Stopped early: " + end.err.replace(/^dptrain: /, "").split("\n")[0] : ok ? "Done." : end.code === 130 ? "Stopped." : "The run did not end well.";
    $("run-text").textContent = (end.out + (end.err ? "\n" + end.err : "")).trim();
    $("run-text").hidden = !$("run-text").textContent;
    if (ok) {
      chosen.results = $("out").value || "out";
      $("to-report").hidden = false;
    }
  } finally {
    $("run").disabled = false;
    $("run-stop").hidden = true;
  }
}

// ---- Report

async function listResults() {
  const found = await ask("files", { path: "." });
  const paths = found.files.filter(f => f.kind === "results").map(f => f.path);
  if (chosen.results && !paths.includes(chosen.results)) paths.unshift(chosen.results);
  $("results").replaceChildren(...paths.map(p => el("option", {}, p)));
  $("results").disabled = !paths.length;
  if (!paths.length) {
    $("report-note").textContent = "There are no results in this folder yet.";
    $("report").hidden = true;
    return;
  }
  if (chosen.results) $("results").value = chosen.results;
  await showReport();
}

async function showReport() {
  chosen.results = $("results").value;
  const got = await ask("report", { path: chosen.results });
  $("report").src = got.url;
  $("report").hidden = false;
  $("report-note").replaceChildren("It is ", el("code", {}, chosen.results + "/release/report.html"), ", one file that may be published. ", el("a", { href: got.url, target: "_blank", rel: "noopener noreferrer" }, "Open it in a tab"));
}

// ---- Ledger

async function showLedger() {
  const got = await ask("ledger", { path: $("book").value });
  $("book-note").textContent = got.code === 0 ? "" : "There is no ledger to show: " + got.err.replace(/^dptrain: /, "").trim();
  $("accounts").replaceChildren(...(got.code === 0 ? JSON.parse(got.out).datasets.flatMap(account) : []));
}

async function register(e) {
  e.preventDefault();
  say("");
  const total = Object.fromEntries(new FormData($("register")));
  const got = await ask("register", { path: $("book").value, total });
  if (got.code !== 0) throw new Error(got.err.replace(/^dptrain: /, "").trim());
  if (!$("dataset").value) $("dataset").value = total.dataset;
  $("ledger-path").value = $("book").value;
  await showLedger();
}

// ---- Begin

for (const b of document.querySelectorAll("[data-go]")) b.addEventListener("click", () => go(b.dataset.go));
for (const id of ["separator", "decimal", "encoding", "sheet", "skip", "classes", "most-classes", "delta", "dataset", "ledger-path", "out", "file"]) $(id).addEventListener("input", changed);
for (const id of ["delta", "relation", "dataset", "ledger-path"]) $(id).addEventListener("input", reprice);
for (const id of ["found", "relation"]) $(id).addEventListener("change", changed);
$("target").addEventListener("change", () => { drawColumns(); changed(); });
for (const r of document.querySelectorAll("input[name=task]")) r.addEventListener("change", () => {
  drawColumns();
  changed();
});
$("slider").addEventListener("input", () => {
  $("epsilon").value = Number((10 ** (($("slider").value - 50) / 50)).toPrecision(2));
  slide();
  budgetMoved();
});
$("epsilon").addEventListener("input", () => { slide(); budgetMoved(); });
$("simulate").addEventListener("click", guarded(simulate));
$("simulate-stop").addEventListener("click", guarded(() => ask("cancel", { job: simulating })));
$("run").addEventListener("click", guarded(train));
$("run-stop").addEventListener("click", guarded(() => ask("cancel", { job: running })));
$("results").addEventListener("change", guarded(showReport));
$("show").addEventListener("click", guarded(showLedger));
$("register").addEventListener("submit", guarded(register));
$("copy").addEventListener("click", guarded(async () => {
  await navigator.clipboard.writeText($("recipe").textContent);
  $("copy").textContent = "Copied";
}));
// Pictures are as wide as there is room for.
let wide = 0;
new ResizeObserver(later(async () => {
  if ($("main").clientWidth === wide) return;
  wide = $("main").clientWidth;
  if (chosen.bill && chosen.step === "budget") drawPrice();
  if (chosen.step === "ledger") await showLedger();
}, 100)).observe($("main"));
slide();
if (known()) go("table");
else {
  drawSteps();
  say("This page has no token: open the address that dptrain ui shows in the terminal.");
}
