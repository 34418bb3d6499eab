// The start of the page: listeners of its fields.
import { $, debounced, guarded, hasToken, showAlert } from "./dom.js";
import { chosen, settingChanged } from "./state.js";
import { drawSteps, go } from "./steps.js";
import { chooseTarget, chooseUnit, readTableSoon, showPreviewSoon } from "./columns.js";
import { drawPrice, moveSlider, numberChanged, priceSoon, simulate, sliderMoved, stopSimulation } from "./budget.js";
import { namesChosen, stopTraining, train } from "./train.js";
import { register, showLedger, showReport } from "./report.js";
import "./compare.js";
import "./table.js";

const onInput = (ids, f) => ids.forEach(id => $(id).addEventListener("input", f));
const onRadio = (name, f) => document.querySelectorAll(`input[name="${name}"]`).forEach(input => input.addEventListener("change", f));
const onClick = (id, f) => $(id).addEventListener("click", guarded(f));

for (const button of document.querySelectorAll("[data-go]")) {
  button.addEventListener("click", () => go(button.dataset.go));
}

// Settings that change the header are read again as a whole.
const reread = () => {
  settingChanged();
  readTableSoon();
};
onInput(["separator", "encoding", "quote", "escape", "skip", "sheet"], reread);
const repreview = () => {
  settingChanged();
  showPreviewSoon();
};
onRadio("decimal", repreview);
onInput(["thousands", "missing", "fold"], repreview);
onInput(["target"], chooseTarget);
onRadio("task", chooseTarget);
onRadio("unit", chooseUnit);
onInput(["unit-column", "unit-rows"], chooseUnit);
onInput(["classes", "most-classes", "found", "delta", "relation", "dataset", "ledger-path", "out", "file"], settingChanged);
onInput(["delta", "relation", "dataset", "ledger-path"], priceSoon);
onInput(["out", "file"], namesChosen);
onInput(["slider"], sliderMoved);
onInput(["epsilon"], numberChanged);
onClick("simulate", simulate);
onClick("simulate-stop", stopSimulation);
onClick("run", train);
onClick("run-stop", stopTraining);
onInput(["results"], guarded(showReport));
onClick("show", showLedger);
$("register").addEventListener("submit", guarded(register));
onClick("copy", async () => {
  await navigator.clipboard.writeText($("recipe").textContent);
  $("copy").textContent = "Copied";
});

// Pictures are drawn as wide as the page, and again when its width changes.
let width = 0;
const redraw = debounced(async () => {
  if ($("main").clientWidth === width) {
    return;
  }
  width = $("main").clientWidth;
  if (chosen.bill && chosen.step === "budget") {
    drawPrice();
  }
  if (chosen.step === "ledger") {
    await showLedger();
  }
}, 100);
new ResizeObserver(redraw).observe($("main"));

moveSlider();
if (hasToken()) {
  go("table");
} else {
  drawSteps();
  showAlert("This address has no token. Open the full address that dptrain ui shows in the terminal.");
}
