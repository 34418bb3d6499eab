// The fourth step: the run.
import { $, el, ask, follow, round } from "./dom.js";
import { chosen, recipeRequest, showRecipe, unitColumn } from "./state.js";
import { clearFields, errorLine, fieldOfError, focusField, labelOf, markField, plainText } from "./fields.js";
import { go, onEnter } from "./steps.js";
import { headline } from "./compare.js";

let running = 0; // job
let named = false; // the user has chosen the names of the files

// namesChosen keeps the names that the user has typed.
export function namesChosen() {
  named = true;
}

// proposeNames chooses names that no file in the folder has yet, unless the user has chosen some.
async function proposeNames() {
  if (chosen.file || named) {
    return;
  }
  const { files } = await ask("files", { path: "." });
  const taken = new Set(files.map(f => f.name));
  let suffix = "";
  for (let n = 2; taken.has("out" + suffix) || taken.has("recipe" + suffix + ".yaml"); n++) {
    suffix = "-" + n;
  }
  $("out").value = "out" + suffix;
  $("file").value = "recipe" + suffix + ".yaml";
  await showRecipe();
}

// enterTrain shows a summary of the run and proposes names for its files.
async function enterTrain() {
  drawSummary();
  await proposeNames();
}

// drawSummary shows what the run does and spends.
function drawSummary() {
  const bill = chosen.bill;
  const unit = bill.guarantee.unit;
  const rows = [
    ["Table", chosen.table || "as the recipe names it"],
    ["Predicts", chosen.table ? $("target").value : bill.target || "as the recipe names it"],
    ["Protects", unit ? `each ${unit.column || unitColumn()} with up to ${unit.max_rows} rows` : "each row"],
    ["Spends", `epsilon ${round(bill.guarantee.epsilon)}, delta ${round(bill.guarantee.delta)}`],
    ["Ledger", bill.ledger ? bill.ledger.dataset : "none: keep account of the runs on these people yourself"],
  ];
  $("run-summary").replaceChildren(...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

export async function train() {
  clearFields("error");
  $("run-status").textContent = "";
  $("run-result").hidden = true;
  $("run-progress").hidden = true;
  let job;
  try {
    job = await ask("fit", { ...recipeRequest(), replace: $("replace").checked });
  } catch (err) {
    showFailure(err.message);
    return;
  }
  running = job.job;
  const out = $("out").value || "out";
  $("run").disabled = true;
  $("run-stop").hidden = false;
  $("run-progress").hidden = false;
  try {
    const end = await follow(job, showProgress);
    await showOutcome(end, out);
  } finally {
    $("run").disabled = false;
    $("run-stop").hidden = true;
  }
}

export const stopTraining = () => ask("cancel", { job: running });

// stageNames describes the stages of a run.
const stageNames = {
  read: "reading the table", unit: "limiting the rows per person", check: "checking the target", split: "setting records aside for the metric", count: "counting records",
  vocabulary: "finding text categories", selection: "choosing columns", scaling: "finding ranges", model: "training the model", "held-out metric": "measuring the accuracy",
  write: "writing the report",
};

function showProgress(state) {
  $("run-bar").value = state.total ? state.done / state.total : 0;
  $("stages").replaceChildren(...state.passed.map(s => el("li", { "aria-current": s === state.what && !state.ended ? "step" : null }, stageNames[s] || s)));
}

// exitAbstained is the exit code of a run that released a report and no model.
const exitAbstained = 7;

// showOutcome shows how the run ended.
async function showOutcome(end, out) {
  const ended = end.code === 0 || end.code === exitAbstained;
  const text = (end.out + (end.err ? "\n" + end.err : "")).trim();
  $("run-text").textContent = text;
  $("run-result").hidden = false;
  $("run-details").hidden = !text;
  $("run-details").open = end.code !== 0;
  $("to-report").hidden = !ended;
  $("run-metric").textContent = "";
  $("run-warnings").replaceChildren();
  if (!ended) {
    $("run-status").textContent = end.code === 130 ? "Stopped. Nothing was released." : "";
    if (end.code !== 130) {
      showFailure(end.err || "The run failed.");
    }
    return;
  }
  $("run-bar").value = 1;
  chosen.results = out;
  chosen.session = [out, ...chosen.session.filter(dir => dir !== out)];
  named = false;
  if (end.code === exitAbstained) {
    const advice = plainText(errorLine(end.err));
    $("run-status").textContent = "The run stopped before training a model: ";
    showCure(advice);
    return;
  }
  $("run-status").textContent = "Done.";
  const { runs } = await ask("runs", { path: "." });
  const run = runs.find(r => r.path === out);
  if (run && !run.error) {
    $("run-metric").textContent = headline(run);
    const grave = run.warnings.filter(w => w.severity === "critical");
    $("run-warnings").replaceChildren(...grave.map(w => el("li", {}, w.text)));
  }
}

// showFailure shows why a run did not start or did not end, at the field that it concerns.
function showFailure(text) {
  const error = errorLine(text);
  const message = plainText(error);
  const field = fieldOfError(error);
  $("run-status").textContent = "The run did not start or failed: ";
  if (field && !$(field).disabled) {
    markField(field, message);
    $("run-status").append(message, " ", fieldLink(field));
    if ($(field).closest("section").id === "step-train") {
      focusField(field, go);
    }
    return;
  }
  $("run-status").append(message);
}

// showCure shows why a run stopped before it trained a model, with the fields that may mend that.
function showCure(advice) {
  const fields = chosen.table ? ["decimal", "target"] : [];
  if (!chosen.table) {
    $("run-status").append(advice);
    return;
  }
  $("run-status").append(advice.replace(/\.?$/, ". Check: "), ...fields.flatMap(field => [fieldLink(field), " "]));
}

const fieldLink = field => el("button", { type: "button", class: "link", click: () => focusField(field, go) }, `Go to “${labelOf(field)}”`);

onEnter.train = enterTrain;
