// The third step: the price of the run, and its expected results.
import { $, el, ask, debounced, follow, round } from "./dom.js";
import { attack, bars, expected, remains } from "./charts.js";
import { chosen, recipeRequest, showRecipeText } from "./state.js";
import { clearFields, errorLine, fieldOfError, fieldOfPath, focusField, labelOf, markField, plainText } from "./fields.js";
import { drawSteps, go, onEnter } from "./steps.js";

let pricing; // the request under way

// price asks for the price of the recipe and shows it, or shows the errors of the recipe.
export async function price() {
  pricing?.abort();
  pricing = new AbortController();
  const got = await ask("plan", recipeRequest(), pricing.signal);
  showRecipeText(got);
  showMistakes(mistakesOf(got));
  chosen.bill = $("mistakes").hidden ? JSON.parse(got.out) : null;
  drawSteps();
  if (!chosen.bill) {
    return;
  }
  if (chosen.file && !chosen.epsilonMoved) {
    setEpsilon(chosen.bill.guarantee.epsilon);
  }
  drawPrice();
}

// fieldError returns the text of a recipe's error and the id of its field. The text has the label of the field in place of
// the key.
function fieldError(mistake) {
  const field = fieldOfPath(mistake.path);
  const text = plainText(mistake.hint ? `${mistake.msg} (${mistake.hint})` : mistake.msg);
  return { field, text: field ? text.replaceAll(mistake.path, labelOf(field) || mistake.path) : text };
}

// mistakesOf returns the errors of a plan, each with its text and the id of its field.
function mistakesOf(plan) {
  if (plan.mistakes.length) {
    return plan.mistakes.map(fieldError);
  }
  if (plan.code === 0 || plan.out) {
    return [];
  }
  const error = errorLine(plan.err);
  return [{ field: fieldOfError(error), text: plainText(error) }];
}

// showMistakes lists errors, and shows each at its field as well.
function showMistakes(mistakes) {
  clearFields("error");
  $("mistakes").hidden = !mistakes.length;
  $("priced").hidden = mistakes.length > 0;
  $("mistake-list").replaceChildren(...mistakes.map(({ field, text }) => {
    if (!field || !$(field) || $(field).disabled) {
      return el("li", {}, text);
    }
    markField(field, text);
    return el("li", {}, text, " ", el("button", { type: "button", class: "link", click: () => focusField(field, go) }, `Go to “${labelOf(field) || field}”`));
  }));
}

// drawPrice shows the price.
export function drawPrice() {
  keepOpen("attack", attack(chosen.bill));
  keepOpen("bars", bars(chosen.bill));
  keepOpen("remains", chosen.bill.ledger ? remains(chosen.bill.ledger) : []);
  drawExpected();
}

// keepOpen replaces the content of an element and keeps its details open.
function keepOpen(id, children) {
  const open = [...$(id).querySelectorAll("details")].map(d => d.open);
  $(id).replaceChildren(...children.filter(Boolean));
  $(id).querySelectorAll("details").forEach((d, i) => {
    d.open = Boolean(open[i]);
  });
}

function drawExpected() {
  const empty = el("p", { class: "muted" }, "The simulation trains on synthetic tables with the same number of columns as yours, to show how accurate a model can be at each epsilon and number of rows. It reads none of your rows and spends no budget.");
  keepOpen("expected", chosen.explained ? expected(chosen.explained, Number($("epsilon").value)) : [empty]);
}

// ---- Epsilon

function setEpsilon(value) {
  $("epsilon").value = value;
  moveSlider();
}

// moveSlider moves the slider to the number beside it.
export function moveSlider() {
  const value = Number($("epsilon").value);
  $("slider").value = Math.round(50 + 50 * Math.log10(Math.max(value, 1e-9)));
  describeSlider();
}

// describeSlider gives the slider the value that a screen reader speaks.
function describeSlider() {
  $("slider").setAttribute("aria-valuetext", "epsilon " + round(Number($("epsilon").value)));
}

// sliderMoved takes the number over from the slider.
export function sliderMoved() {
  const value = 10 ** (($("slider").value - 50) / 50);
  $("epsilon").value = Number(value.toPrecision(2));
  describeSlider();
  epsilonChanged();
}

export const priceSoon = debounced(price, 60);

// numberChanged takes the slider over from the number.
export function numberChanged() {
  moveSlider();
  epsilonChanged();
}

// epsilonChanged is called when the budget changes. It leaves the slider where it is, because a short step of the slider
// may not change the rounded number.
function epsilonChanged() {
  chosen.epsilonMoved = true;
  const valid = Number($("epsilon").value) > 0;
  markField("epsilon", valid ? "" : "Epsilon must be a number above 0.");
  if (valid) {
    drawExpected();
    priceSoon();
  }
}

// ---- Simulation

let simulation = 0; // job

export async function simulate() {
  const job = await ask("explain", recipeRequest());
  simulation = job.job;
  $("simulate").disabled = true;
  $("simulate-stop").hidden = false;
  const since = performance.now();
  const showProgress = state => {
    const left = state.done > 4 ? (performance.now() - since) / state.done * (state.total - state.done) / 1000 : 0;
    const remaining = left ? `, about ${Math.max(1, Math.round(left))} s left` : "";
    $("simulate-status").textContent = state.total ? `${state.done} of ${state.total} models` + remaining : "";
  };
  try {
    const end = await follow(job, showProgress);
    const outcomes = { 0: "", 130: "Stopped." };
    $("simulate-status").textContent = outcomes[end.code] ?? plainText(end.err);
    if (end.code === 0) {
      chosen.explained = JSON.parse(end.out);
      drawExpected();
    }
  } finally {
    $("simulate").disabled = false;
    $("simulate-stop").hidden = true;
  }
}

export const stopSimulation = () => ask("cancel", { job: simulation });

onEnter.budget = price;
