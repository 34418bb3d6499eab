// The second step: how the table is written, its first rows, the target, the unit of privacy and the columns.
import { $, el, ask, count, debounced, setRadio, showAlert } from "./dom.js";
import { chosen, format, isClassification, list, number, settingChanged, showRecipe, unitColumn } from "./state.js";
import { clearFields, errorLine, fieldOfError, fieldOfPath, focusField, markField, plainText } from "./fields.js";
import { drawSteps, go } from "./steps.js";

const kindNames = { number: "number", date: "date", text: "text", missing: "empty" };

// openTable starts with a table: its header is read, and a preview shown.
export async function openTable(path) {
  if (path !== chosen.table) {
    resetFormat();
  }
  Object.assign(chosen, { table: path, file: "", columns: [], declared: new Map(), preview: null, bill: null, explained: null, epsilonMoved: false });
  for (const id of ["file", "out", "delta", "relation", "dataset", "ledger-path"]) {
    $(id).disabled = false;
  }
  $("table-name").textContent = path;
  $("sheet-field").hidden = !/\.xls[xm]$/i.test(path);
  $("found").checked = true;
  setRadio("task", "regression");
  setRadio("unit", "rows");
  go("columns");
  await readTable();
}

// resetFormat gives the fields for how a file is written their defaults.
function resetFormat() {
  for (const id of ["separator", "thousands", "encoding", "quote", "escape", "sheet", "missing", "fold"]) {
    $(id).value = "";
  }
  $("skip").value = "0";
  setRadio("decimal", "");
}

// readTable reads the header with the settings of the page. What has been declared of columns that are still there is
// kept.
export async function readTable() {
  const path = chosen.table;
  const settings = format();
  clearFields("error");
  showAlert("");
  const header = await ask("columns", { path, format: settings });
  if (path !== chosen.table) {
    return;
  }
  $("read").hidden = header.code !== 0;
  if (header.code !== 0) {
    chosen.columns = [];
    drawSteps();
    const error = errorLine(header.err);
    const field = fieldOfError(error);
    if (!field) {
      throw new Error(plainText(error));
    }
    markField(field, plainText(error));
    focusField(field, go);
    return;
  }
  useColumns(JSON.parse(header.out).columns);
  drawSteps();
  await showPreview();
  await showRecipe();
}

// useColumns takes over the names of a header.
function useColumns(names) {
  const same = names.length === chosen.columns.length && names.every((name, i) => name === chosen.columns[i]);
  if (same) {
    return;
  }
  const target = names.includes($("target").value) && chosen.columns.length ? $("target").value : names.at(-1);
  chosen.columns = names;
  chosen.declared = new Map(names.map(name => [name, chosen.declared.get(name) || { role: "" }]));
  $("target").replaceChildren(...names.map(name => el("option", {}, name)));
  $("target").value = target;
  $("unit-column").replaceChildren(...names.map(name => el("option", {}, name)));
  chosen.proposedUnit = undefined;
}

// ---- Preview

let previewing; // the request under way

// showPreview reads the first rows again.
async function showPreview() {
  previewing?.abort();
  previewing = new AbortController();
  const dates = {};
  const text = [];
  for (const [name, declared] of chosen.declared) {
    if (declared.role === "date") {
      dates[name] = declared.layout || "auto";
    } else if (declared.role === "text" || declared.role === "categories") {
      text.push(name);
    }
  }
  const target = isClassification() ? "" : $("target").value;
  if (isClassification()) {
    text.push($("target").value);
  }
  const got = await ask("preview", { path: chosen.table, format: format(), dates, text, fold: $("fold").value, target }, previewing.signal);
  clearFields("error");
  if (got.mistakes) {
    for (const mistake of got.mistakes) {
      markField(fieldOfPath(mistake.path) || "separator", mistake.hint ? `${mistake.msg} (${mistake.hint})` : mistake.msg);
    }
    return;
  }
  chosen.preview = got;
  proposeUnit();
  drawPreview();
  drawProposals();
  drawColumns();
}

export const showPreviewSoon = debounced(showPreview, 150);
export const readTableSoon = debounced(readTable, 150);

// drawPreview shows the first rows as they are understood.
function drawPreview() {
  const { columns, rows, sampled } = chosen.preview;
  const shown = rows.length ? rows[0].length : Math.min(columns.length, 60);
  const head = columns.slice(0, shown).map(c => el("th", { scope: "col", class: c.kind },
    el("span", { class: "name" }, c.name),
    el("span", { class: "kind " + c.kind }, kindOf(c))));
  const body = rows.map((row, i) => el("tr", {}, el("th", { scope: "row" }, String(i + 1)), row.map(previewCell)));
  $("preview").replaceChildren(el("table", { class: "preview" },
    el("caption", { class: "hidden-text" }, "The first rows of the table, as they are understood"),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, el("span", { class: "hidden-text" }, "Row")), head)),
    el("tbody", {}, body)));
  const more = shown < columns.length ? ` The first ${shown} of ${count(columns.length, "column", "columns")} are shown.` : "";
  $("preview-note").textContent = rows.length
    ? `Each type is judged by the first ${count(sampled, "row", "rows")}.${more} The preview stays on this computer: it is written to no file and to no report.`
    : "The table has no rows.";
}

