// The state of the page: what has been chosen so far, and the recipe that follows from it.
import { $, ask, debounced, radio } from "./dom.js";

export const chosen = {
  dir: ".", // the folder that is listed
  table: "", // path of the table; empty for an existing recipe
  file: "", // path of an existing recipe, which is used as it is
  columns: [], // names in the header of the table
  declared: new Map(), // by column: its role and the fields of that role
  preview: null,
  bill: null, // the price of the run
  explained: null, // the simulation of the expected results
  epsilonMoved: false, // the budget differs from that of an existing recipe
  results: "", // folder of the run whose report is shown
  session: [], // folders of the runs of this session
  step: "table",
};

export const list = text => text.split(",").map(s => s.trim()).filter(Boolean);
export const number = text => text === undefined || text.trim() === "" || !Number.isFinite(Number(text)) ? null : Number(text);
export const isClassification = () => radio("task") === "classification";

// unitColumn returns the column that names the owner of each row, or an empty text.
export const unitColumn = () => radio("unit") === "column" ? $("unit-column").value : "";

// format returns the section data.format of the recipe, without defaults.
export function format() {
  const out = {};
  for (const key of ["separator", "thousands", "encoding", "quote", "escape", "sheet"]) {
    if ($(key).value) {
      out[key] = $(key).value;
    }
  }
  if (radio("decimal")) {
    out.decimal = radio("decimal");
  }
  const codes = list($("missing").value).map(Number).filter(Number.isFinite);
  if (codes.length) {
    out.missing = codes;
  }
  if (Number($("skip").value) > 0) {
    out.skip = Number($("skip").value);
  }
  return out;
}

// declaration returns the entry of a column in data.columns, or null if it has none.
function declaration(declared) {
  switch (declared.role) {
    case "range": {
      const ends = { lower: number(declared.lower), upper: number(declared.upper) };
      const given = Object.entries(ends).filter(([, value]) => value !== null);
      return given.length ? Object.fromEntries(given) : null;
    }
    case "categories": {
      const categories = list(declared.list || "");
      return categories.length ? { categories } : null;
    }
    case "text":
      return { categories: "private" };
    case "date":
      return { date: declared.layout || "auto" };
  }
  return null;
}

// dataSection returns the section data of the recipe.
function dataSection() {
  const classes = isClassification();
  const target = $("target").value;
  const data = { path: chosen.table, target };
  if (classes) {
    const named = list($("classes").value);
    data.classes = named.length ? named : "private";
    if (!named.length && number($("most-classes").value) !== null) {
      data.most_classes = number($("most-classes").value);
    }
  }
  if (Object.keys(format()).length) {
    data.format = format();
  }
  if ($("fold").value) {
    data.fold = $("fold").value;
  }
  data.undeclared = $("found").checked ? "found" : "numbers";
  const exclude = [];
  const columns = {};
  for (const name of chosen.columns) {
    const declared = chosen.declared.get(name);
    if (!declared || name === unitColumn() || classes && name === target) {
      continue;
    }
    if (declared.role === "exclude" && name !== target) {
      exclude.push(name);
      continue;
    }
    const entry = declaration(declared);
    if (entry && (name !== target || declared.role === "range")) {
      columns[name] = entry;
    }
  }
  if (exclude.length) {
    data.exclude = exclude;
  }
  if (Object.keys(columns).length) {
    data.columns = columns;
  }
  return data;
}

// recipe returns the recipe of the choices. Keys with their default value are left out, except those that are always
// shown as fields.
export function recipe() {
  const out = isClassification() ? { task: "classification" } : {};
  out.data = dataSection();
  out.privacy = { epsilon: Number($("epsilon").value) };
  if (unitColumn()) {
    out.privacy.unit = { column: unitColumn(), max_rows: number($("unit-rows").value) ?? Number($("unit-rows").defaultValue) };
  }
  const delta = $("delta").value.trim();
  if (delta && Number(delta) !== 1e-6) {
    out.privacy.delta = number(delta) ?? delta;
  }
  if ($("relation").value !== "add-remove") {
    out.privacy.relation = $("relation").value;
  }
  if ($("dataset").value.trim()) {
    const path = $("ledger-path").value === "dptrain.ledger" ? {} : { path: $("ledger-path").value };
    out.ledger = { ...path, dataset: $("dataset").value.trim() };
  }
  if ($("out").value && $("out").value !== "out") {
    out.output = { dir: $("out").value };
  }
  return out;
}

// recipeRequest returns the fields of a request about the recipe.
export function recipeRequest() {
  if (!chosen.file) {
    return { recipe: recipe(), file: $("file").value };
  }
  return chosen.epsilonMoved ? { file: chosen.file, epsilon: Number($("epsilon").value) } : { file: chosen.file };
}

// showRecipe shows the text of the recipe beside the steps.
export async function showRecipe() {
  if (chosen.table && chosen.columns.length || chosen.file) {
    showRecipeText(await ask("recipe", chosen.file ? { file: chosen.file } : { recipe: recipe() }));
  }
}

// showRecipeText shows a recipe that the server has returned, and the command that does the same.
export function showRecipeText(response) {
  const flag = chosen.file && chosen.epsilonMoved ? " --epsilon " + $("epsilon").value : "";
  $("recipe").textContent = response.text;
  $("recipe-hint").textContent = chosen.file ? `${chosen.file}, unchanged` : `Saved as ${$("file").value} when you train.`;
  $("command-text").textContent = "dptrain fit " + $("file").value + flag;
  $("recipe-card").hidden = false;
}

const showRecipeSoon = debounced(showRecipe, 150);

// settingChanged updates everything that depends on a setting.
export function settingChanged() {
  chosen.explained = null;
  showRecipeSoon();
}
