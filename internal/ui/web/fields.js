// Errors and proposals at the fields that they concern.
import { $, el } from "./dom.js";
import { chosen } from "./state.js";

// fieldOfPath returns the id of the field for a key of the recipe, such as data.format.decimal, or an empty text.
export function fieldOfPath(path) {
  const key = path.replace(/\[\d+\]$/, "");
  const fixed = {
    "data.target": "target", task: "task", "data.classes": "classes", "data.most_classes": "most-classes", "data.fold": "fold",
    "privacy.epsilon": "epsilon", "privacy.delta": "delta", "privacy.relation": "relation", "privacy.unit.column": "unit-column",
    "privacy.unit.max_rows": "unit-rows", "privacy.unit": "unit-column", "ledger.dataset": "dataset", ledger: "dataset", "ledger.path": "ledger-path",
    "output.dir": "out",
  };
  if (fixed[key]) {
    return fixed[key];
  }
  const format = key.match(/^data\.format\.(\w+)$/);
  if (format && $(format[1])) {
    return format[1];
  }
  const column = chosen.columns.findIndex(name => {
    const path = /^[A-Za-z_][\w-]*$/.test(name) ? "data.columns." + name : `data.columns[${JSON.stringify(name)}]`;
    return key === path || key.startsWith(path + ".");
  });
  return column < 0 ? "" : "column-" + column;
}

// fieldOfError returns the id of the field that the error of a command concerns, or an empty text.
export function fieldOfError(text) {
  const clues = [
    [/--separator|separated by|single field/, "separator"], [/--sheet/, "sheet"], [/--encoding|UTF-16|UTF-8 text/, "encoding"], [/--decimal/, "decimal"],
    [/--thousands/, "thousands"], [/--quote/, "quote"], [/--escape/, "escape"], [/--skip/, "skip"], [/--missing/, "missing"],
    [/output|results.*already|--force|--out\b/, "out"], [/\.ya?ml (already )?exists/, "file"], [/ledger|data set|total/, "dataset"], [/--unit|max_rows/, "unit-column"],
    [/target/, "target"], [/epsilon/, "epsilon"],
  ];
  const found = clues.find(([pattern, id]) => pattern.test(text) && $(id));
  return found ? found[1] : "";
}

// errorLine returns the line with the error among the notes of a command.
export function errorLine(text) {
  const lines = text.trim().split("\n");
  return lines.find(line => line.startsWith("dptrain: ")) || lines.find(line => line.startsWith("error")) || lines[0];
}

// plainText rewrites the error of a command for a reader who sees fields and no flags.
export function plainText(text) {
  return text.trim()
    .replace(/^dptrain: /, "")
    .replace(/^(error|warning|note)(\[[\w-]+\])?: /, "")
    .replace(/set (\w+) with --\w+ ("[^"]*"|\S+), or in a recipe data\.format: \{[^}]*\}/g, "choose $2 here")
    .replace(/set the separator with --separator, or skip the lines above the header with --skip/, "choose the separator, or skip the lines above the header")
    .replace(/name the sheet with --sheet, or skip the rows above the header with --skip/, "name the sheet, or skip the rows above the header")
    .replace(/, or in a recipe data\.format: \{[^}]*\}/g, "")
    .replace(/choose another --out, or overwrite it with --force/, "choose another folder, or tick “Replace files with these names”")
    .replace(/\b(?:add|with) --([\w-]+) ("[^"]*"|'[^']*'|[^\s;:(]+)( \([\w.]+: [^)]*\))?/g, (_, flag, value) => `choose ${optionOf(flag, value.replace(/["']/g, ""))}`);
}

// optionOf describes the field and the value of a flag.
function optionOf(flag, value) {
  const names = { decimal: { ",": "Comma", ".": "Point" }, task: { classification: "One of several classes", regression: "A number" } };
  return `“${names[flag]?.[value] || value}” for “${labelOf(flag) || flag}”`;
}

// labelOf returns the label of a field.
export function labelOf(id) {
  const field = $(id);
  const label = field && (field.dataset.label || field.closest("label")?.firstChild?.textContent || field.querySelector("legend")?.textContent);
  return label ? label.trim() : "";
}

// messageFor returns the element for the messages of a field, which is made when it is needed.
function messageFor(id) {
  const field = $(id);
  const at = id + "-message";
  if (!$(at)) {
    const message = el("span", { class: "message", id: at });
    const place = field.closest("[data-field]") || field.closest("label") || field;
    place.append(message);
    const inputs = field.matches("input, select, textarea") ? [field] : field.querySelectorAll("input, select");
    for (const input of inputs) {
      input.setAttribute("aria-describedby", [input.getAttribute("aria-describedby"), at].filter(Boolean).join(" "));
    }
  }
  return $(at);
}

// markField shows a message at a field. kind is "error" or "proposal"; an empty text takes the message away.
export function markField(id, text, kind = "error", action = null) {
  const field = $(id);
  if (!field) {
    return;
  }
  const message = messageFor(id);
  message.className = "message " + kind;
  message.replaceChildren(text, ...(text && action ? [" ", action] : []));
  message.hidden = !text;
  const inputs = field.matches("input, select, textarea") ? [field] : field.querySelectorAll("input, select");
  for (const input of inputs) {
    if (text && kind === "error") {
      input.setAttribute("aria-invalid", "true");
    } else {
      input.removeAttribute("aria-invalid");
    }
  }
}

// clearFields takes the messages of a kind away from all fields.
export function clearFields(kind) {
  for (const message of document.querySelectorAll(".message." + kind)) {
    markField(message.id.replace(/-message$/, ""), "", kind);
  }
}

// focusField opens the step and the folded part that a field is in, and moves the focus to it.
export function focusField(id, go) {
  const field = $(id);
  const step = field.closest("section").id.replace("step-", "");
  if (chosen.step !== step) {
    go(step);
  }
  for (let part = field.closest("details"); part; part = part.parentElement.closest("details")) {
    part.open = true;
  }
  const input = field.matches("input, select, textarea") ? field : field.querySelector("input:checked, input, select");
  input.focus();
  field.scrollIntoView({ block: "center" });
}