// kindOf returns the name of the kind of a column, or of its part in the run.
function kindOf(column) {
  if (column.name === unitColumn()) {
    return "person";
  }
  return column.name === $("target").value && isClassification() ? "class" : kindNames[column.kind];
}

function previewCell(cell) {
  switch (cell.kind) {
    case "missing":
      return el("td", { class: "missing" }, "missing", cell.text ? el("small", {}, cell.text) : null);
    case "unread":
      return el("td", { class: "unread" }, cell.text, el("small", {}, "not understood"));
  }
  return el("td", { class: cell.kind }, cell.value || cell.text, cell.value ? el("small", {}, cell.text) : null);
}

// ---- Proposals

const markNames = { ".": "point", ",": "comma", "'": "apostrophe", " ": "blank" };
const layoutNames = {
  auto: "recognised automatically", "02/01/2006": "day/month/year", "01/02/2006": "month/day/year", "02-01-2006": "day-month-year",
  "01-02-2006": "month-day-year", "2/1/2006": "day/month/year without zeros", "1/2/2006": "month/day/year without zeros",
  "02/01/2006 15:04": "day/month/year and time", "01/02/2006 15:04": "month/day/year and time",
};

// describeProposal returns the label of a proposal, and a sentence for its field.
function describeProposal(p) {
  const sample = p.sample ? `, such as ${p.sample}` : "";
  switch (p.key) {
    case "decimal":
      return [`Decimal mark: ${markNames[p.value]}`, `The first rows have numbers written with a decimal ${markNames[p.value]}${sample}.`, "decimal"];
    case "thousands":
      return [`Thousands mark: ${markNames[p.value] || "none"}`, `More numbers are read with this mark: ${markNames[p.value] || "none"}.`, "thousands"];
    case "encoding":
      return ["Character set: Windows-1252 (Western Europe)", `The first rows contain characters that are not valid UTF-8${sample}.`, "encoding"];
    case "missing":
      return [`${p.value} means “missing”`, "It occurs often in a column without other negative numbers.", "missing"];
    case "fold":
      return ["Ignore case in text", `Some values of ${p.column} differ only in upper and lower case.`, "fold"];
    case "date":
      return [`${p.column}: dates, ${layoutNames[p.value] || p.value}`, `It seems to contain dates${sample}.`, "column-" + chosen.columns.indexOf(p.column)];
  }
  return [`${p.column}: one of several classes`, "The first rows of this column contain text, not numbers.", "task"];
}

// applyProposal changes the setting that a proposal concerns.
function applyProposal(p) {
  switch (p.key) {
    case "decimal":
      setRadio("decimal", p.value === "." ? "" : p.value);
      break;
    case "date":
      Object.assign(chosen.declared.get(p.column), { role: "date", layout: p.value });
      break;
    case "task":
      setRadio("task", p.value);
      break;
    case "missing":
      $("missing").value = [...list($("missing").value), p.value].join(", ");
      break;
    default:
      $(p.key).value = p.value;
  }
}

async function applyProposals(proposals) {
  proposals.forEach(applyProposal);
  settingChanged();
  await (proposals.some(p => p.key === "encoding") ? readTable() : showPreview());
}

// drawProposals shows the proposals above the preview and at their fields.
function drawProposals() {
  const proposals = chosen.preview.proposals;
  clearFields("proposal");
  for (const p of proposals) {
    const [, sentence, field] = describeProposal(p);
    if (p.key !== "date") {
      markField(field, sentence, "proposal");
    }
  }
  $("proposals").hidden = !proposals.length;
  $("proposal-list").replaceChildren(...proposals.map(p => {
    const [label, sentence] = describeProposal(p);
    return el("li", {}, el("strong", {}, label), " ", el("span", { class: "muted" }, sentence));
  }));
  $("use-proposals").textContent = proposals.length === 1 ? "Use this setting" : `Use these ${proposals.length} settings`;
  $("use-proposals").onclick = () => applyProposals(proposals).catch(err => showAlert(err.message));
}

// proposeUnit chooses the column whose name indicates an identifier as the unit of privacy, once for every header.
// The values of the column are not looked at.
function proposeUnit() {
  if (chosen.proposedUnit === undefined) {
    chosen.proposedUnit = chosen.preview.columns.find(c => c.unit && c.name !== $("target").value)?.name || "";
    if (chosen.proposedUnit) {
      $("unit-column").value = chosen.proposedUnit;
      setRadio("unit", "column");
    }
  }
}

