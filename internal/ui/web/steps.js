// The steps of the page and the way between them.
import { $, el, guarded, showAlert } from "./dom.js";
import { chosen } from "./state.js";

const steps = [["table", "Table"], ["columns", "Columns"], ["budget", "Budget"], ["train", "Train"], ["report", "Report"]];
const others = [["compare", "Compare runs"], ["ledger", "Ledger"]];

// onEnter holds the functions that are called when a step is entered.
export const onEnter = {};

// isReachable reports whether enough has been chosen for a step.
function isReachable(step) {
  switch (step) {
    case "columns":
      return Boolean(chosen.table);
    case "budget":
      return Boolean(chosen.table && chosen.columns.length || chosen.file);
    case "train":
      return Boolean(chosen.bill);
  }
  return true;
}

// drawSteps draws the navigation.
export function drawSteps() {
  const button = ([id, name], number) => el("li", {}, el("button", {
    type: "button",
    "aria-current": id === chosen.step ? "step" : null,
    disabled: !isReachable(id),
    click: () => go(id),
  }, number ? el("span", { class: "number", "aria-hidden": "true" }, number) : null, name));
  $("steps").replaceChildren(...steps.map((step, i) => button(step, String(i + 1))));
  $("others").replaceChildren(...others.map(step => button(step)));
  for (const b of document.querySelectorAll("[data-go]")) {
    b.disabled = !isReachable(b.dataset.go);
  }
}

// go enters a step.
export function go(step) {
  chosen.step = step;
  for (const [id] of [...steps, ...others]) {
    $("step-" + id).hidden = id !== step;
  }
  $("columns").classList.toggle("wide", ["report", "compare", "ledger"].includes(step));
  drawSteps();
  showAlert("");
  $("main").focus({ preventScroll: true });
  scrollTo(0, 0);
  if (onEnter[step]) {
    guarded(onEnter[step])();
  }
}
