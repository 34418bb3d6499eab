// The first step: files of the folder.
import { $, el, ask, guarded, showAlert } from "./dom.js";
import { chosen, showRecipe } from "./state.js";
import { go, onEnter } from "./steps.js";
import { openTable } from "./columns.js";

const groups = [["table", "Tables"], ["results", "Earlier runs"], ["recipe", "Recipes"], ["ledger", "Ledgers"], ["folder", "Folders"]];

// listFolder shows the files of a folder by kind.
async function listFolder(dir) {
  const found = await ask("files", { path: dir });
  chosen.dir = found.path;
  $("folder").textContent = found.folder;
  const parent = found.path.split("/").slice(0, -1).join("/") || ".";
  const parts = groups.map(([kind, title]) => {
    const items = found.files.filter(f => f.kind === kind).map(f => fileButton(f.name, () => chooseFile(f)));
    if (kind === "folder" && found.path !== ".") {
      items.unshift(fileButton("Up one folder", () => listFolder(parent)));
    }
    return items.length ? [el("h3", {}, title), el("ul", { class: "files " + kind }, items)] : [];
  });
  $("files").replaceChildren(...parts.flat());
  $("no-tables").hidden = found.files.some(f => f.kind === "table");
}

const fileButton = (name, onClick) => el("li", {}, el("button", { type: "button", click: guarded(onClick) }, name));

// chooseFile opens a file in the step that it belongs to.
async function chooseFile(file) {
  showAlert("");
  switch (file.kind) {
    case "folder":
      return listFolder(file.path);
    case "results":
      chosen.results = file.path;
      return go("report");
    case "ledger":
      $("book").value = file.path;
      return go("ledger");
    case "recipe":
      return openRecipe(file.path);
  }
  return openTable(file.path);
}

// openRecipe uses an existing recipe as it is.
async function openRecipe(path) {
  Object.assign(chosen, { file: path, table: "", columns: [], bill: null, explained: null, epsilonMoved: false });
  $("file").value = path;
  for (const id of ["file", "out", "delta", "relation", "dataset", "ledger-path"]) {
    $(id).disabled = true;
  }
  await showRecipe();
  go("budget");
}

onEnter.table = () => listFolder(chosen.dir);