// drawUnit shows the fields of the unit of privacy, and why a column is proposed.
function drawUnit() {
  const name = unitColumn();
  $("unit-fields").hidden = !name;
  const about = chosen.preview?.columns.find(c => c.name === name);
  const filled = about ? chosen.preview.sampled - about.missing : 0;
  let text = "";
  if (name && name === $("target").value) {
    markField("unit-column", "The target cannot identify the owner of a row. Choose another column.");
    return;
  }
  markField("unit-column", "");
  if (name && name === chosen.proposedUnit) {
    text = "Proposed because the name of the column suggests an identifier. ";
  }
  if (name && about) {
    text += filled > about.distinct
      ? `The first ${count(filled, "row", "rows")} belong to ${about.distinct.toLocaleString("en-US")} different values.`
      : `No value occurs twice in the first ${count(filled, "row", "rows")}. If every row belongs to a different person, choose the first answer: it needs less noise.`;
  }
  $("unit-note").textContent = text;
  $("unit-note").hidden = !text;
}

// ---- Columns

const roles = [
  ["", "Nothing"], ["range", "Its range"], ["categories", "Its categories"], ["text", "It is text"], ["date", "It is a date"],
  ["exclude", "Leave the column out"],
];

// drawColumns shows a row of fields for each column.
export function drawColumns() {
  const target = $("target").value;
  const classes = isClassification();
  $("classes-field").hidden = !classes;
  $("most-classes-field").hidden = !classes;
  drawUnit();
  const rows = [];
  chosen.columns.forEach((name, i) => {
    if (name !== unitColumn() && !(classes && name === target)) {
      rows.push(columnRow(name, i, name === target));
    }
  });
  $("declared").replaceChildren(...rows);
}

const pairsNote = "Of pairs such as 144/94, only the first value is used. To use both, split the column in two in the table itself.";

// columnRow returns the fields of a column.
function columnRow(name, index, isTarget) {
  const declared = chosen.declared.get(name);
  const about = chosen.preview?.columns[index];
  const select = el("select", { id: "column-" + index, "aria-label": `What is public about ${name}`, "data-label": name });
  const offered = roles.filter(([role]) => !isTarget || role === "" || role === "range");
  select.append(...offered.map(([role, label]) => el("option", { value: role }, label)));
  select.value = offered.some(([role]) => role === declared.role) ? declared.role : "";
  select.addEventListener("change", () => {
    declared.role = select.value;
    drawColumns();
    $("column-" + index).focus();
    settingChanged();
    showPreviewSoon();
  });
  const pairs = about?.pairs ? el("p", { class: "muted" }, pairsNote) : null;
  return el("li", { "data-field": "" },
    el("span", { class: "name" }, name, isTarget ? el("span", { class: "kind" }, "target") : null, about ? el("span", { class: "kind " + about.kind }, kindNames[about.kind]) : null),
    select, el("div", { class: "extra" }, roleFields(name, declared)), pairs);
}

// roleFields returns the fields of the role of a column.
function roleFields(name, declared) {
  const field = (key, label, type = "text", value = "") => el("label", {}, label, el("input", {
    type, step: type === "number" ? "any" : null, autocomplete: "off", spellcheck: "false", "aria-label": `${label} of ${name}`, value: declared[key] ?? value,
    input: e => {
      declared[key] = e.target.value;
      checkRange(name, declared);
      settingChanged();
    },
  }));
  switch (declared.role) {
    case "range":
      return [field("lower", "from", "number"), field("upper", "to", "number")];
    case "categories":
      return [field("list", "categories, separated by commas")];
    case "date":
      return [dateField(name, declared)];
  }
  return [];
}

// dateField returns the choice of a date layout.
function dateField(name, declared) {
  const layouts = Object.keys(layoutNames);
  const layout = declared.layout || "auto";
  if (!layouts.includes(layout)) {
    layouts.push(layout);
  }
  const select = el("select", { "aria-label": `Date format of ${name}` }, layouts.map(l => el("option", { value: l }, layoutNames[l] || l)));
  select.value = layout;
  select.addEventListener("change", () => {
    declared.layout = select.value;
    settingChanged();
    showPreviewSoon();
  });
  return el("label", {}, "written as", select);
}

// checkRange marks a range whose ends are in the wrong order.
function checkRange(name, declared) {
  const [lower, upper] = [number(declared.lower), number(declared.upper)];
  const wrong = lower !== null && upper !== null && lower >= upper;
  markField("column-" + chosen.columns.indexOf(name), wrong ? `The range of ${name} must go from a smaller number to a larger one.` : "");
}

// chooseUnit is called when the unit of privacy changes.
export function chooseUnit() {
  drawColumns();
  if (chosen.preview) {
    drawPreview();
  }
  settingChanged();
}

// chooseTarget is called when the target or the task changes.
export function chooseTarget() {
  drawColumns();
  settingChanged();
  showPreviewSoon();
}

