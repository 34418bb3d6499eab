// The fifth step, the report of a run, and the ledger.
import { $, el, ask } from "./dom.js";
import { account } from "./charts.js";
import { chosen } from "./state.js";
import { clearFields, errorLine, fieldOfError, markField, plainText } from "./fields.js";
import { onEnter } from "./steps.js";

// listReports lists the runs of the folder and shows the report of one.
async function listReports() {
  const found = await ask("files", { path: "." });
  const paths = found.files.filter(f => f.kind === "results").map(f => f.path);
  if (chosen.results && !paths.includes(chosen.results)) {
    paths.unshift(chosen.results);
  }
  $("results").replaceChildren(...paths.map(path => el("option", {}, path)));
  $("results-field").hidden = !paths.length;
  $("to-compare").hidden = paths.length < 2;
  if (!paths.length) {
    $("report-note").textContent = "This folder has no results yet. Train a model first.";
    $("report").hidden = true;
    return;
  }
  if (chosen.results) {
    $("results").value = chosen.results;
  }
  await showReport();
}

export async function showReport() {
  chosen.results = $("results").value;
  const got = await ask("report", { path: chosen.results });
  $("report").src = got.url;
  $("report").hidden = false;
  $("report-note").replaceChildren("This report is the file ", el("code", {}, chosen.results + "/release/report.html"), ". It may be published. ",
    el("a", { href: got.url, target: "_blank", rel: "noopener noreferrer" }, "Open it in a new tab"));
}

// ---- Ledger

export async function showLedger() {
  const got = await ask("ledger", { path: $("book").value });
  $("book-note").textContent = got.code === 0 ? "" : "There is no ledger to show: " + plainText(errorLine(got.err));
  $("accounts").replaceChildren(...(got.code === 0 ? JSON.parse(got.out).datasets.flatMap(account) : []));
}

// register enters a data set with its total into the ledger.
export async function register(event) {
  event.preventDefault();
  clearFields("error");
  const total = Object.fromEntries(new FormData($("register")));
  const got = await ask("register", { path: $("book").value, total });
  if (got.code !== 0) {
    const error = errorLine(got.err);
    const field = { dataset: "register-dataset", epsilon: "register-epsilon" }[fieldOfError(error)];
    if (!field) {
      throw new Error(plainText(error));
    }
    markField(field, plainText(error));
    return;
  }
  if (!$("dataset").value) {
    $("dataset").value = total.dataset;
  }
  $("ledger-path").value = $("book").value;
  await showLedger();
}

onEnter.report = listReports;
onEnter.ledger = showLedger;
